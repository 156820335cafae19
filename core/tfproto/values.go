package tfproto

import "encoding/binary"

// The tags in tf.train.Feature and in its lists, as they are on the wire.
const (
	tagMessage1 = 1<<3 | wireBytes // the first field, a message or bytes or packed numbers
	tagMessage2 = 2<<3 | wireBytes
	tagMessage3 = 3<<3 | wireBytes
	tagFloat    = 1<<3 | wire32 // a number that is not packed
	tagInt      = 1<<3 | wireVarint
)

// appendFeature appends the values of a tf.train.Feature to a column that wants them
// of a type. It returns the type that the feature has, 0 for none; then, or when that
// is another, the column is as it was. Of several types the last holds, and lists of
// the same type are one: the rules of protocol buffers.
func (c *Column) appendFeature(want Type, m cursor) (have Type, ok bool) {
	before := c.Count(want)
	if list, ok := sole(m.rest(), byte(want)<<3|wireBytes); ok {
		if packed, ok := sole(list, tagMessage1); ok && c.appendPacked(want, packed) {
			return want, true
		}
		c.cut(want, before)
	}
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return have, false
		}
		if tag != tagMessage1 && tag != tagMessage2 && tag != tagMessage3 {
			if !m.skip(tag) {
				return have, false
			}
			continue
		}
		list, ok := m.bytes()
		if !ok {
			return have, false
		}
		if now := Type(tag >> 3); now != have {
			c.cut(want, before)
			have = now
		}
		if have == want && !c.appendList(want, m.in(list)) {
			c.cut(want, before)
			return have, false
		}
	}
	return have, true
}

// appendList appends a tf.train.FloatList, Int64List or BytesList.
func (c *Column) appendList(t Type, m cursor) bool {
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return false
		}
		switch {
		case tag == tagMessage1:
			s, ok := m.bytes()
			if !ok || !c.appendPacked(t, m.b[s.from:s.to]) {
				return false
			}
		case tag == tagFloat && t == Float:
			v, ok := m.fixed32()
			if !ok {
				return false
			}
			c.Values = append(c.Values, v...)
		case tag == tagInt && t == Int64:
			v, ok := m.varint()
			if !ok {
				return false
			}
			c.Values = binary.LittleEndian.AppendUint64(c.Values, v)
		case tag>>3 == 1 || !m.skip(tag):
			return false
		}
	}
	return true
}

// appendPacked appends packed numbers, or one string.
func (c *Column) appendPacked(t Type, b []byte) (ok bool) {
	switch t {
	case Float:
		c.Values = append(c.Values, b...)
		return len(b)%4 == 0
	case Int64:
		c.Values, ok = appendVarints(c.Values, b)
		return ok
	}
	c.Values = append(c.Values, b...)
	c.Offsets = append(c.Offsets, int64(len(c.Values)))
	return true
}

// appendDefault appends the default of a feature.
func (c *Column) appendDefault(f *Feature) {
	if f.Type == Bytes {
		for i := range int(f.Size) {
			c.appendPacked(Bytes, f.Default.Text(i))
		}
		return
	}
	c.Values = append(c.Values, f.Default.Values...)
}
