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

// Powers of ten that are exact, and the same below zero.
var (
	exact64 [2][23]float64
	exact32 [2][11]float32
)

func init() {
	for i, power := 0, 1.0; i < len(exact64[0]); i, power = i+1, power*10 {
		exact64[0][i], exact64[1][i] = power, -power
		if i < len(exact32[0]) {
			exact32[0][i], exact32[1][i] = float32(power), float32(-power)
		}
	}
}

// float32 gives the nearest float32; false if it does not know.
func (d decimal) float32() (float32, bool) {
	if d.digits>>24 == 0 && uint(-d.exp) <= 10 { // both are exact: one rounding
		return float32(int64(d.digits)) / exact32[d.negative&1][-d.exp], true
	}
	f, ok := d.float64()
	if !ok {
		return 0, false
	}
	return narrow(f)
}

// float64 gives the nearest float64; false if it does not know.
func (d decimal) float64() (float64, bool) {
	if d.digits>>53 == 0 && uint(-d.exp) <= 22 {
		return float64(int64(d.digits)) / exact64[d.negative&1][-d.exp], true
	}
	return d.scale()
}

// scale is float64 for numbers that are not that small.
func (d decimal) scale() (f float64, ok bool) {
	switch {
	case d.digits == 0:
		ok = true
	case d.digits>>53 == 0 && uint(d.exp) <= 22:
		f, ok = float64(int64(d.digits))*exact64[0][d.exp], true
	case d.exp >= -widest && d.exp <= widest:
		f, ok = product(d.digits, d.exp)
	}
	if d.negative == 1 {
		f = -f
	}
	return f, ok
}

// narrow rounds to float32 what was rounded from a text to float64. It is as if the
// text had been rounded once, unless d lies between two float32s exactly: the text
// may then be on either side. Subnormal numbers are left out.
func narrow(d float64) (float32, bool) {
	const half, rest = 1 << 28, 1<<29 - 1
	b := math.Float64bits(d)
	if b&rest == half || b>>52&0x7ff < 1023-126 && d != 0 {
		return 0, false
	}
	return float32(d), true
}

// product is digits times ten to the power q, for digits > 0 and q of the table.
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
