package tfproto

import "infeed/core/errs"

// SequenceParser reads features out of serialized tf.train.SequenceExamples: those
// of the context, as of an example, and feature lists, which are Var or Sequence and
// have one value, or Size of them, in each step. Any number of goroutines may use it.
type SequenceParser struct {
	context, lists           []Feature
	contextIndex, listsIndex map[string]int
}

// NewSequenceParser returns a parser of features, which it keeps.
func NewSequenceParser(context, lists []Feature) (*SequenceParser, error) {
	for _, features := range [][]Feature{context, lists} {
		if err := check(features); err != nil {
			return nil, err
		}
	}
	for _, f := range lists {
		if f.Shape == Fixed {
			return nil, errs.New(errs.InvalidArgument, "parse_sequence_example", "feature list %q has any number of steps, and cannot be of a fixed length", f.Key)
		}
	}
	return &SequenceParser{context, lists, indexOf(context), indexOf(lists)}, nil
}

// Parse fills columns for the features of the context and for the lists, as
// [Parser.Parse] does.
func (p *SequenceParser) Parse(in Serialized, context, lists []Column) (int, error) {
	for i := range p.context {
		context[i].reset(&p.context[i], len(in.Starts))
	}
	for i := range p.lists {
		lists[i].reset(&p.lists[i], len(in.Starts))
		if p.lists[i].Shape == Var {
			lists[i].Steps = append(lists[i].Steps, 0)
		}
	}
	inContext, inLists := newKeyed(p.contextIndex, len(p.context)), newKeyed(p.listsIndex, len(p.lists))
	inLists.empty = true
	for row, from := range in.Starts {
		m := cursor{in.Data[:in.Ends[row]], int(from)}
		problem := find(m, inContext, inLists)
		if problem == nil {
			problem = appendRow(m, p.context, inContext, context)
		}
		if problem == nil {
			problem = p.appendLists(m, inLists, lists)
		}
		if problem != nil {
			p.back(row, context, lists)
			return row, problem.at("sequence example", in.First, row, m)
		}
	}
	return len(in.Starts), nil
}

// appendLists appends the feature lists that were found to the columns.
func (p *SequenceParser) appendLists(m cursor, k *keyed, columns []Column) *problem {
	for i := range p.lists {
		f, c := &p.lists[i], &columns[i]
		s := k.found[i]
		if s.from < 0 && f.Required {
			return &problem{feature: f, list: true, step: -1, absent: true}
		}
		steps := int64(0)
		if s.from >= 0 {
			var bad *problem
			if steps, bad = c.appendSteps(f, m.in(s)); bad != nil {
				return bad
			}
		}
		c.Splits = append(c.Splits, c.Splits[len(c.Splits)-1]+steps)
	}
	return nil
}

// appendSteps appends the steps of a tf.train.FeatureList.
func (c *Column) appendSteps(f *Feature, m cursor) (steps int64, bad *problem) {
	broken := func() *problem { return &problem{feature: f, list: true, step: steps, broken: true, pos: m.pos} }
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return steps, broken()
		}
		if tag != tagMessage1 {
			if !m.skip(tag) {
				return steps, broken()
			}
			continue
		}
		s, ok := m.bytes()
		if !ok {
			return steps, broken()
		}
		if f.Shape != Var {
			if n, yes := f.tooMany(m.in(s)); yes {
				return steps, &problem{feature: f, list: true, step: steps, count: n}
			}
		}
		before := c.Count(f.Type)
		have, ok := c.appendFeature(f.Type, m.in(s))
		if !ok {
			m.pos = s.from
			return steps, broken()
		}
		if have != f.Type && have != 0 {
			return steps, &problem{feature: f, list: true, step: steps, have: have}
		}
		if f.Shape == Var {
			c.Steps = append(c.Steps, c.Count(f.Type))
		} else if n := c.Count(f.Type) - before; n != f.Size {
			return steps, &problem{feature: f, list: true, step: steps, count: n}
		}
		steps++
	}
	return steps, nil
}

// back takes off what comes after the first rows.
func (p *SequenceParser) back(rows int, context, lists []Column) {
	for i := range p.context {
		context[i].back(&p.context[i], rows)
	}
	for i := range p.lists {
		f, c := &p.lists[i], &lists[i]
		c.Splits = c.Splits[:rows+1]
		steps := c.Splits[rows]
		if f.Shape == Var {
			c.Steps = c.Steps[:steps+1]
			c.cut(f.Type, c.Steps[steps])
		} else {
			c.cut(f.Type, steps*f.Size)
		}
	}
}
