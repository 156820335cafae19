package snapshot

import (
	"encoding/binary"
	"slices"

	"github.com/klauspost/compress/s2"
)

// A plane is byte k of all values of a piece. s2 takes what is equal for long, or not at
// all, many times faster than what it takes in short steps, such as the exponents of
// floats. So those planes are stored as they are, where the others save half of the piece.
const (
	sampleBytes = 8 << 10 // of a plane, on which it is judged
	shortStep   = 16      // bytes, on average
	leastPlane  = 4 * sampleBytes
)

// packPlanes compresses values of width bytes, whose bytes are apart, with s2: a block
// for each run of planes, which are one together.
func packPlanes(dst, apart []byte, width int) []byte {
	n := len(apart) / width
	if width < 2 || n < leastPlane {
		return appendWhole(dst[:0], apart)
	}
	asIs := slowPlanes(apart, n, width)
	dst = binary.AppendUvarint(dst[:0], uint64(len(apart)))
	for k := 0; k < width; {
		end := k + 1
		for end < width && asIs[end] == asIs[k] {
			end++
		}
		run := apart[k*n : end*n]
		if end == width { // and what is behind the last whole value
			run = apart[k*n:]
		}
		if asIs[k] {
			dst = appendLiteral(dst, run)
		} else {
			dst = appendBlock(dst, run)
		}
		k = end
	}
	return dst
}

// slowPlanes tells which planes are to be stored as they are.
func slowPlanes(apart []byte, n, width int) []bool {
	slow := make([]bool, width)
	var scratch [sampleBytes + sampleBytes/4]byte
	stored := 0
	for k := range width {
		at := k*n + (n-sampleBytes)/2
		packed := s2.Encode(scratch[:], apart[at:at+sampleBytes])
		if slow[k] = sampleBytes/steps(packed) < shortStep; slow[k] {
			stored += n
		} else {
			stored += n / sampleBytes * min(len(packed), sampleBytes)
		}
	}
	if stored > len(apart)*11/20 {
		clear(slow)
	}
	return slow
}

// steps returns how many literals and copies a block of s2 has.
func steps(packed []byte) int {
	_, at := binary.Uvarint(packed)
	count := 0
	for ; at < len(packed); count++ {
		tag := int(packed[at])
		switch tag & 3 {
		case 0:
			size, more := tag>>2, max(tag>>2-59, 0)
			if more > 0 {
				size = 0
				for i := range more {
					size |= int(packed[at+1+i]) << (8 * i)
				}
			}
			at += 1 + more + size + 1
		case 1:
			more := 0
			if tag>>5 == 0 && packed[at+1] == 0 { // as far back as before
				more = max(tag>>2-4, 0)
			}
			at += 2 + more
		case 2:
			at += 3
		case 3:
			at += 5
		}
	}
	if at != len(packed) {
		return 1 // no block that is known
	}
	return max(count, 1)
}

// appendWhole adds a block of s2.
func appendWhole(dst, b []byte) []byte {
	dst = roomFor(dst, len(b))
	return append(dst, s2.Encode(dst[len(dst):cap(dst)], b)...)
}

// appendLiteral adds bytes as a block of s2 has them, without its head.
func appendLiteral(dst, b []byte) []byte {
	dst = append(dst, 63<<2)
	dst = le.AppendUint32(dst, uint32(len(b)-1))
	return append(dst, b...)
}

// appendBlock adds a block of s2 without its head, the size.
func appendBlock(dst, b []byte) []byte {
	at := len(dst)
	dst = appendWhole(dst, b)
	_, head := binary.Uvarint(dst[at:])
	return append(dst[:at], dst[at+head:]...)
}

// roomFor makes room for a block of s2 of n bytes.
func roomFor(dst []byte, n int) []byte { return slices.Grow(dst, s2.MaxEncodedLen(n)) }
