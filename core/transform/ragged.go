package transform

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// RaggedName is the name of the named tuple that a component of differing shapes
// becomes in a ragged batch; no type of Python can have it. It has two fields:
// "values", all values of all elements one after the other, and "shapes", a row with
// the shape of each element. Whoever delivers a batch makes one array an element of
// it.
const RaggedName = ":ragged"

// RaggedBatch stacks size consecutive elements into one. Components of differing
// shapes become a named tuple, see [RaggedName]; their shapes are integers of
// shapeBytes bytes, 4 or 8. The last batch has what is left, unless dropRemainder.
func RaggedBatch(in dataset.Definition, size int64, dropRemainder bool, shapeBytes int64) (dataset.Definition, error) {
	const op = "ragged_batch"
	if size < 1 {
		return nil, errs.New(errs.InvalidArgument, op, "batch_size is %d; it must be at least 1", size)
	}
	if shapeBytes != 4 && shapeBytes != 8 {
		return nil, errs.New(errs.InvalidArgument, op, "row_splits_dtype must be int32 or int64")
	}
	if err := batchable(op, in, in.Spec(), size); err != nil {
		return nil, err
	}
	if in.Spec().Known() {
		return Batch(in, size, dropRemainder)
	}
	n := int64(-1)
	if dropRemainder {
		n = size
	}
	r := &ragged{shapeBytes: shapeBytes}
	out := &spec.Element{}
	for _, c := range in.Spec().Components {
		ragged := !(&spec.Element{Components: []spec.Component{c}}).Known()
		r.ragged = append(r.ragged, ragged)
		out.Components = append(out.Components, r.batched(c, ragged, n, -1)...)
	}
	components := r.ragged
	out.Structure = r.structure(in.Spec().Structure, &components)
	r.spec = out.Structure
	return gathered(op, in, size, dropRemainder, out, r.batch), nil
}

type ragged struct {
	ragged     []bool // of components of elements
	shapeBytes int64
	spec       spec.Structure
}

// batched describes the components that n values of a component become; values is how
// many there are in all of them.
func (r *ragged) batched(c spec.Component, ragged bool, n, values int64) []spec.Component {
	if !ragged {
		return []spec.Component{{DType: c.DType, Shape: append([]int64{n}, c.Shape...)}}
	}
	return []spec.Component{
		{DType: c.DType, Shape: []int64{values}},
		{DType: spec.DType{Kind: 'i', Size: r.shapeBytes}, Shape: []int64{n, int64(len(c.Shape))}},
	}
}

// structure puts named tuples in the place of components that are ragged.
func (r *ragged) structure(s spec.Structure, ragged *[]bool) spec.Structure {
	if s.Kind == spec.Leaf {
		is := (*ragged)[0]
		*ragged = (*ragged)[1:]
		if !is {
			return s
		}
		return spec.Structure{Kind: spec.NamedTuple, Name: RaggedName, Keys: []string{"values", "shapes"}, Items: make([]spec.Structure, 2)}
	}
	out := s
	out.Items = make([]spec.Structure, len(s.Items))
	for i, item := range s.Items {
		out.Items[i] = r.structure(item, ragged)
	}
	return out
}

// batch makes one batch of all rows of blocks in dst.
func (r *ragged) batch(parts []block.Block, rows int64, dst dataset.Sink) error {
	shapes := &spec.Element{Structure: r.spec}
	for i, is := range r.ragged {
		values := int64(0)
		for _, b := range parts {
			c := b.Shapes.Components[i]
			if !is && !c.Equal(parts[0].Shapes.Components[i]) {
				return errs.New(errs.Internal, "ragged_batch", "component %d has %s and %s", i, c, parts[0].Shapes.Components[i])
			}
			values += b.Rows * c.Count()
		}
		shapes.Components = append(shapes.Components, r.batched(parts[0].Shapes.Components[i], is, rows, values)...)
	}
	out, err := dst.Block(shapes, 1)
	if err != nil {
		return err
	}
	columns := out.Columns
	for i, is := range r.ragged {
		appendColumns(parts, i, columns[0])
		columns = columns[1:]
		if is {
			r.shapes(parts, i, columns[0].Data)
			columns = columns[1:]
		}
	}
	return nil
}

// appendColumns makes the values of a component of all rows, one after the other.
func appendColumns(parts []block.Block, i int, dst block.Column) {
	for _, b := range parts {
		if c := b.Columns[i]; c.Text != nil {
			dst.Text.AppendRange(c.Text, 0, c.Text.Len())
		} else {
			dst.Data = dst.Data[copy(dst.Data, c.Data):]
		}
	}
}

// shapes writes the shape of a component of each row.
func (r *ragged) shapes(parts []block.Block, i int, dst []byte) {
	for _, b := range parts {
		for range b.Rows {
			for _, n := range b.Shapes.Components[i].Shape {
				if r.shapeBytes == 4 {
					binary.LittleEndian.PutUint32(dst, uint32(n))
				} else {
					binary.LittleEndian.PutUint64(dst, uint64(n))
				}
				dst = dst[r.shapeBytes:]
			}
		}
	}
}
