package op

import (
	"bytes"
	"slices"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

func init() {
	binders["slice_at"] = bindSliceAt
	binders["mask"] = bindMask
	binders["positions"] = bindPositions
}

// sliceAt is a slice along an axis whose bounds are values. Attributes: axis, step,
// and whether there is a start and a stop, which are operands after the value, int64s.
type sliceAt struct {
	Axis  int   `json:"axis"`
	Step  int64 `json:"step"`
	Start bool  `json:"start"`
	Stop  bool  `json:"stop"`
}

func bindSliceAt(n *node, in []spec.Component) (*binding, error) {
	f := &sliceAt{}
	if err := n.attrs(f); err != nil {
		return nil, err
	}
	bounds := 0
	for _, there := range []bool{f.Start, f.Stop} {
		if there {
			bounds++
		}
	}
	if len(in) != 1+bounds || f.Axis < 0 || f.Axis >= len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	for _, c := range in[1:] {
		if c.DType != int64s || len(c.Shape) > 0 {
			return nil, n.refuse(in)
		}
	}
	if f.Step == 0 || f.Step < -1<<32 || f.Step > 1<<32 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "step %d", f.Step)
	}
	shape := slices.Clone(in[0].Shape)
	shape[f.Axis] = -1
	return &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}, function: f}, nil
}

// of returns where the slice of a row begins and how many values it has.
func (f *sliceAt) of(c *call, row int64) (start, count int64) {
	p, next := part{step: &f.Step}, 1
	if f.Start {
		p.start, next = &view[int64](c.in[next].row(row))[0], next+1
	}
	if f.Stop {
		p.stop = &view[int64](c.in[next].row(row))[0]
	}
	start, _, count = p.of(c.in[0].Shape[f.Axis])
	return start, count
}

func (f *sliceAt) run(c *call) (int64, error) {
	first, count := f.of(c, 0)
	starts, _ := c.own.(*[]int64)
	if starts == nil {
		starts = &[]int64{}
		c.own = starts
	}
	*starts = append((*starts)[:0], first)
	for r := int64(1); r < c.rows; r++ {
		start, n := f.of(c, r)
		if n != count {
			break
		}
		*starts = append(*starts, start)
	}
	o := &c.in[0]
	c.rows = int64(len(*starts))
	shape := slices.Clone(o.Shape)
	shape[f.Axis] = count
	out, err := c.make(0, o.DType, shape...)
	if err != nil {
		return 0, err
	}
	outer, inner := around(o.Shape, f.Axis)
	to := taker{o: o, out: out, inner: inner}
	for r, start := range *starts {
		to.row(int64(r))
		for k := range outer {
			from := k*o.Shape[f.Axis] + start
			if f.Step == 1 {
				to.take(from, count)
				continue
			}
			for i := range count {
				to.take(from+i*f.Step, 1)
			}
		}
	}
	return c.rows, nil
}

// taker adds values of the rows of an operand to memory: inner of them at a time.
type taker struct {
	o     *operand
	out   block.Column
	inner int64
	from  []byte
	first int64 // text of the row
	at    int
}

func (t *taker) row(i int64) {
	if t.o.Text != nil {
		_, first := t.o.texts(i)
		t.first = int64(first)
		return
	}
	t.from = t.o.row(i)
}

// take adds count times inner values, from place from on.
func (t *taker) take(from, count int64) {
	from, count = from*t.inner, count*t.inner
	if t.o.Text != nil {
		t.out.Text.AppendRange(t.o.Text, int(t.first+from), int(t.first+from+count))
		return
	}
	size := t.o.DType.Size
	t.at += copy(t.out.Data[t.at:], t.from[from*size:(from+count)*size])
}

// mask is the values of the first operand for which the second, bools of its first
// dimensions, is true.
type mask struct{}

func bindMask(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 2 || in[1].DType != boolean || len(in[1].Shape) == 0 || len(in[1].Shape) > len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	shape := append([]int64{-1}, in[0].Shape[len(in[1].Shape):]...)
	return &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}, function: mask{}}, nil
}

func (mask) run(c *call) (int64, error) {
	o, which := &c.in[0], &c.in[1]
	if rank := len(which.Shape); !slices.Equal(o.Shape[:rank], which.Shape) {
		return 0, errs.New(errs.InvalidArgument, "mask", "a mask of shape %v for values of shape %v", which.Shape, o.Shape)
	}
	count, rows := trues(which.row(0)), int64(1)
	for rows < c.rows && trues(which.row(rows)) == count {
		rows++
	}
	c.rows = rows
	rest := o.Shape[len(which.Shape):]
	out, err := c.make(0, o.DType, append([]int64{count}, rest...)...)
	if err != nil {
		return 0, err
	}
	_, inner := around(o.Shape, len(which.Shape)-1)
	to := taker{o: o, out: out, inner: inner}
	for r := range rows {
		to.row(r)
		all, from := which.row(r), 0
		for i, yes := range all { // values side by side are taken together
			if yes == 0 {
				to.take(int64(from), int64(i-from))
				from = i + 1
			}
		}
		to.take(int64(from), int64(len(all)-from))
	}
	return rows, nil
}

// trues counts the bools that are true.
func trues(b []byte) int64 { return int64(len(b) - bytes.Count(b, []byte{0})) }

// bindPositions is 0, 1, ... along an axis of the operand.
func bindPositions(n *node, in []spec.Component) (*binding, error) {
	axis, err := n.axis(in, 1)
	if err != nil {
		return nil, err
	}
	d := in[0].Shape[axis]
	return &binding{out: []spec.Component{{DType: int64s, Shape: []int64{d}}}, step: func(_ *chance, rows int64, _ []operand, out *operand) {
		z := view[int64](out.Data)
		for range rows {
			for i := range d {
				z[i] = i
			}
			z = z[d:]
		}
	}}, nil
}
