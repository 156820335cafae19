//go:build !purego && cgo

package kernel

// #cgo noescape kernel_arith_f32
// #cgo nocallback kernel_arith_f32
// #cgo noescape kernel_arith_f64
// #cgo nocallback kernel_arith_f64
// #cgo noescape kernel_convert
// #cgo nocallback kernel_convert
// #include "arith.h"
import "C"

import "unsafe"

func float32s(op Arith, d, a, b []float32) {
	C.kernel_arith_f32(C.int(op), start(d), start(a), start(b), C.int64_t(len(d)))
}

func float64s(op Arith, d, a, b []float64) {
	C.kernel_arith_f64(C.int(op), start(d), start(a), start(b), C.int64_t(len(d)))
}

func converted(pair Convert, d, a []byte, n int) {
	C.kernel_convert(C.int(pair), start(d), start(a), C.int64_t(n))
}

func start[T any](x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
