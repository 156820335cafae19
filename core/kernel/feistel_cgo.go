//go:build !purego && cgo

package kernel

// #cgo noescape kernel_feistel
// #cgo nocallback kernel_feistel
// #include "feistel.h"
import "C"

import "unsafe"

// leastFeistel is how many numbers are worth a call of C.
const leastFeistel = 32

func feistel(dst []int64, start, n uint64, lowBits, highBits uint, keys *[2 * FeistelRounds]uint32) bool {
	if len(dst) < leastFeistel {
		return false
	}
	C.kernel_feistel((*C.int64_t)(unsafe.SliceData(dst)), C.int64_t(len(dst)), C.uint64_t(start), C.uint64_t(n),
		C.uint32_t(lowBits), C.uint32_t(highBits), (*C.uint32_t)(&keys[0]))
	return true
}
