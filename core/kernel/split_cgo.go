//go:build !purego && cgo

package kernel

// #cgo CFLAGS: -O3
// #cgo noescape kernel_split
// #cgo nocallback kernel_split
// #cgo noescape kernel_join
// #cgo nocallback kernel_join
// #include "split.h"
import "C"

import "unsafe"

func split(dst, src []byte, width, count int) {
	C.kernel_split(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), C.int64_t(width), C.int64_t(count))
}

func join(dst, src []byte, width, all, count int) {
	C.kernel_join(unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src)), C.int64_t(width), C.int64_t(all), C.int64_t(count))
}
