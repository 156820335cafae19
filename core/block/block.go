// Package block holds runs of elements in columns: one column for each component
// of an element, each row of it one value, one after the other in memory.
//
// A block does not own its memory; whoever made it says how long it lives. All
// elements of a block have the same shapes.
package block

import (
	"math"

	"infeed/core/errs"
	"infeed/core/spec"
)

// Align is where columns begin in memory that is shared with Python: a multiple
// of it, the size of a cache line and of the widest vector register.
const Align = 64

// Block is Rows elements in columns.
type Block struct {
	Rows    int64
	Columns []Column
}

// Column is the values of one component: Rows times RowBytes bytes.
type Column struct {
	Data     []byte
	RowBytes int64
}

// Slice returns rows from (included) to to (excluded) of the block, in the same
// memory.
func (b Block) Slice(from, to int64) Block {
	out := Block{Rows: to - from, Columns: make([]Column, len(b.Columns))}
	for i, c := range b.Columns {
		out.Columns[i] = Column{Data: c.Data[from*c.RowBytes : to*c.RowBytes], RowBytes: c.RowBytes}
	}
	return out
}

// Split sees each row as n rows of a n-th of its size: batches as their elements.
func (b Block) Split(n int64) Block {
	out := Block{Rows: b.Rows * n, Columns: make([]Column, len(b.Columns))}
	for i, c := range b.Columns {
		out.Columns[i] = Column{Data: c.Data, RowBytes: c.RowBytes / max(n, 1)}
	}
	return out
}

// Layout is where the columns of a block lie in one piece of memory.
type Layout struct {
	Rows     int64
	RowBytes []int64
	Offsets  []int64
	Bytes    int64 // of all of it, a multiple of Align
}

// NewLayout lays out rows elements of the given shapes, all of which are known.
// What is beyond the size that a program can address is an InvalidArgument error.
func NewLayout(shapes *spec.Element, rows int64) (Layout, error) {
	l := Layout{Rows: rows}
	for i, c := range shapes.Components {
		n, known := c.Bytes()
		if !known || n > 0 && rows > (math.MaxInt64>>8-l.Bytes)/n {
			return l, errs.New(errs.InvalidArgument, "layout", "%d elements with component%s %s are too large", rows, shapes.Name(i), c)
		}
		l.RowBytes = append(l.RowBytes, n)
		l.Offsets = append(l.Offsets, l.Bytes)
		l.Bytes = AlignUp(l.Bytes + n*rows)
	}
	return l, nil
}

// Over returns the block that the layout describes in memory, which is at least
// Bytes long.
func (l Layout) Over(memory []byte) Block {
	b := Block{Rows: l.Rows, Columns: make([]Column, len(l.Offsets))}
	for i, off := range l.Offsets {
		b.Columns[i] = Column{Data: memory[off : off+l.Rows*l.RowBytes[i]], RowBytes: l.RowBytes[i]}
	}
	return b
}

// AlignUp returns the next multiple of Align.
func AlignUp(n int64) int64 { return (n + Align - 1) &^ (Align - 1) }
