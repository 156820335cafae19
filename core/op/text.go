package op

import (
	"bytes"

	"infeed/core/errs"
	"infeed/core/spec"
)

func init() {
	binders["text_equal"] = bindTextEqual
	binders["gather"] = bindGather
}

func bindTextEqual(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 2 || !in[0].IsText() || !in[1].IsText() {
		return nil, n.refuse(in)
	}
	shape, err := n.broadcast(in)
	if err != nil {
		return nil, err
	}
	b := &binding{out: []spec.Component{{DType: boolean, Shape: shape}}, step: func(*chance, int64, []operand, *operand) {}}
	if !known(in...) {
		return b, nil
	}
	xs, ys := matrices(in[0].Shape, shape), matrices(in[1].Shape, shape)
	b.step = func(_ *chance, rows int64, in []operand, out *operand) {
		z := out.Data
		for r := range rows {
			_, x := in[0].texts(r)
			_, y := in[1].texts(r)
			for i := range xs {
				z[i] = bit(bytes.Equal(in[0].Text.At(x+int(xs[i])), in[1].Text.At(y+int(ys[i]))))
			}
			z = z[len(xs):]
		}
	}
	return b, nil
}

// gather takes values of the first operand along an axis by the numbers in the second.
type gather struct{ axis int }

func bindGather(n *node, in []spec.Component) (*binding, error) {
	axis, err := n.axis(in, 2)
	if err != nil {
		return nil, err
	}
	if in[1].DType != int64s {
		return nil, n.refuse(in)
	}
	g := gather{axis}
	return &binding{out: []spec.Component{{DType: in[0].DType, Shape: g.shape(in[0].Shape, in[1].Shape)}}, function: g}, nil
}

func (g gather) shape(from, index []int64) []int64 {
	out := append([]int64{}, from[:g.axis]...)
	return append(append(out, index...), from[g.axis+1:]...)
}

// run implements function; it fails at the first row with a number out of bounds.
func (g gather) run(c *call) (int64, error) {
	x, index := &c.in[0], &c.in[1]
	out, err := c.make(0, x.DType, g.shape(x.Shape, index.Shape)...)
	if err != nil {
		return 0, err
	}
	size := x.Shape[g.axis]
	outer, inner := around(x.Shape, g.axis)
	dst := out.Data
	for r := range c.rows {
		at := view[int64](index.row(r))
		for _, i := range at {
			if i < -size || i >= size {
				return r, errs.New(errs.InvalidArgument, "take", "index %d is out of bounds for axis %d with size %d", i, g.axis, size)
			}
		}
		for o := range outer {
			for _, i := range at {
				if i < 0 {
					i += size
				}
				from := (o*size + i) * inner
				if x.Text != nil {
					_, first := x.texts(r)
					out.Text.AppendRange(x.Text, first+int(from), first+int(from+inner))
					continue
				}
				n := inner * x.DType.Size
				copy(dst[:n], x.row(r)[from*x.DType.Size:])
				dst = dst[n:]
			}
		}
	}
	return c.rows, nil
}
