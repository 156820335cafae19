package tfproto

// Examples as writers make them: one map and nothing else, each entry of which is a key
// and a value, each value one list, packed. What is otherwise goes the general way, which
// gives the same.

// plain is entries for an Example of that form, which is b from pos on. It returns false
// for others, and has noted nothing that counts then.
func (k *keyed) plain(b []byte, pos int) bool {
	if len(b)-pos < 2 || b[pos] != tagMessage1 {
		return false
	}
	n, size := small(b[pos+1:])
	if pos += 1 + size; size == 0 || n != len(b)-pos {
		return false
	}
	for place := 0; pos < len(b); place++ {
		if b[pos] != tagMessage1 {
			return false
		}
		n, size := small(b[pos+1:])
		pos += 1 + size
		if size == 0 || n > len(b)-pos {
			return false
		}
		e := b[pos : pos+n]
		if len(e) < 4 || e[0] != tagMessage1 || e[1] >= 0x80 {
			return false
		}
		to := 2 + int(e[1]) // of the key
		if to+2 > len(e) || e[to] != tagMessage2 {
			return false
		}
		m, size := small(e[to+1:])
		from := to + 1 + size // of the value
		if size == 0 || m == 0 || from+m != len(e) {
			return false
		}
		f, key := 0, e[2:to]
		if place < len(k.guess) && k.guess[place].known && string(k.guess[place].key) == string(key) {
			f = k.guess[place].feature
		} else {
			f = k.feature(place, key)
		}
		if f >= 0 {
			k.found[f] = span{pos + from, pos + n}
		}
		pos += n
	}
	return true
}

// appendPlain appends the Size values of a Fixed feature, where it is one packed list of
// them. It returns false, and appends nothing, where it is something else.
func (c *Column) appendPlain(f *Feature, b []byte) bool {
	list, ok := sole(b, byte(f.Type)<<3|wireBytes)
	if !ok {
		return false
	}
	packed, ok := sole(list, tagMessage1)
	if !ok {
		return false
	}
	switch f.Type {
	case Float:
		if int64(len(packed)) != 4*f.Size {
			return false
		}
		c.Values = append(c.Values, packed...)
	case Bytes:
		if f.Size != 1 {
			return false
		}
		c.Values = append(c.Values, packed...)
		c.Offsets = append(c.Offsets, int64(len(c.Values)))
	default:
		before := len(c.Values)
		if c.Values, ok = appendVarints(c.Values, packed); !ok || int64(len(c.Values)-before) != 8*f.Size {
			c.Values = c.Values[:before]
			return false
		}
	}
	return true
}
