package transform

import (
	"bytes"
	"encoding/binary"
	"math"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// unbatchedStructure is that of the elements which batches of some components are
// stacked of.
func unbatchedStructure(s spec.Structure, batches []spec.Component) spec.Structure {
	switch {
	case isRagged(s) && len(s.Items) == 1:
		return spec.Structure{}
	case isRagged(s) && len(batches[1].Shape) == 2:
		return rowStructure(batches[1].DType)
	case s.Kind == spec.Leaf || isRagged(s):
		return s
	}
	out := s
	out.Items = make([]spec.Structure, len(s.Items))
	for i, item := range s.Items {
		out.Items[i] = unbatchedStructure(item, batches)
		batches = batches[item.Leaves():]
	}
	return out
}

// raggedRows is the rows of one batch that has ragged components. All columns of
// elements that follow one another lie together in it.
type raggedRows struct {
	parts  []raggedPart
	batch  block.Block
	each   *spec.Element // what a row is; the dimensions of ragged components are not known
	size   int64
	starts [][]int64 // of each component that is values, where those of each row start
}

// open reads where the rows of a batch, the only row of a block, are in it. Shapes that
// say otherwise than there are values are a DataLoss error.
func (r *raggedRows) open(op string, batch block.Block) error {
	size, each, err := unbatched(op, batch.Shapes, r.parts)
	if err != nil {
		return err
	}
	r.batch, r.size, r.each = batch, size, each
	r.starts = append(r.starts[:0], make([][]int64, len(r.parts))...)
	for i, p := range r.parts {
		if p.kind != valuesPart {
			continue
		}
		have, shapes := batch.Shapes.Components[i].Count(), batch.Shapes.Components[i+1]
		r.starts[i] = ends(batch.Columns[i+1].Data, shapes, have)
		if int64(len(r.starts[i])) != size+1 || r.starts[i][size] != have {
			return errs.New(errs.DataLoss, op, "component%s has %d values, but its shapes are those of others", partName(batch.Shapes, r.parts, i), have)
		}
	}
	return nil
}

// ends returns where the values of each row start and, after the last, end. It stops
// where shapes are of more values than there are.
func ends(data []byte, shapes spec.Component, have int64) []int64 {
	rows, rank := shapes.Shape[0], shapes.Shape[len(shapes.Shape)-1]
	arrays := int64(1) // of a row
	for _, n := range shapes.Shape[1 : len(shapes.Shape)-1] {
		arrays *= n
	}
	out := append(make([]int64, 0, rows+1), 0)
	at := int64(0)
	for range rows {
		for range arrays {
			n := int64(1)
			for d := range rank {
				length := lengthAt(data, d, shapes.DType.Size)
				if length < 0 || length > 0 && n > math.MaxInt64/length {
					return out
				}
				n *= length
			}
			data = data[rank*shapes.DType.Size:]
			if n > have-at {
				return out
			}
			at += n
		}
		out = append(out, at)
	}
	return out
}

// lengthAt returns the i-th of integers of size bytes.
func lengthAt(data []byte, i, size int64) int64 {
	if size == 4 {
		return int64(int32(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(data[8*i:]))
}

// hand makes rows from (included) to to (excluded) of the batch.
func (r *raggedRows) hand(from, to int64, dst dataset.Sink) error {
	for from < to {
		end := from + 1
		for end < to && r.alike(from, end) {
			end++
		}
		out, err := dst.Block(r.shapes(from), end-from)
		if err != nil {
			return err
		}
		r.copy(from, end, out.Columns)
		from = end
	}
	return nil
}

// alike tells whether two rows have equal shapes.
func (r *raggedRows) alike(a, b int64) bool {
	for i, p := range r.parts {
		switch {
		case p.kind != valuesPart:
		case r.isArray(i):
			if !bytes.Equal(r.shape(i, a), r.shape(i, b)) {
				return false
			}
		case r.starts[i][a+1]-r.starts[i][a] != r.starts[i][b+1]-r.starts[i][b]:
			return false
		}
	}
	return true
}

// isArray tells whether rows of a component that is values are arrays, and no batches of them.
func (r *raggedRows) isArray(i int) bool { return len(r.batch.Shapes.Components[i+1].Shape) == 2 }

// shape returns the shape of a row that is an array as it is stored.
func (r *raggedRows) shape(i int, row int64) []byte {
	n := int64(len(r.batch.Columns[i+1].Data)) / r.size
	return r.batch.Columns[i+1].Data[row*n : (row+1)*n]
}

// shapes describes a row.
func (r *raggedRows) shapes(row int64) *spec.Element {
	out := &spec.Element{Structure: r.each.Structure, Components: append([]spec.Component(nil), r.each.Components...)}
	at := 0
	for i, p := range r.parts {
		if p.kind == shapesPart && r.isArray(i-1) { // has no component of its own
			continue
		}
		if p.kind == valuesPart {
			shape := []int64{r.starts[i][row+1] - r.starts[i][row]}
			if r.isArray(i) {
				shape = make([]int64, len(out.Components[at].Shape))
				for d := range shape {
					shape[d] = lengthAt(r.shape(i, row), int64(d), p.shapes.Size)
				}
			}
			out.Components[at].Shape = shape
		}
		at++
	}
	return out
}

// copy makes the columns of rows from (included) to to (excluded).
func (r *raggedRows) copy(from, to int64, dst []block.Column) {
	for i, p := range r.parts {
		if p.kind == shapesPart && r.isArray(i-1) {
			continue
		}
		src, start, end, size := r.batch.Columns[i], from, to, int64(0)
		if p.kind == valuesPart {
			start, end = r.starts[i][from], r.starts[i][to]
			size = r.batch.Shapes.Components[i].DType.Size
		} else {
			size = src.RowBytes / r.size
		}
		if src.Text == nil {
			copy(dst[0].Data, src.Data[start*size:end*size])
		} else {
			each := int64(1) // texts
			if p.kind != valuesPart {
				each = int64(src.Text.Len()) / r.size
			}
			dst[0].Text.AppendRange(src.Text, int(start*each), int(end*each))
		}
		dst = dst[1:]
	}
}
