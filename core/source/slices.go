package source

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/rng"
	"infeed/core/spec"
)

// slices is the dataset whose i-th element is the i-th row of each of its arrays.
type slices struct {
	op   string
	spec *spec.Element
	all  block.Block
}

// Slices returns the dataset of the rows of arrays, one for each component of
// elements; those of text are given as texts, in order, with nil in arrays. All are
// used in place: they must stay as they are while the dataset or anything opened
// from it is in use.
func Slices(elements *spec.Element, rows int64, arrays [][]byte, texts ...*block.Text) (dataset.Definition, error) {
	return newSlices("from_tensor_slices", elements, rows, arrays, texts)
}

// Tensors returns the dataset of one element, whose components are arrays and texts as
// those of [Slices].
func Tensors(elements *spec.Element, arrays [][]byte, texts ...*block.Text) (dataset.Definition, error) {
	return newSlices("from_tensors", elements, 1, arrays, texts)
}

func newSlices(op string, elements *spec.Element, rows int64, arrays [][]byte, texts []*block.Text) (dataset.Definition, error) {
	if len(arrays) != len(elements.Components) || len(arrays) != elements.Structure.Leaves() {
		return nil, errs.New(errs.InvalidArgument, op, "%d arrays for the %d components of %v", len(arrays), elements.Structure.Leaves(), elements)
	}
	if len(arrays) == 0 {
		return nil, errs.New(errs.InvalidArgument, op, "there is no array to slice; give at least one")
	}
	if rows < 0 {
		return nil, errs.New(errs.InvalidArgument, op, "%d rows", rows)
	}
	s := &slices{op: op, spec: elements, all: block.Block{Rows: rows, Shapes: elements, Columns: make([]block.Column, len(arrays))}}
	for i, c := range elements.Components {
		column := &s.all.Columns[i]
		if c.IsText() {
			if len(texts) == 0 || int64(texts[0].Len()) != rows*c.Count() {
				return nil, errs.New(errs.InvalidArgument, op, "component%s is text; %d rows of %s were expected", elements.Name(i), rows, c)
			}
			column.Text, texts = texts[0], texts[1:]
			continue
		}
		n, known := c.Bytes()
		if !known || n > 0 && int64(len(arrays[i]))/n < rows || int64(len(arrays[i])) != n*rows {
			return nil, errs.New(errs.InvalidArgument, op, "component%s has %d bytes; %d rows of %s were expected",
				elements.Name(i), len(arrays[i]), rows, c)
		}
		column.Data, column.RowBytes = arrays[i], n
	}
	return s, nil
}

func (s *slices) Spec() *spec.Element { return s.spec }
func (s *slices) Cardinality() int64  { return s.all.Rows }

func (s *slices) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(s, scope, pass, from)
}

func (s *slices) Open(_ *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) { return s, nil }

func (s *slices) Fetch(index []int64, dst dataset.Sink) error {
	b, err := dst.Block(s.spec, int64(len(index)))
	if err != nil {
		return err
	}
	run := dataset.Consecutive(index)
	if run && (index[0] < 0 || index[0] > s.all.Rows-int64(len(index))) {
		return errs.New(errs.Internal, s.op, "rows %d to %d of %d", index[0], index[len(index)-1], s.all.Rows)
	}
	for i, from := range s.all.Columns {
		to, n := b.Columns[i], s.spec.Components[i].Count()
		switch {
		case from.Text != nil && run:
			to.Text.AppendRange(from.Text, int(index[0]*n), int((index[0]+int64(len(index)))*n))
		case from.Text != nil:
			err = to.Text.AppendRows(from.Text, int(n), index)
		case run:
			copy(to.Data, from.Data[index[0]*from.RowBytes:][:int64(len(index))*from.RowBytes])
		default:
			err = kernel.Gather(to.Data, from.Data, int(from.RowBytes), int(from.RowBytes), index)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
