package op

import (
	"math"
	"math/big"
	"sync"
)

// Functions of float64 where Go's are further from the true value than NumPy's. The
// methods and constants of exp, asin, acos and sinh are those of FreeBSD's msun
// (Sun Microsystems, 1993), each within one unit in the last place.

// dd is a number as the sum of two floats, the second much the smaller.
type dd struct{ hi, lo float64 }

func twoSum(a, b float64) dd {
	s := a + b
	t := s - a
	return dd{s, (a - (s - t)) + (b - t)}
}

func twoProduct(a, b float64) dd {
	p := a * b
	return dd{p, math.FMA(a, b, -p)}
}

func (a dd) plus(b dd) dd {
	s := twoSum(a.hi, b.hi)
	return twoSum(s.hi, s.lo+(a.lo+b.lo))
}

func (a dd) times(b dd) dd {
	p := twoProduct(a.hi, b.hi)
	return twoSum(p.hi, p.lo+(a.hi*b.lo+a.lo*b.hi))
}

const (
	ln2Hi = 6.93147180369123816490e-01
	ln2Lo = 1.90821492927058770002e-10
)

// ln2 and third to twice the precision.
var (
	ln2   = dd{0x1.62e42fefa39efp-01, 0x1.abc9e3b39803fp-56}
	third = dd{0x1.5555555555555p-02, 0x1.5555555555555p-56}
)

// exp is e to the power of x.hi + x.lo.
func (x dd) exp() float64 {
	switch {
	case x.hi > 709.782712893384 || x.hi < -745.2 || x.hi != x.hi:
		return math.Exp(x.hi)
	}
	k := math.Floor(x.hi*log2e + 0.5)
	hi, lo := math.FMA(-k, ln2Hi, x.hi), k*ln2Lo-x.lo
	r := hi - lo
	t := r * r
	c := r - t*(1.66666666666666657415e-01+t*(-2.77777777770155933842e-03+t*(6.61375632143793436117e-05+t*(-1.65339022054652515390e-06+t*4.13813679705723846039e-08))))
	return math.Ldexp(1-((lo-(r*c)/(2-c))-hi), int(k))
}

func exp(x float64) float64 { return dd{x, 0}.exp() }

// logarithm is the logarithm of a positive finite number to twice the precision: by
// the series of 2 artanh((m-1)/(m+1)), whose first two terms need that precision.
func logarithm(x float64) dd {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	a, b := m-1, twoSum(m, 1)
	s := dd{hi: a / b.hi}
	s.lo = (math.FMA(-s.hi, b.hi, a) - s.hi*b.lo) / b.hi
	s2 := s.times(s)
	z, series := s2.hi, 0.0
	for k := 29.0; k >= 5; k -= 2 {
		series = series*z + 1/k
	}
	first := s.plus(s.times(s2).times(third)).plus(dd{s.hi * z * z * series, 0})
	first = dd{2 * first.hi, 2 * first.lo}
	return dd{float64(e), 0}.times(ln2).plus(first)
}

func power(x, y float64) float64 {
	a := math.Abs(x)
	if a == 0 || y == 0 || a == 1 || math.IsInf(a, 0) || a != a || math.IsInf(y, 0) || y != y || y == 1 {
		return math.Pow(x, y)
	}
	whole := math.Trunc(y) == y
	if x < 0 && !whole {
		return math.NaN()
	}
	l := logarithm(a)
	z := twoProduct(y, l.hi)
	if math.Abs(z.hi) > 1000 { // beyond what there is; z.lo may be NaN
		z.lo = -y * l.lo
	}
	z.lo += y * l.lo
	out := z.exp()
	if x < 0 && math.Abs(y) < 1<<53 && math.Mod(y, 2) != 0 {
		return -out
	}
	return out
}

// quarter is pi/2 in three parts.
var quarter = [3]float64{0x1.921fb54442d18p+00, 0x1.1a62633145c07p-54, -0x1.f1976b7ed8fbcp-110}

// mostTurned is up to where three parts of pi/2 are enough.
const mostTurned = 1 << 29

// farDigits is how many bits of pi the largest float needs: those before its last
// one, and those of a result near 0.
const farDigits = 1024 + 192

// farQuarter is pi/2 by Machin's formula: pi/4 = 4 atan(1/5) - atan(1/239).
var farQuarter = sync.OnceValue(func() *big.Float {
	const guard = 32
	arctan := func(n int64) *big.Int {
		term := new(big.Int).Lsh(big.NewInt(1), farDigits+guard)
		term.Div(term, big.NewInt(n))
		sum, square := new(big.Int).Set(term), big.NewInt(-n*n)
		for k := int64(3); term.Sign() != 0; k += 2 {
			term.Quo(term, square)
			sum.Add(sum, new(big.Int).Quo(term, big.NewInt(k)))
		}
		return sum
	}
	quarters := arctan(5)
	quarters.Lsh(quarters, 2).Sub(quarters, arctan(239)).Lsh(quarters, 1)
	f := new(big.Float).SetPrec(farDigits).SetInt(quarters)
	return f.SetMantExp(f, -farDigits-guard)
})

