package transform

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// SparseName is the name of the named tuple that a sparse tensor is: "indices" and
// "values" of the values that there are, and "dense_shape".
const SparseName = "SparseTensor"

// SparseBatch stacks size consecutive elements, which have one component, into a sparse
// tensor of all of their values. Row is the shape of all of them together, in which none
// is larger; a dimension of -1 is as long as that of the longest of the batch.
func SparseBatch(in dataset.Definition, size int64, row []int64) (dataset.Definition, error) {
	const op = "sparse_batch"
	if size < 1 {
		return nil, errs.New(errs.InvalidArgument, op, "batch_size is %d; it must be at least 1", size)
	}
	e := in.Spec()
	if _, err := partsOf(op, e); err != nil {
		return nil, err
	}
	if arraysStructure(e.Structure).Kind != spec.Leaf {
		return nil, errs.New(errs.InvalidArgument, op, "elements are %v; they must have one component, an array", e)
	}
	c := e.Components[0]
	if len(row) != len(c.Shape) {
		return nil, errs.New(errs.InvalidArgument, op, "row_shape is %v, and elements have %d dimensions, %v; give as many", row, len(c.Shape), c)
	}
	rank := int64(len(row)) + 1
	places := spec.DType{Kind: 'i', Size: 8}
	s := &sparser{row: row, spec: &spec.Element{
		Structure: spec.Structure{Kind: spec.NamedTuple, Name: SparseName, Keys: []string{"indices", "values", "dense_shape"}, Items: make([]spec.Structure, 3)},
		Components: []spec.Component{
			{DType: places, Shape: []int64{-1, rank}}, {DType: c.DType, Shape: []int64{-1}}, {DType: places, Shape: []int64{rank}},
		}}}
	return gathered(op, in, turnOf(size), false, s.spec, s.batch), nil
}

// denseOnly fails where elements have a sparse tensor, whose parts are no batches of equally
// many rows.
func denseOnly(op string, e *spec.Element) error {
	at := 0
	var visit func(s spec.Structure) error
	visit = func(s spec.Structure) error {
		if s.Kind == spec.NamedTuple && s.Name == SparseName && s.Leaves() == 3 && len(s.Items) == 3 &&
			len(e.Components[at].Shape) == 2 && len(e.Components[at+1].Shape) == 1 && len(e.Components[at+2].Shape) == 1 {
			return errs.New(errs.Unimplemented, op, "sparse tensors are not taken apart; map them to arrays first (to_dense)")
		}
		if s.Kind == spec.Leaf {
			at++
		}
		for _, item := range s.Items {
			if err := visit(item); err != nil {
				return err
			}
		}
		return nil
	}
	return visit(e.Structure)
}

// sparser makes sparse batches.
type sparser struct {
	row  []int64
	spec *spec.Element
}

// batch makes one batch of all rows of blocks in dst.
func (s *sparser) batch(blocks []block.Block, rows int64, dst dataset.Sink) error {
	values, dense := int64(0), append([]int64{rows}, s.row...)
	for d, n := range s.row {
		if n < 0 {
			dense[d+1] = longest(blocks, 0, d)
		}
	}
	for _, b := range blocks {
		shape := b.Shapes.Components[0].Shape
		for d, n := range shape {
			if n > dense[d+1] {
				return errs.New(errs.DataLoss, "sparse_batch", "an element has the shape %v, which is larger than row_shape, %v", shape, s.row)
			}
		}
		values += b.Rows * b.Shapes.Components[0].Count()
	}
	shapes := &spec.Element{Structure: s.spec.Structure}
	for i, shape := range [][]int64{{values, int64(len(dense))}, {values}, {int64(len(dense))}} {
		shapes.Components = append(shapes.Components, spec.Component{DType: s.spec.Components[i].DType, Shape: shape})
	}
	out, err := dst.Block(shapes, 1)
	if err != nil {
		return err
	}
	appendColumns(blocks, 0, out.Columns[1])
	putInts(out.Columns[2].Data, dense)
	s.indices(blocks, out.Columns[0].Data)
	return nil
}

// indices writes the place of each value in the batch.
func (s *sparser) indices(blocks []block.Block, dst []byte) {
	place := make([]int64, len(s.row)+1)
	for _, b := range blocks {
		shape := b.Shapes.Components[0].Shape
		n := b.Shapes.Components[0].Count()
		for range b.Rows {
			clear(place[1:])
			for range n {
				dst = putInts(dst, place)
				for d := len(shape); d > 0; d-- { // the last dimension counts first
					if place[d]++; place[d] < shape[d-1] {
						break
					}
					place[d] = 0
				}
			}
			place[0]++
		}
	}
}

// putInts writes int64s and returns the memory behind them.
func putInts(dst []byte, numbers []int64) []byte {
	for _, n := range numbers {
		binary.LittleEndian.PutUint64(dst, uint64(n))
		dst = dst[8:]
	}
	return dst
}
