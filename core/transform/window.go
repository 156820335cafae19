package transform

import (
	"encoding/binary"
	"math"
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// WindowOptions says what the windows of Window are.
type WindowOptions struct {
	// Size is how many elements a window has, Shift how many elements after the start
	// of one the next one starts, and Stride how far its elements are from one another.
	Size, Shift, Stride int64
	// DropRemainder leaves out windows that have fewer elements.
	DropRemainder bool
}

// span is over how many elements a window reaches.
func (o WindowOptions) span() int64 { return (o.Size-1)*o.Stride + 1 }

// of returns the numbers of the elements of window k among n, or fewer than Size.
func (o WindowOptions) of(to []int64, k, n int64) []int64 {
	for i := range o.Size {
		x := k*o.Shift + i*o.Stride
		if x >= n {
			break
		}
		to = append(to, x)
	}
	return to
}

// covers tells whether element x is in one of the first n windows.
func (o WindowOptions) covers(x, n int64) bool {
	for k := min(n-1, x/o.Shift); k >= 0 && x < k*o.Shift+o.span(); k-- {
		if (x-k*o.Shift)%o.Stride == 0 {
			return true
		}
	}
	return false
}

// windows returns how many there are over n elements.
func (o WindowOptions) windows(n int64) int64 {
	if n < 0 {
		return n
	}
	if o.DropRemainder {
		n -= o.span() - 1
	}
	if n <= 0 {
		return 0
	}
	return (n-1)/o.Shift + 1
}

type windows struct {
	in     dataset.Definition
	o      WindowOptions
	spec   *spec.Element
	starts []int // of what each dataset is made of among the components of elements, and where the last ends
}

type indexedWindows struct {
	windows
	in dataset.Indexed
}

// Window returns elements whose components are datasets: those of a few elements of
// the input each. See [DatasetName].
func Window(in dataset.Definition, o WindowOptions) (dataset.Definition, error) {
	const op = "window"
	for name, x := range map[string]int64{"size": o.Size, "shift": o.Shift, "stride": o.Stride} {
		if x < 1 || x > math.MaxInt32 {
			return nil, errs.New(errs.InvalidArgument, op, "%s is %d; it must be at least 1 and at most %d", name, x, math.MaxInt32)
		}
	}
	e, starts, err := datasetsOf(in.Spec())
	if err != nil {
		return nil, err
	}
	w := windows{in, o, e, starts}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &indexedWindows{w, indexed}, nil
	}
	return &w, nil
}

func (w *windows) Spec() *spec.Element { return w.spec }
func (w *windows) Cardinality() int64  { return w.o.windows(w.in.Cardinality()) }

// write makes a window of rows, appended to the texts of out.
func (w *windows) write(rows []pickedRow, out block.Block, scratch []byte) []byte {
	for i, c := range out.Columns {
		scratch = scratch[:0]
		for rest := rows; len(rest) > 0; {
			n := 1
			for ; n < len(rest) && w.alike(i, rest[n], rest[0]); n++ {
			}
			scratch = binary.AppendUvarint(scratch, uint64(n))
			for part := w.starts[i]; part < w.starts[i+1]; part++ {
				scratch = appendRows(scratch, part, rest[:n])
			}
			rest = rest[n:]
		}
		c.Text.Append(scratch)
	}
	return scratch
}

// alike tells whether what dataset i is made of has equal shapes in two rows.
func (w *windows) alike(i int, a, b pickedRow) bool {
	if a.block == b.block {
		return true
	}
	from, to := w.starts[i], w.starts[i+1]
	return slices.EqualFunc(a.block.Shapes.Components[from:to], b.block.Shapes.Components[from:to], spec.Component.Equal)
}

// appendRows appends a component of rows as appendBlock does.
func appendRows(to []byte, i int, rows []pickedRow) []byte {
	component := rows[0].block.Shapes.Components[i]
	for _, d := range component.Shape {
		to = binary.AppendUvarint(to, uint64(d))
	}
	n := component.Count()
	for _, r := range rows {
		c := r.block.Columns[i]
		if c.Text == nil {
			to = append(to, c.Data[r.row*c.RowBytes:(r.row+1)*c.RowBytes]...)
			continue
		}
		for k := r.row * n; k < (r.row+1)*n; k++ {
			text := c.Text.At(int(k))
			to = binary.AppendUvarint(to, uint64(len(text)))
			to = append(to, text...)
		}
	}
	return to
}

func (w *indexedWindows) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(w, s, pass, from)
}

func (w *indexedWindows) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := w.in.Open(s, pass)
	return &windowsPass{indexedWindows: w, in: in, n: dataset.End(w.in)}, err
}

type windowsPass struct {
	*indexedWindows
	in dataset.RandomAccess
	n  int64 // elements of the input
}

func (p *windowsPass) Fetch(index []int64, dst dataset.Sink) error {
	out, err := dst.Block(p.spec, int64(len(index)))
	if err != nil {
		return err
	}
	in, elements, rows := borrow(), scratch.Get().(*[]int64), picking.Get().(*[]pickedRow)
	defer func() {
		giveBack(in)
		scratch.Put(elements)
		picking.Put(rows)
	}()
	var text []byte
	for _, k := range index {
		in.Reset()
		*elements = p.o.of((*elements)[:0], k, p.n)
		if err := p.in.Fetch(*elements, in); err != nil {
			return err
		}
		*rows = (*rows)[:0]
		for i := range in.Blocks() {
			b := &in.Blocks()[i]
			for r := range b.Rows {
				*rows = append(*rows, pickedRow{b, r})
			}
		}
		text = p.write(*rows, out, text)
	}
	return nil
}
