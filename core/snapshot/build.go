package snapshot

import (
	"infeed/core/block"
)

// building is a block that is being filled: the raw pieces of its elements.
type building struct {
	rows   int64
	bytes  int64
	pieces [][]byte
}

// blockBytes is about how much raw data a block has.
const blockBytes = 1 << 20

func newBuilding(l *layout) *building { return &building{pieces: make([][]byte, len(l.parts))} }

func (b *building) reset() {
	b.rows, b.bytes = 0, 0
	for i := range b.pieces {
		b.pieces[i] = b.pieces[i][:0]
	}
}

func (b *building) full() bool { return b.bytes >= blockBytes || b.rows >= mostRows }

// room returns how many more rows of a size belong to the block, at least one.
func (b *building) room(rowBytes int64) int64 {
	n := mostRows - b.rows
	if rowBytes > 0 {
		n = min(n, (blockBytes-b.bytes+rowBytes-1)/rowBytes)
	}
	return max(n, 1)
}

// add adds the rows of a block of elements, from (included) to to (excluded).
func (b *building) add(l *layout, in block.Block, from, to int64) {
	for i, c := range in.Columns {
		if l.dims[i] >= 0 {
			b.addDims(l, in, i, to-from)
		}
		at := l.values[i]
		was := len(b.pieces[at])
		if c.Text == nil {
			b.pieces[at] = append(b.pieces[at], c.Data[from*c.RowBytes:to*c.RowBytes]...)
			b.bytes += int64(len(b.pieces[at]) - was)
			continue
		}
		each := int64(c.Text.Len()) / in.Rows
		for k := from * each; k < to*each; k++ {
			b.pieces[at] = append(b.pieces[at], c.Text.At(int(k))...)
			b.pieces[l.ends[i]] = le.AppendUint64(b.pieces[l.ends[i]], uint64(len(b.pieces[at])))
		}
		b.bytes += int64(len(b.pieces[at])-was) + 8*(to-from)*each
	}
	b.rows += to - from
}

// addDims adds the dimensions of component i that differ between elements.
func (b *building) addDims(l *layout, in block.Block, i int, rows int64) {
	to := &b.pieces[l.dims[i]]
	shape := in.Shapes.Components[i].Shape
	for range rows {
		for d, promised := range l.spec.Components[i].Shape {
			if promised < 0 {
				*to = le.AppendUint64(*to, uint64(shape[d]))
			}
		}
	}
	b.bytes += 8 * rows * int64(l.free[i])
}

// rowBytes is about how large an element of a block is.
func rowBytes(in block.Block) int64 {
	return (in.Bytes() + in.Rows - 1) / max(in.Rows, 1)
}

// fits tells whether elements are as the spec of the snapshot says.
func (l *layout) fits(in block.Block) bool {
	if len(in.Shapes.Components) != len(l.spec.Components) {
		return false
	}
	for i, c := range l.spec.Components {
		got := in.Shapes.Components[i]
		if got.DType != c.DType || len(got.Shape) != len(c.Shape) {
			return false
		}
		for d, n := range c.Shape {
			if n >= 0 && n != got.Shape[d] {
				return false
			}
		}
	}
	return true
}
