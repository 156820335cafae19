package transform

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

func (z *indexedZip) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(z, s, pass, from)
}

func (z *indexedZip) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	p := &zipPass{indexedZip: z, known: z.spec.Known()}
	for _, d := range z.in {
		in, err := d.Open(s, pass)
		if err != nil {
			return nil, err
		}
		p.in = append(p.in, in)
	}
	return p, nil
}

type zipPass struct {
	*indexedZip
	in    []dataset.RandomAccess
	known bool // what shapes all elements have
}

func (p *zipPass) Fetch(index []int64, dst dataset.Sink) error {
	numbers := scratch.Get().(*[]int64)
	defer scratch.Put(numbers)
	if p.known {
		return p.inPlace(index, numbers, dst)
	}
	parts := make([]*block.Buffer, len(p.in))
	defer func() {
		for _, b := range parts {
			if b != nil {
				giveBack(b)
			}
		}
	}()
	for i, in := range p.in {
		parts[i] = borrow()
		*numbers = append((*numbers)[:0], index...)
		if err := in.Fetch(*numbers, parts[i]); err != nil {
			return err
		}
	}
	return p.join(parts, dst)
}

// inPlace has the inputs make their components in the place of the whole.
func (p *zipPass) inPlace(index []int64, numbers *[]int64, dst dataset.Sink) error {
	out, err := dst.Block(p.spec, int64(len(index)))
	if err != nil {
		return err
	}
	for i, in := range p.in {
		n := len(p.indexedZip.in[i].Spec().Components)
		*numbers = append((*numbers)[:0], index...)
		if err := in.Fetch(*numbers, &someColumns{columns: out.Columns[:n]}); err != nil {
			return err
		}
		out.Columns = out.Columns[n:]
	}
	return nil
}

// someColumns is a sink whose blocks are rows of columns that there are.
type someColumns struct {
	columns []block.Column
	rows    int64 // that were made
}

// Block implements dataset.Sink.
func (s *someColumns) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	out := block.Block{Rows: rows, Shapes: shapes, Columns: make([]block.Column, len(s.columns))}
	for i, c := range s.columns {
		if c.Text == nil {
			c.Data = c.Data[s.rows*c.RowBytes : (s.rows+rows)*c.RowBytes]
		}
		out.Columns[i] = c
	}
	s.rows += rows
	return out, nil
}

// join puts parts of equally many rows together, as many rows at a time as have equal
// shapes in all of them.
func (p *zipPass) join(parts []*block.Buffer, dst dataset.Sink) error {
	it := &zipIterator{zip: &p.zip, parts: make([]block.Block, len(parts))}
	next := make([]int, len(parts))
	for {
		rows := int64(-1)
		for i, buffer := range parts {
			if it.parts[i].Rows == 0 {
				if next[i] == len(buffer.Blocks()) {
					return nil
				}
				it.parts[i] = buffer.Blocks()[next[i]]
				next[i]++
			}
			if rows < 0 || it.parts[i].Rows < rows {
				rows = it.parts[i].Rows
			}
		}
		out, err := dst.Block(p.together(it.parts), rows)
		if err != nil {
			return err
		}
		it.copy(out, rows)
		for i, b := range it.parts {
			it.parts[i] = b.Slice(rows, b.Rows)
		}
	}
}
