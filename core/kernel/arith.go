package kernel

import "unsafe"

// Arith is an operation of two floats.
type Arith int

// The operations.
const (
	Add Arith = iota
	Subtract
	Multiply
	Divide
)

// Convert is a conversion between dtypes.
type Convert int

// The conversions.
const (
	U8ToF32 Convert = iota
	U8ToF64
	I32ToF32
	I64ToF32
	F32ToF64
	F64ToF32
)

// Float32s makes d of the values of a and b, which are of the same number or more. d
// may be one of them, but not a part.
func Float32s(op Arith, d, a, b []float32) {
	if n := len(d); n > 0 {
		float32s(op, d, a[:n], b[:n])
	}
}

// Float64s is Float32s for float64.
func Float64s(op Arith, d, a, b []float64) {
	if n := len(d); n > 0 {
		float64s(op, d, a[:n], b[:n])
	}
}

// Converted makes n values at d of those at a.
func Converted(pair Convert, d, a []byte, n int) {
	size := sizes[pair]
	if n > 0 {
		converted(pair, d[:n*size[1]], a[:n*size[0]], n)
	}
}

// sizes is how many bytes values have before and after.
var sizes = [...][2]int{U8ToF32: {1, 4}, U8ToF64: {1, 8}, I32ToF32: {4, 4}, I64ToF32: {8, 4}, F32ToF64: {4, 8}, F64ToF32: {8, 4}}

// arithGo is the Go twin of Float32s and Float64s.
func arithGo[T float32 | float64](op Arith, d, a, b []T) {
	a, b = a[:len(d)], b[:len(d)]
	switch op {
	case Add:
		for i := range d {
			d[i] = a[i] + b[i]
		}
	case Subtract:
		for i := range d {
			d[i] = a[i] - b[i]
		}
	case Multiply:
		for i := range d {
			d[i] = a[i] * b[i]
		}
	case Divide:
		for i := range d {
			d[i] = a[i] / b[i]
		}
	}
}

// convertedGo is the Go twin of Converted.
func convertedGo(pair Convert, d, a []byte, n int) {
	switch pair {
	case U8ToF32:
		convertGo(values[float32](d, n), values[uint8](a, n))
	case U8ToF64:
		convertGo(values[float64](d, n), values[uint8](a, n))
	case I32ToF32:
		convertGo(values[float32](d, n), values[int32](a, n))
	case I64ToF32:
		convertGo(values[float32](d, n), values[int64](a, n))
	case F32ToF64:
		convertGo(values[float64](d, n), values[float32](a, n))
	case F64ToF32:
		convertGo(values[float32](d, n), values[float64](a, n))
	}
}

func convertGo[D, S uint8 | int32 | int64 | float32 | float64](d []D, a []S) {
	for i, v := range a[:len(d)] {
		d[i] = D(v)
	}
}

func values[T any](b []byte, n int) []T {
	if n == 0 {
		return nil // b may be shorter than a T, to which no pointer may be made then
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}
