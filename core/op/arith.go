package op

import (
	"infeed/core/kernel"
	"infeed/core/spec"
)

func init() {
	signedLoops[int8](int8s)
	signedLoops[int16](int16s)
	signedLoops[int32](int32s)
	signedLoops[int64](int64s)
	integerLoops[uint8](uint8s)
	integerLoops[uint16](uint16s)
	integerLoops[uint32](uint32s)
	integerLoops[uint64](uint64s)
	floatLoops[float32](float32s)
	floatLoops[float64](float64s)
	complexLoops(complex64s, multiplyComplex[float32], squareComplex[float32], divideComplex[float32, complex64])
	complexLoops(complexes, multiplyComplex[float64], squareComplex[float64], divideComplex[float64, complex128])
	numberLoops[complex64](complex64s)
	numberLoops[complex128](complexes)
	bools()
	kernels()
}

// kernels replaces loops by those of core/kernel.
func kernels() {
	for name, op := range map[string]kernel.Arith{"add": kernel.Add, "subtract": kernel.Subtract, "multiply": kernel.Multiply, "divide": kernel.Divide} {
		add(name, 2, float32s, float32s, func(d, a, b, _ []byte) {
			kernel.Float32s(op, view[float32](d), view[float32](a), view[float32](b))
		})
		add(name, 2, float64s, float64s, func(d, a, b, _ []byte) {
			kernel.Float64s(op, view[float64](d), view[float64](a), view[float64](b))
		})
	}
}

func numberLoops[T number](t spec.DType) {
	add("add", 2, t, t, addLoop[T])
	add("subtract", 2, t, t, subtractLoop[T])
	add("negative", 1, t, t, negativeLoop[T])
	add("equal", 2, t, boolean, equalLoop[T])
	add("not_equal", 2, t, boolean, notEqualLoop[T])
}

func realLoops[T ordered](t spec.DType) {
	numberLoops[T](t)
	add("multiply", 2, t, t, multiplyLoop[T])
	add("square", 1, t, t, squareLoop[T])
	add("less", 2, t, boolean, lessLoop[T])
	add("less_equal", 2, t, boolean, lessEqualLoop[T])
	add("greater", 2, t, boolean, func(d, a, b, c []byte) { lessLoop[T](d, b, a, c) })
	add("greater_equal", 2, t, boolean, func(d, a, b, c []byte) { lessEqualLoop[T](d, b, a, c) })
	add("absolute", 1, t, t, absoluteLoop[T])
	add("maximum", 2, t, t, maximumLoop[T])
	add("minimum", 2, t, t, minimumLoop[T])
}

func addLoop[T number](d, a, b, _ []byte) {
	z, x, y := view[T](d), view[T](a), view[T](b)
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		z[i] = x[i] + y[i]
	}
}

func subtractLoop[T number](d, a, b, _ []byte) {
	z, x, y := view[T](d), view[T](a), view[T](b)
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		z[i] = x[i] - y[i]
	}
}

func multiplyLoop[T ordered](d, a, b, _ []byte) {
	z, x, y := view[T](d), view[T](a), view[T](b)
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		z[i] = x[i] * y[i]
	}
}

func squareLoop[T ordered](d, a, _, _ []byte) { multiplyLoop[T](d, a, a, nil) }

func negativeLoop[T number](d, a, _, _ []byte) {
	z, x := view[T](d), view[T](a)
	x = x[:len(z)]
	for i := range z {
		z[i] = -x[i]
	}
}

func equalLoop[T number](d, a, b, _ []byte) {
	x, y := view[T](a), view[T](b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = bit(x[i] == y[i])
	}
}

func notEqualLoop[T number](d, a, b, _ []byte) {
	x, y := view[T](a), view[T](b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = bit(x[i] != y[i])
	}
}

func lessLoop[T ordered](d, a, b, _ []byte) {
	x, y := view[T](a), view[T](b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = bit(x[i] < y[i])
	}
}

func lessEqualLoop[T ordered](d, a, b, _ []byte) {
	x, y := view[T](a), view[T](b)
	x, y = x[:len(d)], y[:len(d)]
	for i := range d {
		d[i] = bit(x[i] <= y[i])
	}
}

// bit is 1 for true; the compiler makes no branch of it.
func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// absoluteLoop: the smallest int stays what it is, and -0.0 becomes 0.0.
func absoluteLoop[T ordered](d, a, _, _ []byte) {
	z, x := view[T](d), view[T](a)
	x = x[:len(z)]
	for i := range z {
		v := x[i]
		if v < 0 {
			v = -v
		}
		z[i] = v + 0
	}
}

// maximumLoop and minimumLoop give NaN where an operand is one, the first first.
func maximumLoop[T ordered](d, a, b, _ []byte) {
	z, x, y := view[T](d), view[T](a), view[T](b)
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		v := x[i]
		if !(v >= y[i] || v != v) {
			v = y[i]
		}
		z[i] = v
	}
}

func minimumLoop[T ordered](d, a, b, _ []byte) {
	z, x, y := view[T](d), view[T](a), view[T](b)
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		v := x[i]
		if !(v <= y[i] || v != v) {
			v = y[i]
		}
		z[i] = v
	}
}

// each1, each2 make loops of functions, for what takes longer than a call.
func each1[T, R any](f func(T) R) loop {
	return func(d, a, _, _ []byte) {
		z, x := view[R](d), view[T](a)
		x = x[:len(z)]
		for i := range z {
			z[i] = f(x[i])
		}
	}
}

func each2[T, R any](f func(x, y T) R) loop {
	return func(d, a, b, _ []byte) {
		z, x, y := view[R](d), view[T](a), view[T](b)
		x, y = x[:len(z)], y[:len(z)]
		for i := range z {
			z[i] = f(x[i], y[i])
		}
	}
}
