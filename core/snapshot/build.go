package snapshot

import (
	"infeed/core/block"
)

// building is a block that is being filled, with the raw pieces of its elements, and
// then packed.
type building struct {
	layout *layout
	rows   int64
	bytes  int64
	pieces [][]byte

	choice  *choice
	decides bool       // on the choice
	packed  [][]byte   // memory for compressed pieces
	out     []piece    // what pack made
	data    [][]byte   // the bytes of out
	ready   chan error // of pack, on a belt
}

const (
	// blockBytes is about how much raw data a block has.
	blockBytes = 1 << 20
	// keptBytes is how large the memory of a block may be to be used for another one.
	keptBytes = 4 * blockBytes
)

func newBuilding(l *layout) *building {
	n := len(l.parts)
	return &building{layout: l, pieces: make([][]byte, n), packed: make([][]byte, n), data: make([][]byte, n), ready: make(chan error, 1)}
}

// reset empties the block.
func (b *building) reset() {
	b.rows, b.bytes, b.out = 0, 0, nil
	for i := range b.pieces {
		b.pieces[i], b.packed[i], b.data[i] = emptied(b.pieces[i]), emptied(b.packed[i]), nil
	}
}

// emptied is the memory of b, empty, unless it is large.
func emptied(b []byte) []byte {
	if cap(b) > keptBytes {
		return nil
	}
	return b[:0]
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

// number adds an element that is an int64.
func (b *building) number(n int64) {
	b.pieces[0] = le.AppendUint64(b.pieces[0], uint64(n))
	b.bytes += 8
	b.rows++
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
