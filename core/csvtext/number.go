package csvtext

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// The quick forms read a plain number that begins at p, whatever is behind it, and
// return where it ends; -1 if they leave it to the slow forms.

var tens = [...]uint64{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000}

// reach is how many bytes from p on the quick forms look at without asking.
const reach = 24

// padded is a copy of the end of b, with zeros behind it.
func padded(b []byte, p int) (copied [2 * reach]byte) {
	copy(copied[:], b[p:])
	return copied
}

// marks has the high bits of bytes that are not digits; the lowest is right.
func marks(v uint64) uint64 {
	const to9, from0 = 0x7f - '9', '0'
	return ((v + ones*to9) | (v - ones*from0)) & highs
}

// first returns the index of the lowest byte with a mark, 8 if there is none.
func first(m uint64) int { return bits.TrailingZeros64(m) >> 3 }

// eight returns the number that the first n bytes of v are the digits of, n > 0.
// Zeros move in before them, so that there is nothing to count.
func eight(v uint64, n int) uint64 {
	v = v << (-8 * n & 63) & (ones * 0x0f)
	v = v*10 + v>>8
	const pairs = 0x000000ff000000ff
	return (v&pairs*(100+1000000<<32) + v>>16&pairs*(1+10000<<32)) >> 32
}

func quickInt(b []byte, p int) (int64, int) {
	if len(b)-p < reach {
		return lastInt(b, p)
	}
	neg := 0
	if b[p] == '-' {
		neg = 1
	}
	p += neg
	v := load(b, p)
	n := first(marks(v))
	w := eight(v, n)
	p += n
	if n == 8 {
		v = load(b, p)
		n = first(marks(v))
		if p += n; n == 8 {
			return 0, -1
		}
		if n > 0 {
			w = w*tens[n] + eight(v, n)
		}
	} else if n == 0 {
		return 0, -1
	}
	return (int64(w) ^ -int64(neg)) + int64(neg), p
}

// lastInt is quickInt near the end of b.
func lastInt(b []byte, p int) (int64, int) {
	copied := padded(b, p)
	v, end := quickInt(copied[:], 0)
	if end < 0 {
		return 0, -1
	}
	return v, p + end
}

// decimal is a number as it is written: digits times ten to the power exp.
type decimal struct {
	digits   uint64
	exp      int
	negative int // 0 or 1
}

// quickDecimal reads a number with 19 digits at most.
func quickDecimal(b []byte, p int) (d decimal, end int) {
	if len(b)-p < reach {
		return lastDecimal(b, p)
	}
	if b[p] == '-' {
		d.negative = 1
	}
	p += d.negative
	v := load(b, p)
	m := marks(v)
	point := first(m)
	if point == 8 || b[p+point] != '.' {
		return wholeDecimal(b, p, d)
	}
	// The digits before the point and those behind it become one number.
	before := (m&-m)>>7 - 1
	v = v&before | load(b, p+1)&^before
	n := first(marks(v))
	if n == 0 {
		return d, -1
	}
	d.digits, d.exp = eight(v, n), point-n
	p += n + 1
	if n == 8 {
		d.digits, n, p = moreDigits(b, p, d.digits, n)
		d.exp = point - n
	}
	if p >= len(b) || b[p] >= 'E' || n > 19 {
		return exponent(b, p, d, n)
	}
	return d, p
}

// lastDecimal is quickDecimal near the end of b.
func lastDecimal(b []byte, p int) (decimal, int) {
	copied := padded(b, p)
	d, end := quickDecimal(copied[:], 0)
	if end < 0 {
		return d, -1
	}
	return d, p + end
}

// wholeDecimal is quickDecimal behind the sign, for numbers without a point among
// their first eight bytes.
func wholeDecimal(b []byte, p int, d decimal) (decimal, int) {
	w, n, p := moreDigits(b, p, 0, 0)
	if p < len(b) && b[p] == '.' {
		d.exp = n
		w, n, p = moreDigits(b, p+1, w, n)
		d.exp -= n
	}
	d.digits = w
	return exponent(b, p, d, n)
}

// moreDigits goes on with a number w of n digits. It stops when there are too many.
func moreDigits(b []byte, p int, w uint64, n int) (uint64, int, int) {
	for ; p < len(b) && isDigit(b[p]) && n < reach; p++ {
		if len(b)-p >= 8 {
			if v := load(b, p); marks(v) == 0 {
				w = w*tens[8] + eight(v, 8)
				n += 8
				p += 7
				continue
			}
		}
		w = w*10 + uint64(b[p]-'0')
		n++
	}
	return w, n, p
}

// exponent reads what is behind the n digits of d.
func exponent(b []byte, p int, d decimal, n int) (decimal, int) {
	if n == 0 || n > 19 {
		return d, -1
	}
	if p == len(b) || b[p]|0x20 != 'e' {
		return d, p
	}
	negative, rest := sign(b[p+1:])
	e, k, end := moreDigits(rest, 0, 0, 0)
	if k == 0 || k > 4 {
		return d, -1
	}
	if negative {
		e = -e
	}
	d.exp += int(e)
	return d, len(b) - len(rest) + end
}

// trim cuts the white space of C's isspace.
func trim(b []byte) []byte {
	space := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
	for len(b) > 0 && space(b[0]) {
		b = b[1:]
	}
	for len(b) > 0 && space(b[len(b)-1]) {
		b = b[:len(b)-1]
	}
	return b
}

// sign cuts a sign.
func sign(b []byte) (neg bool, rest []byte) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return b[0] == '-', b[1:]
	}
	return false, b
}

func parseInt(text []byte) (int64, bool) {
	neg, b := sign(trim(text))
	if len(b) == 0 {
		return 0, false
	}
	limit := uint64(math.MaxInt64)
	if neg {
		limit++
	}
	w := uint64(0)
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || w > (limit-d)/10 {
			return 0, false
		}
		w = w*10 + d
	}
	if neg {
		w = -w
	}
	return int64(w), true
}

// parseFloat reads any form of a number and rounds it to so many bits.
func parseFloat(text []byte, size int) (float64, bool) {
	neg, b := sign(trim(text))
	f, ok := special(b)
	if !ok {
		hexadecimal, valid := number(b)
		if !valid {
			return 0, false
		}
		if hexadecimal && !hasExponent(b) {
			b = append(b[:len(b):len(b)], "p0"...)
		}
		f, _ = strconv.ParseFloat(unsafe.String(&b[0], len(b)), size) // its one error is the range, and then f is infinite
	}
	if neg {
		f = math.Copysign(f, -1)
	}
	return f, true
}
