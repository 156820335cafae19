package op

import (
	"infeed/core/spec"
)

func integerLoops[T integer](t spec.DType) {
	realLoops[T](t)
	add("floor_divide", 2, t, t, each2(floorDivide[T]))
	add("remainder", 2, t, t, each2(remainder[T]))
	add("fmod", 2, t, t, each2(func(x, y T) T {
		if y == 0 {
			return 0
		}
		return x % y
	}))
	add("power", 2, t, t, each2(powerInt[T]))
	add("sign", 1, t, t, each1(func(x T) T {
		if x > 0 {
			return 1
		} else if x < 0 {
			var one T = 1
			return -one
		}
		return 0
	}))
	infinite := T(0) // what C makes of an infinite float
	if t == int32s || t == int64s {
		infinite = T(1) << (t.Size*8 - 1)
	}
	add("reciprocal", 1, t, t, each1(func(x T) T {
		if x == 0 {
			return infinite
		}
		return 1 / x
	}))
	add("fmax", 2, t, t, maximumLoop[T])
	add("fmin", 2, t, t, minimumLoop[T])
	add("bitwise_and", 2, t, t, each2(func(x, y T) T { return x & y }))
	add("bitwise_or", 2, t, t, each2(func(x, y T) T { return x | y }))
	add("bitwise_xor", 2, t, t, each2(func(x, y T) T { return x ^ y }))
	add("invert", 1, t, t, each1(func(x T) T { return ^x }))
	bits := uint64(t.Size * 8)
	add("left_shift", 2, t, t, each2(func(x, y T) T {
		if uint64(y) >= bits { // negative ones too
			return 0
		}
		return x << uint64(y)
	}))
	add("right_shift", 2, t, t, each2(func(x, y T) T {
		if uint64(y) >= bits {
			return x >> (bits - 1) >> 1
		}
		return x >> uint64(y)
	}))
}

func signedLoops[T signed](t spec.DType) { integerLoops[T](t) }

// floorDivide rounds down; by zero it is 0, and the smallest int by -1 is itself.
func floorDivide[T integer](x, y T) T {
	if y == 0 {
		return 0
	}
	q := x / y
	if r := x % y; r != 0 && (r < 0) != (y < 0) {
		q--
	}
	return q
}

// remainder has the sign of the divisor; by zero it is 0.
func remainder[T integer](x, y T) T {
	if y == 0 {
		return 0
	}
	r := x % y
	if r != 0 && (r < 0) != (y < 0) {
		r += y
	}
	return r
}

// powerInt wraps; programs have no negative exponents.
func powerInt[T integer](x, y T) T {
	out := T(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			out *= x
		}
		x *= x
	}
	return out
}

// bools registers what NumPy has for bools, which are bytes of 0 and 1 here.
func bools() {
	and := func(x, y uint8) uint8 { return x & y }
	or := func(x, y uint8) uint8 { return x | y }
	xor := func(x, y uint8) uint8 { return x ^ y }
	for op, f := range map[string]func(x, y uint8) uint8{
		"add": or, "maximum": or, "fmax": or, "bitwise_or": or, "logical_or": or,
		"multiply": and, "minimum": and, "fmin": and, "bitwise_and": and, "logical_and": and,
		"bitwise_xor": xor, "logical_xor": xor, "not_equal": xor,
	} {
		add(op, 2, boolean, boolean, each2(f))
	}
	not := each1(func(x uint8) uint8 { return x ^ 1 })
	add("logical_not", 1, boolean, boolean, not)
	add("invert", 1, boolean, boolean, not)
	add("absolute", 1, boolean, boolean, each1(func(x uint8) uint8 { return x }))
	add("equal", 2, boolean, boolean, each2(func(x, y uint8) uint8 { return x ^ y ^ 1 }))
	add("less", 2, boolean, boolean, lessLoop[uint8])
	add("less_equal", 2, boolean, boolean, lessEqualLoop[uint8])
	add("greater", 2, boolean, boolean, func(d, a, b, c []byte) { lessLoop[uint8](d, b, a, c) })
	add("greater_equal", 2, boolean, boolean, func(d, a, b, c []byte) { lessEqualLoop[uint8](d, b, a, c) })
}
