package transform

import (
	"encoding/binary"
	"math"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// early is the error of a state that is after more elements than there are.
func early(op string, want, have int64) error {
	return errs.New(errs.StateMismatch, op, "its state is after %d elements; the input has %d", want, have)
}

// appendBlock appends a block as bytes: the number of rows, and for each component its
// shape and the bytes of all rows, or of each string its length and bytes.
func appendBlock(to []byte, b block.Block) []byte {
	to = binary.AppendUvarint(to, uint64(b.Rows))
	for i, c := range b.Columns {
		for _, d := range b.Shapes.Components[i].Shape {
			to = binary.AppendUvarint(to, uint64(d))
		}
		if c.Text == nil {
			to = append(to, c.Data...)
			continue
		}
		for k := range c.Text.Len() {
			text := c.Text.At(k)
			to = binary.AppendUvarint(to, uint64(len(text)))
			to = append(to, text...)
		}
	}
	return to
}

// blockReader reads what appendBlock wrote.
type blockReader struct {
	b   []byte
	bad bool
}

func (r *blockReader) number() int64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 || n > math.MaxInt32<<16 {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return int64(n)
}

func (r *blockReader) bytes(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.bad = true
		return nil
	}
	out := r.b[:n:n]
	r.b = r.b[n:]
	return out
}

// readBlock returns the next block of elements like those described, in the memory of
// the bytes; what is left of them comes with it.
func readBlock(op string, e *spec.Element, b []byte) (block.Block, []byte, error) {
	r := &blockReader{b: b}
	out := block.Block{Rows: r.number(), Shapes: &spec.Element{Structure: e.Structure}}
	for _, c := range e.Components {
		shape := make([]int64, len(c.Shape))
		for d := range shape {
			shape[d] = r.number()
			r.bad = r.bad || c.Shape[d] >= 0 && c.Shape[d] != shape[d]
		}
		c.Shape = shape
		out.Shapes.Components = append(out.Shapes.Components, c)
		column := r.column(c, out.Rows)
		if r.bad {
			return out, nil, errs.New(errs.StateMismatch, op, "its state holds no %v", e)
		}
		out.Columns = append(out.Columns, column)
	}
	return out, r.b, nil
}

// column reads the values of a component, all dimensions of which are known.
func (r *blockReader) column(c spec.Component, rows int64) block.Column {
	if c.IsText() {
		c.DType.Size = 1 // a string takes a byte at least
	}
	size, ok := c.Bytes()
	if !ok || size > 0 && rows > int64(len(r.b))/size {
		r.bad = true
		return block.Column{}
	}
	if c.DType.Kind != 'O' {
		return block.Column{Data: r.bytes(rows * size), RowBytes: size}
	}
	t := &block.Text{Data: r.b}
	all := int64(len(r.b))
	for range rows * size {
		n := r.number()
		start := all - int64(len(r.b))
		r.bytes(n)
		t.Starts, t.Ends = append(t.Starts, start), append(t.Ends, start+n)
		if r.bad {
			break
		}
	}
	return block.Column{Text: t}
}

// ownBlock returns a copy of a block.
func ownBlock(b block.Block) (block.Block, error) {
	var own block.Buffer
	out, err := own.Block(b.Shapes, b.Rows)
	if err == nil {
		out.Copy(0, b)
	}
	return out, err
}

// folder runs a program on a state and one element after the other. The state is the
// first components of the results.
type folder struct {
	running
	op      string
	states  int // components of the state
	state   block.Block
	results [2]oneRow // the state lies in one of them, but for the first
	which   int

	shapes, fromState, fromElement *spec.Element // of the last input
	columns                        []block.Column
	texts                          []block.Text
}

// step runs the program on row r of a block. It returns the result; the state is the
// new one.
func (f *folder) step(b block.Block, r, number int64) (block.Block, error) {
	f.input(b, r)
	into := &f.results[f.which]
	into.rows = 0
	in := block.Block{Rows: 1, Shapes: f.shapes, Columns: f.columns}
	if _, err := f.program.Run(f.scope, in, dataset.Chance{Key: f.key, First: number}, into); err != nil {
		return block.Block{}, err
	}
	if into.rows != 1 {
		return block.Block{}, errs.New(errs.Internal, f.op, "%d results for an element", into.rows)
	}
	out := into.block
	f.which = 1 - f.which
	f.state.Columns = out.Columns[:f.states]
	if !sameComponents(f.state.Shapes.Components, out.Shapes.Components[:f.states]) {
		f.state.Shapes = &spec.Element{Structure: f.state.Shapes.Structure, Components: out.Shapes.Components[:f.states]}
	}
	return out, nil
}

// oneRow is a sink for one row, which is used over and over.
type oneRow struct {
	buffer block.Buffer
	shapes *spec.Element
	block  block.Block
	rows   int64 // that were wanted
}

// Block implements dataset.Sink.
func (s *oneRow) Block(shapes *spec.Element, rows int64) (_ block.Block, err error) {
	s.rows += rows
	if shapes == s.shapes && s.rows == 1 {
		for _, c := range s.block.Columns {
			if c.Text != nil {
				c.Text.Reset()
			}
		}
		return s.block, nil
	}
	s.buffer.Reset()
	if s.block, err = s.buffer.Block(shapes, rows); err == nil && rows == 1 {
		s.shapes = shapes
	} else {
		s.shapes = nil
	}
	return s.block, err
}

func sameComponents(a, b []spec.Component) bool {
	return (&spec.Element{Components: a}).Same(&spec.Element{Components: b})
}

// input puts the state and row r of a block together.
func (f *folder) input(b block.Block, r int64) {
	if f.fromState != f.state.Shapes || f.fromElement != b.Shapes {
		f.fromState, f.fromElement = f.state.Shapes, b.Shapes
		f.shapes = tupleOf(f.state.Shapes, b.Shapes)
	}
	f.columns = append(f.columns[:0], f.state.Columns...)
	if f.texts == nil {
		f.texts = make([]block.Text, len(b.Columns))
	}
	for i, c := range b.Columns {
		if c.Text == nil {
			f.columns = append(f.columns, block.Column{Data: c.Data[r*c.RowBytes : (r+1)*c.RowBytes], RowBytes: c.RowBytes})
			continue
		}
		n := b.Shapes.Components[i].Count()
		f.texts[i] = block.Text{Data: c.Text.Data, Starts: c.Text.Starts[r*n : (r+1)*n], Ends: c.Text.Ends[r*n : (r+1)*n]}
		f.columns = append(f.columns, block.Column{Text: &f.texts[i]})
	}
}
