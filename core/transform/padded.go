package transform

import (
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// Padding says how elements are made as large as one another.
type Padding struct {
	// Shapes has a shape for each component; a dimension of -1 is as long as that of
	// the longest of the batch. Without Shapes, all that differ are.
	Shapes [][]int64
	// Values has the bytes of a value, or of a string, for each component; where one
	// is missing it is 0, or the empty string.
	Values [][]byte
}

// PaddedBatch stacks size consecutive elements into one, after it made them equally
// large by padding. The last batch has what is left, unless dropRemainder.
func PaddedBatch(in dataset.Definition, size int64, padding Padding, dropRemainder bool) (dataset.Definition, error) {
	const op = "padded_batch"
	if size < 1 {
		return nil, errs.New(errs.InvalidArgument, op, "batch_size is %d; it must be at least 1", size)
	}
	padded, err := padding.fit(op, in.Spec())
	if err != nil {
		return nil, err
	}
	if err := batchable(op, in, padded, size); err != nil {
		return nil, err
	}
	n := int64(-1)
	if dropRemainder {
		n = size
	}
	p := &padder{padded: padded, values: padding.Values}
	return gathered(op, in, turnOf(size), dropRemainder, padded.Batched(n), p.batch), nil
}

// fit checks the padding and describes elements after it.
func (p Padding) fit(op string, e *spec.Element) (*spec.Element, error) {
	if p.Shapes != nil && len(p.Shapes) != len(e.Components) || len(p.Values) > len(e.Components) {
		return nil, errs.New(errs.InvalidArgument, op, "%d padded_shapes and %d padding_values for elements of %d components", len(p.Shapes), len(p.Values), len(e.Components))
	}
	parts, err := partsOf(op, e)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(parts, func(p raggedPart) bool { return p.kind == valuesPart }) {
		return nil, errs.New(errs.Unimplemented, op, "components that are ragged cannot be padded; unbatch them before, or map them to arrays")
	}
	out := &spec.Element{Structure: arraysStructure(e.Structure)}
	for i, c := range e.Components {
		if p.Shapes != nil {
			if !paddable(c.Shape, p.Shapes[i]) {
				return nil, errs.New(errs.InvalidArgument, op, "the padded shape %v is not compatible with component%s %s: as many dimensions are needed, none of them shorter", p.Shapes[i], e.Name(i), c)
			}
			c.Shape = p.Shapes[i]
		}
		if i < len(p.Values) && p.Values[i] != nil && !c.IsText() && int64(len(p.Values[i])) != c.DType.Size {
			return nil, errs.New(errs.InvalidArgument, op, "the padding value of component%s %s has %d bytes", e.Name(i), c, len(p.Values[i]))
		}
		out.Components = append(out.Components, c)
	}
	return out, nil
}

// paddable tells whether values of one shape can be padded to another.
func paddable(shape, to []int64) bool {
	if len(shape) != len(to) {
		return false
	}
	for d, n := range to {
		if n < -1 || n >= 0 && shape[d] > n {
			return false
		}
	}
	return true
}

// padder makes batches of padded elements.
type padder struct {
	padded *spec.Element // of elements
	values [][]byte
}

// batch makes one batch of all rows of blocks in dst.
func (p *padder) batch(parts []block.Block, rows int64, dst dataset.Sink) error {
	first := parts[0].Shapes
	shapes := &spec.Element{Structure: p.padded.Structure}
	for i, c := range p.padded.Components {
		shape := make([]int64, len(c.Shape))
		copy(shape, c.Shape)
		for d, n := range shape {
			if n < 0 {
				shape[d] = longest(parts, i, d)
			} else if most := longest(parts, i, d); most > n {
				return errs.New(errs.DataLoss, "padded_batch", "component%s of an element has %d in dimension %d, which is to be padded to %d", first.Name(i), most, d, n)
			}
		}
		shapes.Components = append(shapes.Components, spec.Component{DType: c.DType, Shape: shape})
	}
	out, err := dst.Block(shapes.Batched(rows), 1)
	if err != nil {
		return err
	}
	out = out.Split(rows, shapes)
	for i, c := range shapes.Components {
		p.component(parts, i, c, out.Columns[i])
	}
	return nil
}

// longest returns the largest length of a dimension.
func longest(parts []block.Block, component, dimension int) int64 {
	n := int64(0)
	for _, b := range parts {
		n = max(n, b.Shapes.Components[component].Shape[dimension])
	}
	return n
}

// component makes a component of all rows.
func (p *padder) component(parts []block.Block, i int, to spec.Component, dst block.Column) {
	var value []byte
	if i < len(p.values) {
		value = p.values[i]
	}
	w := padWriter{to: to.Shape, value: value, text: dst.Text, data: dst.Data, size: to.DType.Size}
	for _, b := range parts {
		shape := b.Shapes.Components[i].Shape
		if spec.Component.Equal(b.Shapes.Components[i], to) {
			w.whole(b.Columns[i])
			continue
		}
		w.from, w.column = shape, b.Columns[i]
		w.next = 0
		for range b.Rows {
			w.write(0, true)
		}
	}
}

// padWriter writes values of one shape, padded to another, one after the other.
type padWriter struct {
	from, to []int64
	column   block.Column
	next     int64 // value of the column that is next
	value    []byte
	size     int64 // of a value

	data []byte // what is left to be written
	text *block.Text
}

// whole writes a column that needs no padding.
func (w *padWriter) whole(c block.Column) {
	if w.text != nil {
		w.text.AppendRange(c.Text, 0, c.Text.Len())
		return
	}
	w.data = w.data[copy(w.data, c.Data):]
}

// write writes what lies under an index of the dimensions before d. Where the value
// has no such index, inside is false and all of it is padding.
func (w *padWriter) write(d int, inside bool) {
	if d == len(w.to) {
		w.run(1, inside)
		return
	}
	if d == len(w.to)-1 {
		have := int64(0)
		if inside {
			have = w.from[d]
		}
		w.run(have, true)
		w.run(w.to[d]-have, false)
		return
	}
	for i := range w.to[d] {
		w.write(d+1, inside && i < w.from[d])
	}
}

// run writes n values: the next ones, or padding.
func (w *padWriter) run(n int64, inside bool) {
	switch {
	case w.text != nil && inside:
		w.text.AppendRange(w.column.Text, int(w.next), int(w.next+n))
	case w.text != nil:
		for range n {
			w.text.Append(w.value)
		}
	case inside:
		copy(w.data, w.column.Data[w.next*w.size:(w.next+n)*w.size])
	case w.value == nil:
		clear(w.data[:n*w.size])
	default:
		for i := range n {
			copy(w.data[i*w.size:], w.value)
		}
	}
	if w.text == nil {
		w.data = w.data[n*w.size:]
	}
	if inside {
		w.next += n
	}
}
