//go:build !purego && cgo

package kernel

// #cgo CFLAGS: -O3
// #cgo noescape kernel_gather
// #cgo nocallback kernel_gather
// #cgo noescape kernel_scatter
// #cgo nocallback kernel_scatter
// #cgo noescape kernel_text_bytes
// #cgo nocallback kernel_text_bytes
// #cgo noescape kernel_copy_text
// #cgo nocallback kernel_copy_text
// #include "gather.h"
import "C"

import "unsafe"

// Native names the kernels that run as C in this build.
func Native() []string { return []string{"arith", "checksum", "csv", "feistel", "gather", "split"} }

func gather(dst, src []byte, row, stride int, index []int64) {
	C.kernel_gather(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		C.int64_t(row), C.int64_t(stride), ints(index), C.int64_t(len(index)))
}

func scatter(dst, src []byte, row, stride int, index []int64) {
	C.kernel_scatter(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)),
		C.int64_t(row), C.int64_t(stride), ints(index), C.int64_t(len(index)))
}

func textBytes(data []byte, starts, ends []int64) int64 {
	return int64(C.kernel_text_bytes(unsafe.Pointer(unsafe.SliceData(data)), C.int64_t(len(data)),
		ints(starts), ints(ends), C.int64_t(len(starts))))
}

func copyText(dst []byte, at int64, starts, ends []int64, data []byte) {
	C.kernel_copy_text(unsafe.Pointer(unsafe.SliceData(dst)), C.int64_t(at), ints(starts), ints(ends),
		C.int64_t(len(starts)), unsafe.Pointer(unsafe.SliceData(data)))
}

func ints(s []int64) *C.int64_t { return (*C.int64_t)(unsafe.SliceData(s)) }
