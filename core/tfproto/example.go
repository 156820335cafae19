package tfproto

import (
	"fmt"
	"slices"
	"strings"

	"infeed/core/errs"
)

// Parser reads features out of serialized tf.train.Examples. Any number of
// goroutines may use it.
type Parser struct {
	features []Feature
	index    map[string]int
}

// NewParser returns a parser of features, which it keeps.
func NewParser(features []Feature) (*Parser, error) {
	if err := check(features); err != nil {
		return nil, err
	}
	return &Parser{features, indexOf(features)}, nil
}

func indexOf(features []Feature) map[string]int {
	index := make(map[string]int, len(features))
	for i, f := range features {
		index[f.Key] = i
	}
	return index
}

// Parse fills one column for each feature, in the order of the features, from the
// beginning and in the memory that they have. It returns how many examples the
// columns hold: all, or those before the one that the error is about.
func (p *Parser) Parse(in Serialized, columns []Column) (int, error) {
	for i := range p.features {
		columns[i].reset(&p.features[i], len(in.Starts))
	}
	k := newKeyed(p.index, len(p.features))
	for row, from := range in.Starts {
		m := cursor{in.Data[:in.Ends[row]], int(from)}
		problem := find(m, k, nil)
		if problem == nil {
			problem = appendRow(m, p.features, k, columns)
		}
		if problem != nil {
			for i := range p.features {
				columns[i].back(&p.features[i], row)
			}
			return row, problem.at("example", in.First+int64(row), m)
		}
	}
	return len(in.Starts), nil
}

// find notes where the features of an example are, and the feature lists of a
// sequence example.
func find(m cursor, features, lists *keyed) *problem {
	features.reset()
	if lists != nil {
		lists.reset()
	}
	for m.more() {
		k := features
		tag, ok := m.tag()
		if tag == tagMessage2 {
			k = lists
		}
		if ok && k != nil && (tag == tagMessage1 || tag == tagMessage2) {
			var s span
			if s, ok = m.bytes(); ok {
				c := m.in(s)
				if ok = k.entries(&c); !ok {
					m.pos = c.pos
				}
			}
		} else if ok {
			ok = m.skip(tag)
		}
		if !ok {
			return &problem{broken: true, pos: m.pos}
		}
	}
	return nil
}

// appendRow appends the features that were found to the columns.
func appendRow(m cursor, features []Feature, k *keyed, columns []Column) *problem {
	for i := range features {
		f, c := &features[i], &columns[i]
		before := c.count(f.Type)
		var have Type
		if s := k.found[i]; s.from >= 0 {
			var ok bool
			if have, ok = c.appendFeature(f.Type, m.in(s)); !ok {
				return &problem{feature: f, broken: true, pos: s.from}
			}
		}
		if have != f.Type && have != 0 {
			return &problem{feature: f, have: have}
		}
		n := c.count(f.Type) - before
		switch {
		case f.Shape == Fixed && have == 0 && f.Default != nil:
			c.appendDefault(f)
		case f.Shape == Fixed && have == 0:
			return &problem{feature: f, absent: true}
		case f.Shape == Fixed && n != f.Size:
			return &problem{feature: f, count: n}
		case f.Shape == Var:
			c.Splits = append(c.Splits, c.count(f.Type))
		case f.Shape == Sequence && n%f.Size != 0:
			return &problem{feature: f, count: n}
		case f.Shape == Sequence:
			c.Splits = append(c.Splits, c.count(f.Type)/f.Size)
		}
	}
	return nil
}

// back takes off what comes after the first rows of a column.
func (c *Column) back(f *Feature, rows int) {
	switch f.Shape {
	case Fixed:
		c.cut(f.Type, int64(rows)*f.Size)
	case Var:
		c.Splits = c.Splits[:rows+1]
		c.cut(f.Type, c.Splits[rows])
	case Sequence:
		c.Splits = c.Splits[:rows+1]
		c.cut(f.Type, c.Splits[rows]*f.Size)
	}
}

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

// problem is what is wrong with an example.
type problem struct {
	feature *Feature
	list    bool  // the feature is a feature list
	step    int64 // of a list; -1 where it is not about one
	broken  bool  // at pos, the message cannot be read
	pos     int
	absent  bool
	have    Type  // another type
	count   int64 // a wrong number of values
}

// at returns the error: which message it is about, and what else that has.
func (p *problem) at(what string, number int64, m cursor) error {
	start := m.pos
	text := fmt.Sprintf("%s %d", what, number)
	if p.feature != nil {
		kind := "feature"
		if p.list {
			kind = "feature list"
		}
		text += fmt.Sprintf(": %s %q", kind, p.feature.Key)
		if p.list && p.step >= 0 {
			text += fmt.Sprintf(", step %d", p.step)
		}
	}
	switch f := p.feature; {
	case p.broken:
		text += fmt.Sprintf(" cannot be read: what is at byte %d of its %d is cut, corrupt, or no tf.train.%s", p.pos-start, len(m.b)-start, map[string]string{"example": "Example", "sequence example": "SequenceExample"}[what])
	case p.absent:
		text += fmt.Sprintf(" (%v) is required, and is not there; %s", f.Type, present(m, p.list, what))
	case p.have != 0:
		text += fmt.Sprintf(" has %v values; %v was asked for", p.have, f.Type)
	case f.Shape == Fixed || p.list:
		text += fmt.Sprintf(" has %d values; its shape asks for %d", p.count, f.Size)
	default:
		text += fmt.Sprintf(" has %d values, no multiple of the %d that its shape asks for", p.count, f.Size)
	}
	return errs.New(errs.InvalidArgument, "parse_"+strings.ReplaceAll(what, " ", "_"), "%s", text)
}

// present lists the keys that a message has, some of them where there are many.
func present(m cursor, lists bool, what string) string {
	const most = 10
	var keys []string
	outer := uint64(tagMessage1)
	if lists {
		outer = tagMessage2
	}
	each(m, outer, func(features cursor) {
		each(features, tagMessage1, func(e cursor) {
			if key, _, ok := entry(&e); ok {
				keys = append(keys, fmt.Sprintf("%.40q", e.b[key.from:key.to]))
			}
		})
	})
	slices.Sort(keys)
	keys = slices.Compact(keys)
	switch {
	case len(keys) == 0:
		return "the " + what + " has none at all"
	case len(keys) > most:
		return fmt.Sprintf("the %s has %s and %d more", what, strings.Join(keys[:most], ", "), len(keys)-most)
	}
	return "the " + what + " has " + strings.Join(keys, ", ")
}

// each calls f for the messages in a field.
func each(m cursor, field uint64, f func(cursor)) {
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return
		}
		if tag == field {
			s, ok := m.bytes()
			if !ok {
				return
			}
			f(m.in(s))
		} else if !m.skip(tag) {
			return
		}
	}
}
