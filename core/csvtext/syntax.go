package csvtext

import (
	"bytes"
	"math"
)

// special reads inf, infinity, nan and nan(...), in letters of any case.
func special(b []byte) (float64, bool) {
	if len(b) < 3 || b[0]|0x20 != 'i' && b[0]|0x20 != 'n' {
		return 0, false
	}
	if bytes.EqualFold(b, []byte("inf")) || bytes.EqualFold(b, []byte("infinity")) {
		return math.Inf(1), true
	}
	if !bytes.EqualFold(b[:3], []byte("nan")) {
		return 0, false
	}
	if b = b[3:]; len(b) > 0 {
		if len(b) < 2 || b[0] != '(' || b[len(b)-1] != ')' || span(b[1:], word) != len(b)-2 {
			return 0, false
		}
	}
	return math.Float64frombits(0x7ff8000000000000), true
}

// number tells whether all of b is a number without a sign, and whether in
// hexadecimal digits, where an exponent of two may be left out.
func number(b []byte) (hexadecimal, ok bool) {
	digit, mark := isDigit, byte('e')
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		hexadecimal, digit, mark, b = true, isHex, 'p', b[2:]
	}
	n := span(b, digit)
	b = b[n:]
	if len(b) > 0 && b[0] == '.' {
		k := span(b[1:], digit)
		b = b[1+k:]
		n += k
	}
	if n == 0 {
		return hexadecimal, false
	}
	if len(b) > 0 && b[0]|0x20 == mark {
		_, b = sign(b[1:])
		n = span(b, isDigit)
		return hexadecimal, n > 0 && n == len(b)
	}
	return hexadecimal, len(b) == 0
}

// hasExponent tells whether a hexadecimal number has one.
func hasExponent(b []byte) bool { return bytes.ContainsAny(b, "pP") }

// span returns how many bytes at the beginning of b are of a class.
func span(b []byte, class func(byte) bool) int {
	for i, c := range b {
		if !class(c) {
			return i
		}
	}
	return len(b)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func word(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
