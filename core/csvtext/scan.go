package csvtext

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unsafe"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// load reads the eight bytes at p, the first lowest; they must be there.
func load(b []byte, p int) uint64 {
	_ = b[p+7]
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), p)) // as slicing would, in half the instructions
}

// store writes sixteen bytes.
func store(b []byte, low, high uint64) {
	binary.LittleEndian.PutUint64(b, low)
	binary.LittleEndian.PutUint64(b[8:], high)
}

// zeros marks the bytes of v that are zero by their high bits. The lowest mark is
// right; above it there may be false ones.
func zeros(v uint64) uint64 { return (v - ones) &^ v & highs }

// scanner finds the bytes that matter in a dialect, eight at a time.
type scanner struct {
	delims uint64 // the delimiter, eight times
	quotes uint64 // the quote, or the delimiter where quotes do not matter
}

func newScanner(delim byte, plain bool) scanner {
	s := scanner{delims: ones * uint64(delim), quotes: ones * '"'}
	if plain {
		s.quotes = s.delims
	}
	return s
}

// stop returns where the next delimiter, CR, LF or quote is, or len(b).
func (s *scanner) stop(b []byte, p int) int {
	for ; len(b)-p >= 8; p += 8 {
		v := load(b, p)
		if m := zeros(v^s.delims) | zeros(v^s.quotes) | zeros(v^(ones*'\n')) | zeros(v^(ones*'\r')); m != 0 {
			return p + bits.TrailingZeros64(m)>>3
		}
	}
	d, q := byte(s.delims), byte(s.quotes)
	for ; p < len(b); p++ {
		if c := b[p]; c == d || c == q || c == '\n' || c == '\r' {
			break
		}
	}
	return p
}

// nextQuote returns where the next quote is, or len(b). Quotes are often near, where
// a call costs more than looking.
func nextQuote(b []byte, p int) int {
	if len(b)-p >= 8 {
		if m := zeros(load(b, p) ^ (ones * '"')); m != 0 {
			return p + bits.TrailingZeros64(m)>>3
		}
		p += 8
	}
	if i := bytes.IndexByte(b[p:], '"'); i >= 0 {
		return p + i
	}
	return len(b)
}

// lastEnd returns where the last CR or LF is, or -1.
func lastEnd(b []byte) int {
	p := len(b)
	for ; p >= 8; p -= 8 {
		v := load(b, p-8)
		if zeros(v^(ones*'\n'))|zeros(v^(ones*'\r')) != 0 {
			break
		}
	}
	for p--; p >= 0; p-- {
		if b[p] == '\n' || b[p] == '\r' {
			break
		}
	}
	return p
}
