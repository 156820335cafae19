package transform

import (
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type zip struct {
	in   []dataset.Definition
	spec *spec.Element
}

type indexedZip struct {
	zip
	in []dataset.Indexed
}

// Zip returns elements put together of one of each input, until the shortest ends.
// structure nests them: its leaves stand for the inputs, in order.
func Zip(structure spec.Structure, in ...dataset.Definition) (dataset.Definition, error) {
	if len(in) == 0 || structure.Leaves() != len(in) {
		return nil, errs.New(errs.InvalidArgument, "zip", "%d datasets for %d places; give at least one, and one for each place", len(in), structure.Leaves())
	}
	z := zip{in: in, spec: &spec.Element{}}
	rest := in
	z.spec.Structure = nest(structure, &rest)
	all := &indexedZip{zip: z}
	for _, d := range in {
		z.spec.Components = append(z.spec.Components, d.Spec().Components...)
		if indexed, ok := d.(dataset.Indexed); ok {
			all.in = append(all.in, indexed)
		}
	}
	if len(all.in) == len(in) {
		return all, nil
	}
	return &z, nil
}

// nest puts the structures of datasets in the place of leaves.
func nest(s spec.Structure, in *[]dataset.Definition) spec.Structure {
	if s.Kind == spec.Leaf {
		inner := (*in)[0].Spec().Structure
		*in = (*in)[1:]
		return inner
	}
	out := s
	out.Items = make([]spec.Structure, len(s.Items))
	for i, item := range s.Items {
		out.Items[i] = nest(item, in)
	}
	return out
}

func (z *zip) Spec() *spec.Element { return z.spec }

// Cardinality is that of the shortest input. It is unknown when one is unknown, unless
// one has no elements at all.
func (z *zip) Cardinality() int64 {
	shortest := dataset.Infinite
	for _, d := range z.in {
		switch n := d.Cardinality(); {
		case n == dataset.Unknown:
			return n
		case n >= 0 && (shortest < 0 || n < shortest):
			shortest = n
		}
	}
	return shortest
}

// together are shapes of parts put together to those of the whole.
func (z *zip) together(parts []block.Block) *spec.Element {
	out := &spec.Element{Structure: z.spec.Structure}
	for _, p := range parts {
		out.Components = append(out.Components, p.Shapes.Components...)
	}
	return out
}

func (z *zip) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("zip", 1)
	if err != nil {
		return nil, err
	}
	it := &zipIterator{zip: z, parts: make([]block.Block, len(z.in)), ended: at[0] != 0}
	for i, d := range z.in {
		before, err := from.Input("zip", i)
		if err != nil {
			return nil, err
		}
		c, err := dataset.NewCursor("zip", before, func(from *dataset.Token) (dataset.Iterator, error) { return d.Iterate(s, pass, from) })
		if err != nil {
			return nil, err
		}
		it.in = append(it.in, c)
	}
	return it, nil
}

type zipIterator struct {
	*zip
	in    []*dataset.Cursor
	ended bool
	parts []block.Block
}

func (it *zipIterator) Token() *dataset.Token {
	t := dataset.At(0)
	if it.ended {
		t.At[0] = 1
	}
	for _, c := range it.in {
		t.In = append(t.In, c.Token())
	}
	return t
}

// Next makes as many elements as all inputs have at hand. Where some fail, all of
// them go on by one element, so that they stay together.
func (it *zipIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.ended {
		return 0, io.EOF
	}
	n := limit
	var failed error
	for i, c := range it.in {
		b, err := c.Peek(n)
		it.parts[i] = b
		if err != nil {
			if isEnd(err) {
				it.ended = true
				return 0, io.EOF
			}
			if failed == nil {
				failed = err
			}
			continue
		}
		n = min(n, b.Rows)
	}
	if failed != nil {
		for i, c := range it.in {
			if it.parts[i].Rows > 0 {
				c.Take(1)
			}
		}
		return 0, failed
	}
	out, err := dst.Block(it.together(it.parts), n)
	if err != nil {
		return 0, err
	}
	it.copy(out, n)
	for _, c := range it.in {
		c.Take(n)
	}
	return n, nil
}

// copy makes n rows out of those of the parts.
func (it *zipIterator) copy(out block.Block, n int64) {
	for _, p := range it.parts {
		if n < p.Rows {
			p = p.Slice(0, n)
		}
		part := block.Block{Rows: n, Shapes: p.Shapes, Columns: out.Columns[:len(p.Columns)]}
		part.Copy(0, p)
		out.Columns = out.Columns[len(p.Columns):]
	}
}
