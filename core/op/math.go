package op

import (
	"math"

	"infeed/core/spec"
)

// precise is the functions of float64 that Go does not compute well enough; for
// float32, which is computed in float64 and rounded, Go's own are used.
var (
	precise = map[string]func(float64) float64{
		"exp": exp, "sin": sin, "cos": cos, "tan": tan, "arcsin": asin, "arccos": acos, "sinh": sinh,
	}
	precise2 = map[string]func(x, y float64) float64{"power": power}
)

// functions64 is the functions of one float that are computed in float64.
var functions64 = map[string]func(float64) float64{
	"sqrt": math.Sqrt, "cbrt": math.Cbrt, "exp": math.Exp, "exp2": exp2, "expm1": math.Expm1,
	"log": math.Log, "log2": log2, "log10": log10, "log1p": math.Log1p,
	"sin": math.Sin, "cos": math.Cos, "tan": math.Tan, "arcsin": math.Asin, "arccos": math.Acos, "arctan": math.Atan,
	"sinh": math.Sinh, "cosh": math.Cosh, "tanh": math.Tanh,
	"arcsinh": math.Asinh, "arccosh": math.Acosh, "arctanh": math.Atanh,
	"floor": math.Floor, "ceil": math.Ceil, "trunc": math.Trunc, "rint": math.RoundToEven,
}

// functions264 is those of two.
var functions264 = map[string]func(x, y float64) float64{
	"arctan2": math.Atan2, "hypot": math.Hypot, "power": math.Pow, "fmod": math.Mod, "copysign": math.Copysign,
	"logaddexp": logaddexp, "logaddexp2": logaddexp2,
}

func floatLoops[T float](t spec.DType) {
	realLoops[T](t)
	for op, f := range functions64 {
		if p := precise[op]; p != nil && t == float64s {
			f = p
		}
		add(op, 1, t, t, each1(func(x T) T { return T(f(float64(x))) }))
	}
	for op, f := range functions264 {
		if p := precise2[op]; p != nil && t == float64s {
			f = p
		}
		add(op, 2, t, t, each2(func(x, y T) T { return T(f(float64(x), float64(y))) }))
	}
	add("reciprocal", 1, t, t, each1(func(x T) T { return 1 / x }))
	add("absolute", 1, t, t, each1(func(x T) T { return T(math.Abs(float64(x))) }))
	add("sign", 1, t, t, each1(signFloat[T]))
	add("fmax", 2, t, t, each2(func(x, y T) T {
		if x >= y || y != y {
			return x
		}
		return y
	}))
	add("fmin", 2, t, t, each2(func(x, y T) T {
		if x <= y || y != y {
			return x
		}
		return y
	}))
	add("floor_divide", 2, t, t, each2(floorDivideFloat[T]))
	add("remainder", 2, t, t, each2(remainderFloat[T]))
	toRadians, toDegrees := T(T(math.Pi)/180), T(180/T(math.Pi))
	add("deg2rad", 1, t, t, each1(func(x T) T { return x * toRadians }))
	add("rad2deg", 1, t, t, each1(func(x T) T { return x * toDegrees }))
	add("heaviside", 2, t, t, each2(func(x, y T) T {
		switch {
		case x < 0:
			return 0
		case x > 0:
			return 1
		case x == 0:
			return y
		}
		return x
	}))
	add("isnan", 1, t, boolean, each1(func(x T) byte { return bit(x != x) }))
	add("isinf", 1, t, boolean, each1(func(x T) byte { return bit(math.IsInf(float64(x), 0)) }))
	add("isfinite", 1, t, boolean, each1(func(x T) byte { return bit(x-x == 0) }))
	add("signbit", 1, t, boolean, each1(func(x T) byte { return bit(math.Signbit(float64(x))) }))
}

func signFloat[T float](x T) T {
	switch {
	case x > 0:
		return 1
	case x < 0:
		return -1
	case x == 0:
		return 0
	}
	return x
}

// floorDivideFloat and remainderFloat are Python's divmod, step by step as in NumPy,
// so that they round alike.
func floorDivideFloat[T float](x, y T) T {
	if y == 0 {
		return x / y
	}
	mod := T(math.Mod(float64(x), float64(y)))
	q := (x - mod) / y
	if mod != 0 && (y < 0) != (mod < 0) {
		q--
	}
	if q == 0 {
		return T(math.Copysign(0, float64(x/y)))
	}
	f := T(math.Floor(float64(q)))
	if q-f > 0.5 {
		f++
	}
	return f
}

func remainderFloat[T float](x, y T) T {
	mod := T(math.Mod(float64(x), float64(y)))
	switch {
	case y == 0:
	case mod == 0:
		mod = T(math.Copysign(0, float64(y)))
	case (y < 0) != (mod < 0):
		mod += y
	}
	return mod
}

const (
	log2e  = 1.44269504088896338700e+00 // and what is left of it
	log2eL = 2.03552737409310331e-17
	log10e = 4.34294481903251816668e-01
	log10L = 1.09831965021676510e-17
)

// log2 does not go over the exponent near 1, where its parts would cancel out.
func log2(x float64) float64 {
	if frac, exp := math.Frexp(x); frac == 0.5 {
		return float64(exp - 1)
	}
	y := math.Log(x)
	return math.FMA(y, log2e, y*log2eL)
}

func log10(x float64) float64 {
	y := math.Log(x)
	return math.FMA(y, log10e, y*log10L)
}

func exp2(x float64) float64 { return math.Exp2(x) }

func logaddexp(x, y float64) float64 {
	if x == y { // infinities of one sign too
		return x + math.Ln2
	}
	if d := x - y; d > 0 {
		return x + math.Log1p(math.Exp(-d))
	} else if d <= 0 {
		return y + math.Log1p(math.Exp(d))
	}
	return math.NaN()
}

func logaddexp2(x, y float64) float64 {
	if x == y {
		return x + 1
	}
	if d := x - y; d > 0 {
		return x + math.Log1p(math.Exp2(-d))*log2e
	} else if d <= 0 {
		return y + math.Log1p(math.Exp2(d))*log2e
	}
	return math.NaN()
}
