//go:build !purego && cgo

package kernel

// #cgo CFLAGS: -O3
// #cgo noescape infeed_gather
// #cgo nocallback infeed_gather
// #include "gather.h"
import "C"

import "unsafe"

func gather(dst, src []byte, row int, index []int64) {
	C.infeed_gather(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		C.int64_t(row), (*C.int64_t)(unsafe.SliceData(index)), C.int64_t(len(index)))
}
