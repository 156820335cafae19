//go:build !purego && cgo

package kernel

// #cgo noescape kernel_corrupt
// #cgo nocallback kernel_corrupt
// #cgo noescape kernel_checksum
// #cgo nocallback kernel_checksum
// #include "checksum.h"
import "C"

import "unsafe"

func corrupt(data []byte, starts, ends []int64) int {
	i := C.kernel_corrupt((*C.uint8_t)(unsafe.SliceData(data)), (*C.int64_t)(unsafe.SliceData(starts)),
		(*C.int64_t)(unsafe.SliceData(ends)), C.int64_t(len(starts)))
	if i < 0 {
		return corruptGo(data, starts, ends)
	}
	return int(i)
}

func wideChecksum(b []byte) (uint32, bool) {
	sum := C.kernel_checksum((*C.uint8_t)(unsafe.SliceData(b)), C.int64_t(len(b)))
	return uint32(sum), sum >= 0
}
