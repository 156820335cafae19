package tfproto

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
	return p.parse(in, columns, false)
}

// ParseAlike is Parse, but stops before the first example that has another number of
// values, or steps, of a feature than the first example has.
func (p *Parser) ParseAlike(in Serialized, columns []Column) (int, error) {
	return p.parse(in, columns, true)
}

func (p *Parser) parse(in Serialized, columns []Column, alike bool) (int, error) {
	for i := range p.features {
		columns[i].reset(&p.features[i], len(in.Starts))
	}
	k := newKeyed(p.index, len(p.features))
	for row, from := range in.Starts {
		m := cursor{in.Data[:in.Ends[row]], int(from)}
		var problem *problem
		if k.reset(); !k.plain(m.b, m.pos) {
			problem = find(m, k, nil)
		}
		if problem == nil {
			problem = appendRow(m, p.features, k, columns)
		}
		if problem == nil && (!alike || same(columns, row)) {
			continue
		}
		for i := range p.features {
			columns[i].back(&p.features[i], row)
		}
		if problem != nil {
			return row, problem.at("example", in.First, row, m)
		}
		return row, nil
	}
	return len(in.Starts), nil
}

// same tells whether a row has as many values, or steps, as the first.
func same(columns []Column, row int) bool {
	for i := range columns {
		if s := columns[i].Splits; len(s) > 0 && s[row+1]-s[row] != s[1] {
			return false
		}
	}
	return true
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
		f, c, s := &features[i], &columns[i], k.found[i]
		if f.Shape == Fixed && s.from >= 0 && c.appendPlain(f, m.b[s.from:s.to]) {
			continue
		}
		before := c.Count(f.Type)
		var have Type
		if s.from >= 0 {
			if f.Shape == Fixed {
				if n, yes := f.tooMany(m.in(s)); yes {
					return &problem{feature: f, count: n}
				}
			}
			var ok bool
			if have, ok = c.appendFeature(f.Type, m.in(s)); !ok {
				return &problem{feature: f, broken: true, pos: s.from}
			}
		}
		if have != f.Type && have != 0 {
			return &problem{feature: f, have: have}
		}
		n := c.Count(f.Type) - before
		switch {
		case f.Shape == Fixed && have == 0 && f.Default != nil:
			c.appendDefault(f)
		case f.Shape == Fixed && have == 0:
			return &problem{feature: f, absent: true}
		case f.Shape == Fixed && n != f.Size:
			return &problem{feature: f, count: n}
		case f.Shape == Var:
			c.Splits = append(c.Splits, c.Count(f.Type))
		case f.Shape == Sequence && n%f.Size != 0:
			return &problem{feature: f, count: n}
		case f.Shape == Sequence:
			c.Splits = append(c.Splits, c.Count(f.Type)/f.Size)
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
