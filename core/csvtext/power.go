package csvtext

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"sync"
)

// The algorithm is Eisel and Lemire's: D. Lemire, Number Parsing at a Gigabyte per
// Second, Software: Practice and Experience 51 (2021), section 5. The product of the
// decimal digits with 128 bits of the power of ten tells the nearest float64, or
// that more bits are needed.

// widest bounds the exponents of the table; other numbers are rare in text.
const widest = 64

// powers has the highest 128 bits of 5^q at q+widest: cut for q >= 0, else rounded up.
var powers [2*widest + 1][2]uint64 // high, low

// prepare computes powers.
var prepare = sync.OnceFunc(func() {
	one := big.NewInt(1)
	for q := -widest; q <= widest; q++ {
		p := new(big.Int).Exp(big.NewInt(5), big.NewInt(int64(max(q, -q))), nil)
		if n := uint(p.BitLen()); q >= 0 && n > 128 {
			p.Rsh(p, n-128)
		} else if q >= 0 {
			p.Lsh(p, 128-n)
		} else {
			p.Add(p.Div(new(big.Int).Lsh(one, n+127), p), one)
		}
		b := p.FillBytes(make([]byte, 16))
		powers[q+widest] = [2]uint64{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
	}
})

var exact = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scale returns w times ten to the power q, rounded to the nearest float64; false if
// it does not know.
func scale(w uint64, q int) (float64, bool) {
	if w>>53 == 0 && uint(q+22) <= 44 { // both factors are exact: one rounding
		if q < 0 {
			return float64(int64(w)) / exact[-q], true
		}
		return float64(int64(w)) * exact[q], true
	}
	if w == 0 {
		return 0, true
	}
	if q < -widest || q > widest {
		return 0, false
	}
	return product(w, q)
}

func product(w uint64, q int) (float64, bool) {
	const mantissa, bias = 52, 1023
	shift := bits.LeadingZeros64(w)
	w <<= shift
	power := &powers[q+widest]
	hi, lo := bits.Mul64(w, power[0])
	const kept = 64 - mantissa - 3
	if hi&(1<<kept-1) == 1<<kept-1 { // the lower half of the power may carry up to here
		carry, _ := bits.Mul64(w, power[1])
		var c uint64
		lo, c = bits.Add64(lo, carry, 0)
		hi += c
		if lo == math.MaxUint64 {
			return 0, false
		}
	}
	top := int(hi >> 63)
	m := hi >> (top + kept)
	e := (217706*q)>>16 + 63 + top - shift + bias
	// A tie is possible only for powers that fit in 64 bits, and m is then exact.
	if lo <= 1 && q >= -4 && q <= 23 && m&3 == 1 && m<<(top+kept) == hi {
		m &^= 1
	}
	m = (m + m&1) >> 1
	if m>>(mantissa+1) != 0 {
		m >>= 1
		e++
	}
	return math.Float64frombits(m&(1<<mantissa-1) | uint64(e)<<mantissa), e > 0 && e < 2047
}
