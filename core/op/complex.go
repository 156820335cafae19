package op

import (
	"math"

	"infeed/core/spec"
)

func complexLoops(t spec.DType, multiply, square, divide loop) {
	add("multiply", 2, t, t, multiply)
	add("square", 1, t, t, square)
	add("divide", 2, t, t, divide)
	half := spec.DType{Kind: 'f', Size: t.Size / 2}
	if t == complex64s {
		parts[float32, complex64](t, half)
	} else {
		parts[float64, complex128](t, half)
	}
}

func parts[F float, C complexNumber](t, half spec.DType) {
	add("real", 1, t, half, func(d, a, _, _ []byte) {
		for i, z := 0, view[F](d); i < len(z); i++ {
			z[i] = view[F](a)[2*i]
		}
	})
	add("imag", 1, t, half, func(d, a, _, _ []byte) {
		for i, z := 0, view[F](d); i < len(z); i++ {
			z[i] = view[F](a)[2*i+1]
		}
	})
	add("conjugate", 1, t, t, func(d, a, _, _ []byte) {
		z, x := view[F](d), view[F](a)
		for i := 0; i < len(z); i += 2 {
			z[i], z[i+1] = x[i], -x[i+1]
		}
	})
	add("absolute", 1, t, half, func(d, a, _, _ []byte) {
		z, x := view[F](d), view[F](a)
		for i := range z {
			z[i] = F(math.Hypot(float64(x[2*i]), float64(x[2*i+1])))
		}
	})
}

// Complex numbers are multiplied part by part, as NumPy does; the conversions keep
// compilers from joining a product and a sum.
func multiplyComplex[F float](d, a, b, _ []byte) {
	z, x, y := view[F](d), view[F](a), view[F](b)
	for i := 0; i+1 < len(z); i += 2 {
		xr, xi, yr, yi := x[i], x[i+1], y[i], y[i+1]
		z[i], z[i+1] = F(xr*yr)-F(xi*yi), F(xr*yi)+F(xi*yr)
	}
}

func squareComplex[F float](d, a, _, _ []byte) { multiplyComplex[F](d, a, a, nil) }

// divideComplex is Smith's algorithm (Algorithm 116: Complex division, 1962), as in
// NumPy.
func divideComplex[F float, C complexNumber](d, a, b, _ []byte) {
	z, x, y := view[F](d), view[F](a), view[F](b)
	for i := 0; i+1 < len(z); i += 2 {
		xr, xi, yr, yi := x[i], x[i+1], y[i], y[i+1]
		ar, ai := F(math.Abs(float64(yr))), F(math.Abs(float64(yi)))
		switch {
		case ar >= ai && ar == 0 && ai == 0:
			z[i], z[i+1] = xr/ar, xi/ar
		case ar >= ai:
			ratio := yi / yr
			scale := 1 / (yr + F(yi*ratio))
			z[i], z[i+1] = (xr+F(xi*ratio))*scale, (xi-F(xr*ratio))*scale
		default:
			ratio := yr / yi
			scale := 1 / (yi + F(yr*ratio))
			z[i], z[i+1] = (F(xr*ratio)+xi)*scale, (F(xi*ratio)-xr)*scale
		}
	}
}
