package transform

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// RaggedBatch stacks size consecutive elements into one. Components of differing
// shapes become ragged, see [RaggedName]; their shapes are integers of shapeBytes
// bytes, 4 or 8. The last batch has what is left, unless dropRemainder.
func RaggedBatch(in dataset.Definition, size int64, dropRemainder bool, shapeBytes int64) (dataset.Definition, error) {
	const op = "ragged_batch"
	if size < 1 {
		return nil, errs.New(errs.InvalidArgument, op, "batch_size is %d; it must be at least 1", size)
	}
	if shapeBytes != 4 && shapeBytes != 8 {
		return nil, errs.New(errs.InvalidArgument, op, "row_splits_dtype must be int32 or int64")
	}
	parts, err := partsOf(op, in.Spec())
	if err != nil {
		return nil, err
	}
	if err := batchable(op, in, in.Spec(), size); err != nil {
		return nil, err
	}
	r := &ragged{op: op, in: in.Spec(), parts: make([]raggedPart, len(in.Spec().Components))}
	for i, c := range in.Spec().Components {
		if parts != nil && parts[i].kind != plainPart {
			r.parts[i] = parts[i]
		} else if !(&spec.Element{Components: []spec.Component{c}}).Known() {
			r.parts[i] = raggedPart{rowPart, spec.DType{Kind: 'i', Size: shapeBytes}}
		}
	}
	if parts == nil && in.Spec().Known() {
		return Batch(in, size, dropRemainder)
	}
	return r.gathered(in, turnOf(size), dropRemainder), nil
}

// ragged makes batches of elements that have, or get, ragged components. Arrays become
// one more dimension of shapes; what is ragged already has to be of equal size.
type ragged struct {
	op    string
	in    *spec.Element // elements
	parts []raggedPart  // what their components are; rows are those to become ragged
	out   spec.Structure
}

// gathered returns the batches.
func (r *ragged) gathered(in dataset.Definition, sizes turn, dropRemainder bool) dataset.Definition {
	n := int64(-1)
	if dropRemainder && len(sizes.sizes) == 1 {
		n = sizes.sum
	}
	r.out = r.structure(r.in.Structure, 0)
	return gathered(r.op, in, sizes, dropRemainder, r.batched(r.in, n, func(int) int64 { return -1 }), r.batch)
}

// structure is that of batches of elements of a structure, the first of whose leaves is
// component at.
func (r *ragged) structure(s spec.Structure, at int) spec.Structure {
	if s.Kind == spec.Leaf && r.parts[at].kind == rowPart || isRagged(s) && len(s.Items) == 1 {
		return raggedStructure()
	}
	if s.Kind == spec.Leaf || isRagged(s) {
		return s
	}
	out := s
	out.Items = make([]spec.Structure, len(s.Items))
	for i, item := range s.Items {
		out.Items[i] = r.structure(item, at)
		at += item.Leaves()
	}
	return out
}

// batched describes a batch of n elements of the given shapes; values says how many of a
// component there are in all of them.
func (r *ragged) batched(shapes *spec.Element, n int64, values func(i int) int64) *spec.Element {
	out := &spec.Element{Structure: r.out}
	for i, c := range shapes.Components {
		switch p := r.parts[i]; p.kind {
		case rowPart:
			out.Components = append(out.Components, spec.Component{DType: c.DType, Shape: []int64{values(i)}},
				spec.Component{DType: p.shapes, Shape: []int64{n, int64(len(c.Shape))}})
		case valuesPart:
			out.Components = append(out.Components, spec.Component{DType: c.DType, Shape: []int64{values(i)}})
		default:
			out.Components = append(out.Components, spec.Component{DType: c.DType, Shape: append([]int64{n}, c.Shape...)})
		}
	}
	return out
}

// batch makes one batch of all rows of blocks in dst.
func (r *ragged) batch(blocks []block.Block, rows int64, dst dataset.Sink) error {
	if err := r.alike(blocks); err != nil {
		return err
	}
	shapes := r.batched(blocks[0].Shapes, rows, func(i int) int64 {
		n := int64(0)
		for _, b := range blocks {
			n += b.Rows * b.Shapes.Components[i].Count()
		}
		return n
	})
	out, err := dst.Block(shapes, 1)
	if err != nil {
		return err
	}
	columns := out.Columns
	for i, p := range r.parts {
		appendColumns(blocks, i, columns[0])
		columns = columns[1:]
		if p.kind == rowPart {
			appendShapes(blocks, i, p.shapes.Size, columns[0].Data)
			columns = columns[1:]
		}
	}
	return nil
}

// alike fails where components that have to be of one shape differ.
func (r *ragged) alike(blocks []block.Block) error {
	for i, p := range r.parts {
		first := blocks[0].Shapes.Components[i]
		for _, b := range blocks {
			c := b.Shapes.Components[i]
			switch {
			case p.kind == rowPart || p.kind == valuesPart || c.Equal(first):
			case p.kind == shapesPart:
				return errs.New(errs.InvalidArgument, r.op, "ragged batches can be batched only where they are of one size: component%s has %v arrays in one element and %v in another; unbatch them, or use rebatch",
					partName(r.in, r.parts, i), first.Shape[:len(first.Shape)-1], c.Shape[:len(c.Shape)-1])
			default:
				return errs.New(errs.InvalidArgument, r.op, "elements of different shapes cannot be batched: component%s of one has %v and of one has %v; use padded_batch or ragged_batch",
					partName(r.in, r.parts, i), first.Shape, c.Shape)
			}
		}
	}
	return nil
}

// appendColumns makes the values of a component of all rows, one after the other.
func appendColumns(blocks []block.Block, i int, dst block.Column) {
	for _, b := range blocks {
		if c := b.Columns[i]; c.Text != nil {
			dst.Text.AppendRange(c.Text, 0, c.Text.Len())
		} else {
			dst.Data = dst.Data[copy(dst.Data, c.Data):]
		}
	}
}

// appendShapes writes the shape of a component of each row, in integers of size bytes.
func appendShapes(blocks []block.Block, i int, size int64, dst []byte) {
	for _, b := range blocks {
		for range b.Rows {
			for _, n := range b.Shapes.Components[i].Shape {
				if size == 4 {
					binary.LittleEndian.PutUint32(dst, uint32(n))
				} else {
					binary.LittleEndian.PutUint64(dst, uint64(n))
				}
				dst = dst[size:]
			}
		}
	}
}
