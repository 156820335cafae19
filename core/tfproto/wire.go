package tfproto

import "encoding/binary"

// The wire types of protocol buffers.
const (
	wireVarint  = 0
	wire64      = 1
	wireBytes   = 2
	wireGroup   = 3
	wireGroupTo = 4
	wire32      = 5
)

// maxGroups is how deep unknown groups may be nested.
const maxGroups = 100

// cursor reads the fields of a message, which is b from pos to its end.
type cursor struct {
	b   []byte
	pos int
}

func (c *cursor) more() bool { return c.pos < len(c.b) }

func (c *cursor) rest() []byte { return c.b[c.pos:] }

// varint reads a number in base 128. Bits beyond the 64th are dropped, as by
// Google's parsers; an eleventh byte is not accepted.
func (c *cursor) varint() (v uint64, ok bool) {
	if c.pos < len(c.b) && c.b[c.pos] < 0x80 {
		v = uint64(c.b[c.pos])
		c.pos++
		return v, true
	}
	return c.longVarint()
}

func (c *cursor) longVarint() (v uint64, ok bool) {
	for i := 0; i < 10 && c.pos < len(c.b); i++ {
		x := c.b[c.pos]
		c.pos++
		v |= uint64(x&0x7f) << (7 * i)
		if x < 0x80 {
			return v, true
		}
	}
	return 0, false
}

// tag reads what begins a field: its number, times 8, and its wire type.
func (c *cursor) tag() (uint64, bool) {
	t, ok := c.varint()
	return t, ok && t>>3 != 0 && t < 1<<32
}

// span is a part of b.
type span struct{ from, to int }

// bytes reads a field of wireBytes after its tag.
func (c *cursor) bytes() (span, bool) {
	n, ok := c.varint()
	if !ok || n > uint64(len(c.b)-c.pos) {
		return span{}, false
	}
	s := span{c.pos, c.pos + int(n)}
	c.pos = s.to
	return s, true
}

// small reads a number of one or two bytes, which most lengths are, and returns how
// many they are; 0 when there are more. Unlike varint it costs no call.
func small(b []byte) (n, size int) {
	if len(b) > 0 && b[0] < 0x80 {
		return int(b[0]), 1
	}
	if len(b) > 1 && b[1] < 0x80 {
		return int(b[0]&0x7f) | int(b[1])<<7, 2
	}
	return 0, 0
}

// sole returns what is in a message that is a single field of wireBytes.
func sole(b []byte, tag byte) (payload []byte, ok bool) {
	if len(b) < 2 || b[0] != tag {
		return nil, false
	}
	n, size := small(b[1:])
	return b[1+size:], size > 0 && n == len(b)-1-size
}

// in returns a cursor for a part of the same memory.
func (c *cursor) in(s span) cursor { return cursor{c.b[:s.to], s.from} }

// skip passes a field after its tag.
func (c *cursor) skip(tag uint64) bool {
	depth := 0
	for {
		switch tag & 7 {
		case wireVarint:
			if _, ok := c.varint(); !ok {
				return false
			}
		case wire64, wire32:
			n := 8
			if tag&7 == wire32 {
				n = 4
			}
			if len(c.b)-c.pos < n {
				return false
			}
			c.pos += n
		case wireBytes:
			if _, ok := c.bytes(); !ok {
				return false
			}
		case wireGroup:
			if depth++; depth > maxGroups {
				return false
			}
		case wireGroupTo:
			if depth--; depth < 0 {
				return false
			}
		default:
			return false
		}
		if depth == 0 {
			return true
		}
		var ok bool
		if tag, ok = c.tag(); !ok {
			return false
		}
	}
}

// fixed32 reads a field of wire32 after its tag.
func (c *cursor) fixed32() ([]byte, bool) {
	if len(c.b)-c.pos < 4 {
		return nil, false
	}
	c.pos += 4
	return c.b[c.pos-4 : c.pos], true
}

// appendVarints appends packed numbers as 8 bytes each.
func appendVarints(dst, packed []byte) ([]byte, bool) {
	c := cursor{b: packed}
	for c.more() {
		v, ok := c.varint()
		if !ok {
			return dst, false
		}
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst, true
}
