// Package block holds runs of elements in columns: one column for each component
// of an element, each row of it one value, one after the other in memory.
//
// A block does not own its memory; whoever made it says how long it lives. All
// elements of a block have the same shapes. Columns of numbers have rows of a fixed
// size; columns of text (dtype object) have strings of bytes of any length.
//
// Whoever makes elements writes numbers at their place and appends texts in the
// order of rows.
package block

import (
	"math"
	"slices"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// Align is where columns begin in memory that is shared with Python: a multiple
// of it, the size of a cache line and of the widest vector register.
const Align = 64

// Block is Rows elements in columns.
type Block struct {
	Rows    int64
	Shapes  *spec.Element // of each of the elements; all dimensions are known
	Columns []Column
}

// Column is the values of one component: Rows times RowBytes bytes, or texts.
type Column struct {
	Data     []byte
	RowBytes int64
	Text     *Text // instead of Data
}

// Text is strings of bytes: string i is Data[Starts[i]:Ends[i]].
type Text struct {
	Data         []byte
	Starts, Ends []int64
}

// Len returns how many strings there are.
func (t *Text) Len() int { return len(t.Starts) }

// At returns string i.
func (t *Text) At(i int) []byte { return t.Data[t.Starts[i]:t.Ends[i]:t.Ends[i]] }

// Append adds a string.
func (t *Text) Append(s []byte) {
	t.Starts = append(t.Starts, int64(len(t.Data)))
	t.Data = append(t.Data, s...)
	t.Ends = append(t.Ends, int64(len(t.Data)))
}

// AppendRange adds the strings from (included) to to (excluded) of another.
func (t *Text) AppendRange(o *Text, from, to int) {
	if from == to {
		return
	}
	bytes, last := int64(0), o.Starts[from]
	ordered := from
	for ; ordered < to && o.Starts[ordered] >= last; ordered++ {
		last = o.Ends[ordered]
		bytes += last - o.Starts[ordered]
	}
	first := o.Starts[from]
	if ordered < to || last-first > 2*bytes+int64(64*(to-from)) { // out of order, or far apart
		for i := from; i < to; i++ {
			t.Append(o.At(i))
		}
		return
	}
	shift := int64(len(t.Data)) - first
	t.Data = append(t.Data, o.Data[first:last]...)
	n := len(t.Starts)
	t.Starts, t.Ends = append(t.Starts, o.Starts[from:to]...), append(t.Ends, o.Ends[from:to]...)
	starts, ends := t.Starts[n:], t.Ends[n:]
	for i := range starts {
		starts[i] += shift
		ends[i] += shift
	}
}

// AppendRows adds the strings of some rows of another, of each strings a row.
func (t *Text) AppendRows(o *Text, each int, rows []int64) error {
	return t.AppendPlaced(o.Data, each*len(rows), func(starts, ends []byte) error {
		if err := kernel.Gather(starts, kernel.Bytes(o.Starts), 8*each, 8*each, rows); err != nil {
			return err
		}
		return kernel.Gather(ends, kernel.Bytes(o.Ends), 8*each, 8*each, rows)
	})
}

// AppendPlaced adds n strings that lie in data. place says where they begin and end there:
// each is an int64, given as the memory that it lies in.
func (t *Text) AppendPlaced(data []byte, n int, place func(starts, ends []byte) error) error {
	first, at := len(t.Starts), len(t.Data)
	t.Starts, t.Ends = slices.Grow(t.Starts, n), slices.Grow(t.Ends, n)
	starts, ends := t.Starts[first:first+n], t.Ends[first:first+n]
	if err := place(kernel.Bytes(starts), kernel.Bytes(ends)); err != nil {
		return err
	}
	bytes := int(kernel.TextBytes(data, starts, ends))
	t.Data = slices.Grow(t.Data, bytes)[:at+bytes]
	kernel.CopyText(t.Data, at, starts, ends, data)
	t.Starts, t.Ends = t.Starts[:first+n], t.Ends[:first+n]
	return nil
}

// Run tells whether the strings lie one after the other, each where the one before it
// ends.
func (t *Text) Run() bool {
	for i := 1; i < len(t.Starts); i++ {
		if t.Starts[i] != t.Ends[i-1] {
			return false
		}
	}
	return true
}

// Reset leaves no string and keeps the memory.
func (t *Text) Reset() { t.Data, t.Starts, t.Ends = t.Data[:0], t.Starts[:0], t.Ends[:0] }

// Bytes returns how many bytes the strings have.
func (t *Text) Bytes() int64 {
	n := int64(0)
	for i, from := range t.Starts {
		n += t.Ends[i] - from
	}
	return n
}

// Slice returns rows from (included) to to (excluded) of a block, in the same
// memory, for reading.
func (b Block) Slice(from, to int64) Block {
	out := Block{Rows: to - from, Shapes: b.Shapes, Columns: make([]Column, len(b.Columns))}
	for i, c := range b.Columns {
		out.Columns[i] = c.slice(from, to, b.Rows)
	}
	return out
}

func (c Column) slice(from, to, rows int64) Column {
	if c.Text == nil {
		return Column{Data: c.Data[from*c.RowBytes : to*c.RowBytes], RowBytes: c.RowBytes}
	}
	n := c.Text.each(rows)
	return Column{Text: &Text{Data: c.Text.Data, Starts: c.Text.Starts[from*n : to*n], Ends: c.Text.Ends[from*n : to*n]}}
}

// each returns how many strings a row of a column of rows rows has.
func (t *Text) each(rows int64) int64 {
	if rows == 0 {
		return 0
	}
	return int64(len(t.Starts)) / rows
}

// Split sees each row as n rows of the given shapes: batches as their elements.
func (b Block) Split(n int64, shapes *spec.Element) Block {
	out := Block{Rows: b.Rows * n, Shapes: shapes, Columns: make([]Column, len(b.Columns))}
	for i, c := range b.Columns {
		out.Columns[i] = Column{Data: c.Data, RowBytes: c.RowBytes / max(n, 1), Text: c.Text}
	}
	return out
}

// Select returns some of the columns, which are components of other elements.
func (b Block) Select(shapes *spec.Element, columns ...int) Block {
	out := Block{Rows: b.Rows, Shapes: shapes, Columns: make([]Column, len(columns))}
	for i, c := range columns {
		out.Columns[i] = b.Columns[c]
	}
	return out
}

// Copy makes rows from at on of dst the rows of src. Those before are made already.
func (b Block) Copy(at int64, src Block) {
	for i, c := range b.Columns {
		if c.Text != nil {
			c.Text.AppendRange(src.Columns[i].Text, 0, src.Columns[i].Text.Len())
		} else {
			copy(c.Data[at*c.RowBytes:], src.Columns[i].Data)
		}
	}
}

// Take makes the rows of dst those of src, which is void then: texts are exchanged,
// not copied.
func (b Block) Take(src Block) {
	for i, c := range b.Columns {
		if c.Text != nil && len(c.Text.Starts) == 0 {
			*c.Text, *src.Columns[i].Text = *src.Columns[i].Text, *c.Text
		} else if c.Text != nil {
			c.Text.AppendRange(src.Columns[i].Text, 0, src.Columns[i].Text.Len())
		} else {
			copy(c.Data, src.Columns[i].Data)
		}
	}
}

// Gather makes rows from at on of dst the rows of src with the given numbers. Those
// before are made already.
func (b Block) Gather(at int64, src Block, index []int64) error {
	for i, c := range b.Columns {
		s := src.Columns[i]
		var err error
		if c.Text != nil {
			err = c.Text.AppendRows(s.Text, int(s.Text.each(src.Rows)), index)
		} else {
			err = kernel.Gather(c.Data[at*c.RowBytes:], s.Data, int(c.RowBytes), int(c.RowBytes), index)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Bytes returns the size of the elements.
func (b Block) Bytes() int64 {
	n := int64(0)
	for _, c := range b.Columns {
		n += int64(len(c.Data))
		if c.Text != nil {
			n += c.Text.Bytes()
		}
	}
	return n
}

// Layout is where the columns of a block lie in one piece of memory; those of text
// take no room there.
type Layout struct {
	Rows     int64
	Shapes   *spec.Element
	RowBytes []int64
	Offsets  []int64
	Bytes    int64 // of all of it, a multiple of Align
}

// NewLayout lays out rows elements of the given shapes, all of which are known.
// What is beyond the size that a program can address is an InvalidArgument error.
func NewLayout(shapes *spec.Element, rows int64) (Layout, error) {
	l := Layout{Rows: rows, Shapes: shapes, RowBytes: make([]int64, len(shapes.Components)), Offsets: make([]int64, len(shapes.Components))}
	for i, c := range shapes.Components {
		n, known := c.Bytes()
		if !known || n > 0 && rows > (math.MaxInt64>>8-l.Bytes)/n {
			return l, errs.New(errs.InvalidArgument, "layout", "%d elements with component%s %s are too large", rows, shapes.Name(i), c)
		}
		l.RowBytes[i], l.Offsets[i] = n, l.Bytes
		l.Bytes = AlignUp(l.Bytes + n*rows)
	}
	return l, nil
}

// Over returns the block that the layout describes in memory, which is at least
// Bytes long, with texts as the columns of text.
func (l Layout) Over(memory []byte, texts []*Text) Block {
	b := Block{Rows: l.Rows, Shapes: l.Shapes, Columns: make([]Column, len(l.Offsets))}
	for i, off := range l.Offsets {
		if l.Shapes.Components[i].IsText() {
			b.Columns[i].Text, texts = texts[0], texts[1:]
			continue
		}
		b.Columns[i] = Column{Data: memory[off : off+l.Rows*l.RowBytes[i]], RowBytes: l.RowBytes[i]}
	}
	return b
}

// AlignUp returns the next multiple of Align.
func AlignUp(n int64) int64 { return (n + Align - 1) &^ (Align - 1) }