// turnedFar is turned for numbers beyond mostTurned.
func turnedFar(x float64) (r dd, k int) {
	f := new(big.Float).SetPrec(2 * farDigits).SetFloat64(math.Abs(x))
	n, _ := new(big.Float).SetPrec(farDigits).Quo(f, farQuarter()).Int(nil)
	f.Sub(f, new(big.Float).SetPrec(2*farDigits).Mul(farQuarter(), new(big.Float).SetPrec(farDigits).SetInt(n)))
	r.hi, _ = f.Float64()
	if k = int(new(big.Int).And(n, big.NewInt(3)).Int64()); r.hi > math.Pi/4 {
		f.Sub(f, farQuarter())
		r.hi, _ = f.Float64()
		k = (k + 1) & 3
	}
	r.lo, _ = f.Sub(f, new(big.Float).SetFloat64(r.hi)).Float64()
	if x < 0 {
		return dd{-r.hi, -r.lo}, -k & 3
	}
	return r, k
}

// turned is x less the nearest multiple of pi/2, and which one that is, modulo 4.
func turned(x float64) (r dd, k int) {
	if math.Abs(x) >= mostTurned {
		return turnedFar(x)
	}
	n := math.RoundToEven(x * (2 / math.Pi))
	r = dd{x, 0}
	for _, part := range quarter {
		p := twoProduct(-n, part)
		r = r.plus(p)
	}
	return r, int(int64(n) & 3)
}

func sinOf(r dd) float64 { return math.Sin(r.hi) + r.lo*math.Cos(r.hi) }
func cosOf(r dd) float64 { return math.Cos(r.hi) - r.lo*math.Sin(r.hi) }

func sin(x float64) float64 {
	if x-x != 0 || math.Abs(x) < 0.7 {
		return math.Sin(x)
	}
	r, k := turned(x)
	switch k {
	case 0:
		return sinOf(r)
	case 1:
		return cosOf(r)
	case 2:
		return -sinOf(r)
	}
	return -cosOf(r)
}

func cos(x float64) float64 {
	if x-x != 0 || math.Abs(x) < 0.7 {
		return math.Cos(x)
	}
	r, k := turned(x)
	switch k {
	case 0:
		return cosOf(r)
	case 1:
		return -sinOf(r)
	case 2:
		return -cosOf(r)
	}
	return sinOf(r)
}

func tan(x float64) float64 {
	if x-x != 0 || math.Abs(x) < 0.7 {
		return math.Tan(x)
	}
	r, k := turned(x)
	t := math.Tan(r.hi)
	t += r.lo * (1 + t*t)
	if k&1 == 1 {
		return -1 / t
	}
	return t
}

// bow is asin(x)/x - 1 for z = x*x up to 1/4.
func bow(z float64) float64 {
	p := z * (1.66666666666666657415e-01 + z*(-3.25565818622400915405e-01+z*(2.01212532134862925881e-01+z*(-4.00555345006794114027e-02+z*(7.91534994289814532176e-04+z*3.47933107596021167570e-05)))))
	q := 1 + z*(-2.40339491173441421878e+00+z*(2.02094576023350569471e+00+z*(-6.88283971605453293030e-01+z*7.70381505559019352791e-02)))
	return p / q
}

// halfAngle is sqrt((1-x)/2) as a sum, and its bow.
func halfAngle(x float64) (root dd, z, r float64) {
	z = (1 - x) / 2
	s := math.Sqrt(z)
	hi := math.Float64frombits(math.Float64bits(s) &^ 0xffffffff)
	if s > 0 {
		root.lo = (z - hi*hi) / (s + hi)
	}
	root.hi = hi
	return root, z, bow(z)
}

func asin(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a != a || a > 1:
		return math.NaN()
	case a < 0x1p-27:
		return x
	case a < 0.5:
		return x + x*bow(x*x)
	}
	root, _, r := halfAngle(a)
	s := root.hi + root.lo
	const quarterPi = math.Pi / 4
	p := 2*s*r - (quarter[1] - 2*root.lo)
	q := quarterPi - 2*root.hi
	return math.Copysign(quarterPi-(p-q), x)
}

func acos(x float64) float64 {
	a := math.Abs(x)
	switch {
	case a != a || a > 1:
		return math.NaN()
	case a < 0.5:
		return quarter[0] - (x - (quarter[1] - x*bow(x*x)))
	}
	root, _, r := halfAngle(a)
	s := root.hi + root.lo
	if x < 0 {
		return math.Pi - 2*(s+(r*s-quarter[1]))
	}
	return 2 * (root.hi + (r*s + root.lo))
}

func sinh(x float64) float64 {
	a := math.Abs(x)
	if !(a > 0x1p-28 && a < 22) {
		if a < 709 && a >= 22 {
			return math.Copysign(exp(a)/2, x)
		}
		return math.Sinh(x)
	}
	t := math.Expm1(a)
	if a < 1 {
		return math.Copysign((2*t-t*t/(t+1))/2, x)
	}
	return math.Copysign((t+t/(t+1))/2, x)
}
