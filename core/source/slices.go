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
	spec   *spec.Element
	rows   int64
	arrays [][]byte
	row    []int
}

// Slices returns the dataset of the rows of arrays, one for each component of
// elements. The arrays are used in place: they must stay as they are while the
// dataset or anything opened from it is in use.
func Slices(elements *spec.Element, rows int64, arrays [][]byte) (dataset.Definition, error) {
	const op = "from_tensor_slices"
	if len(arrays) != len(elements.Components) || len(arrays) != elements.Structure.Leaves() {
		return nil, errs.New(errs.InvalidArgument, op, "%d arrays for the %d components of %v", len(arrays), elements.Structure.Leaves(), elements)
	}
	if len(arrays) == 0 {
		return nil, errs.New(errs.InvalidArgument, op, "there is no array to slice; give at least one")
	}
	if rows < 0 {
		return nil, errs.New(errs.InvalidArgument, op, "%d rows", rows)
	}
	s := &slices{spec: elements, rows: rows, arrays: arrays}
	for i, c := range elements.Components {
		n, known := c.Bytes()
		if !known || n > 0 && int64(len(arrays[i]))/n < rows || int64(len(arrays[i])) != n*rows {
			return nil, errs.New(errs.InvalidArgument, op, "component%s has %d bytes; %d rows of %s were expected",
				elements.Name(i), len(arrays[i]), rows, c)
		}
		s.row = append(s.row, int(n))
	}
	return s, nil
}

func (s *slices) Spec() *spec.Element { return s.spec }
func (s *slices) Cardinality() int64  { return s.rows }

func (s *slices) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(s, scope, pass, from)
}

func (s *slices) Open(_ *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) { return s, nil }

func (s *slices) Fetch(index []int64, dst dataset.Sink) error {
	b, err := dst.Block(s.spec, int64(len(index)))
	if err != nil {
		return err
	}
	if dataset.Consecutive(index) {
		return s.copyRun(index[0], int64(len(index)), b)
	}
	for i, a := range s.arrays {
		if err := kernel.Gather(b.Columns[i].Data, a, s.row[i], index); err != nil {
			return err
		}
	}
	return nil
}

func (s *slices) copyRun(start, count int64, dst block.Block) error {
	if start < 0 || start > s.rows-count {
		return errs.New(errs.Internal, "from_tensor_slices", "rows %d to %d of %d", start, start+count-1, s.rows)
	}
	for i, a := range s.arrays {
		n := int64(s.row[i])
		copy(dst.Columns[i].Data, a[start*n:(start+count)*n])
	}
	return nil
}
