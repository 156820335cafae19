package tfproto

// countedBefore is how many bytes a feature has whose values are counted before they are
// read: where there are too many, they would take time and memory for nothing.
const countedBefore = 64 << 10

// tooMany returns how many values a feature has, where it is large and they are not the
// number that a shape asks for.
func (f *Feature) tooMany(m cursor) (n int64, yes bool) {
	if len(m.b)-m.pos < countedBefore {
		return 0, false
	}
	n, have, ok := countFeature(f.Type, m)
	return n, ok && have == f.Type && n != f.Size
}

// countFeature returns how many values appendFeature would append.
func countFeature(want Type, m cursor) (n int64, have Type, ok bool) {
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return n, have, false
		}
		if tag != tagMessage1 && tag != tagMessage2 && tag != tagMessage3 {
			if !m.skip(tag) {
				return n, have, false
			}
			continue
		}
		list, ok := m.bytes()
		if !ok {
			return n, have, false
		}
		if now := Type(tag >> 3); now != have {
			n, have = 0, now
		}
		if have == want {
			more, ok := countList(want, m.in(list))
			if n += more; !ok {
				return n, have, false
			}
		}
	}
	return n, have, true
}

// countList returns how many values appendList would append.
func countList(t Type, m cursor) (n int64, ok bool) {
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return n, false
		}
		switch {
		case tag == tagMessage1:
			s, ok := m.bytes()
			if !ok {
				return n, false
			}
			more, ok := countPacked(t, m.b[s.from:s.to])
			if n += more; !ok {
				return n, false
			}
		case tag == tagFloat && t == Float, tag == tagInt && t == Int64:
			if !m.skip(tag) {
				return n, false
			}
			n++
		case tag>>3 == 1 || !m.skip(tag):
			return n, false
		}
	}
	return n, true
}

// countPacked returns how many values appendPacked would append.
func countPacked(t Type, b []byte) (n int64, ok bool) {
	switch t {
	case Bytes:
		return 1, true
	case Float:
		return int64(len(b) / 4), len(b)%4 == 0
	}
	length := 0
	for _, x := range b {
		if length++; length > 10 {
			return n, false
		}
		if x < 0x80 {
			n++
			length = 0
		}
	}
	return n, length == 0
}
