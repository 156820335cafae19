package tfproto

// keyed finds the values of wanted keys in a map on the wire: a message whose field
// 1, repeated, has a key in field 1 and a message in field 2.
type keyed struct {
	index map[string]int
	found []span // by feature; from is -1 where there is none
	// empty lets an empty message count: no value is no feature, but a list of no
	// steps is a list.
	empty bool
	// guess is which keys came in which place before: writers keep to an order.
	guess []guess
}

type guess struct {
	key     []byte
	known   bool
	feature int // -1: not wanted
}

func newKeyed(index map[string]int, n int) *keyed {
	return &keyed{index: index, found: make([]span, n)}
}

func (k *keyed) reset() {
	for i := range k.found {
		k.found[i].from = -1
	}
}

// entries notes where the values of wanted keys are, the last of each.
func (k *keyed) entries(m *cursor) bool {
	for place := 0; m.more(); place++ {
		tag, ok := m.tag()
		if !ok {
			return false
		}
		if tag != tagMessage1 {
			if !m.skip(tag) {
				return false
			}
			continue
		}
		s, ok := m.bytes()
		if !ok {
			return false
		}
		e := m.in(s)
		key, value, ok := entry(&e)
		if !ok {
			m.pos = e.pos
			return false
		}
		if value.from == value.to && !k.empty {
			continue
		}
		if f := k.feature(place, m.b[key.from:key.to]); f >= 0 {
			k.found[f] = value
		}
	}
	return true
}

// entry reads an entry of a map. A value that comes in two parts is not put together.
func entry(e *cursor) (key, value span, ok bool) {
	if key, value, ok = plainEntry(e.b, e.pos); ok {
		return key, value, true
	}
	values := 0
	key, value = span{}, span{}
	for e.more() {
		tag, ok := e.tag()
		switch {
		case ok && tag == tagMessage1:
			key, ok = e.bytes()
		case ok && tag == tagMessage2:
			value, ok = e.bytes()
			values++
		case ok:
			ok = e.skip(tag)
		}
		if !ok {
			return key, value, false
		}
	}
	return key, value, values <= 1
}

// plainEntry reads the entries that writers make: key, value and nothing else.
func plainEntry(b []byte, pos int) (key, value span, ok bool) {
	if len(b)-pos < 4 || b[pos] != tagMessage1 {
		return
	}
	n, size := small(b[pos+1:])
	key.from = pos + 1 + size
	key.to = key.from + n
	if size == 0 || key.to >= len(b) || b[key.to] != tagMessage2 {
		return
	}
	n, size = small(b[key.to+1:])
	value.from = key.to + 1 + size
	value.to = value.from + n
	return key, value, size > 0 && value.to == len(b)
}

// feature returns which feature has a key, -1 for none.
func (k *keyed) feature(place int, key []byte) int {
	const places = 256
	if place < len(k.guess) {
		if g := &k.guess[place]; g.known && string(g.key) == string(key) {
			return g.feature
		}
	}
	f, wanted := k.index[string(key)]
	if !wanted {
		f = -1
	}
	if k.guess == nil {
		k.guess = make([]guess, min(4*len(k.index)+16, places))
	}
	if place < len(k.guess) {
		k.guess[place] = guess{key, true, f}
	}
	return f
}
