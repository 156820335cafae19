//go:build !purego && cgo

package kernel

// #cgo CFLAGS: -O3
// #cgo noescape kernel_gather
// #cgo nocallback kernel_gather
// #cgo noescape kernel_scatter
// #cgo nocallback kernel_scatter
// #include "gather.h"
import "C"

import "unsafe"

// Native names the kernels that run as C in this build.
func Native() []string { return []string{"arith", "checksum", "gather", "split"} }

func gather(dst, src []byte, row int, index []int64) {
	C.kernel_gather(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		C.int64_t(row), (*C.int64_t)(unsafe.SliceData(index)), C.int64_t(len(index)))
}

func scatter(dst, src []byte, row int, index []int64) {
	C.kernel_scatter(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		C.int64_t(row), (*C.int64_t)(unsafe.SliceData(index)), C.int64_t(len(index)))
}
