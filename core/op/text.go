package op

import (
	"bytes"
	"unicode/utf8"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

func init() {
	binders["text"] = bindText
	binders["text_equal"] = bindTextEqual
	binders["gather"] = bindGather
}

// bindText makes strings of any length of a column of a fixed length, as NumPy has
// them: without the NULs at their end, or, in a dtype V, up to the last byte that is
// not NUL, which marks the end.
func bindText(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 || in[0].DType.Kind != 'S' && in[0].DType.Kind != 'U' && in[0].DType.Kind != 'V' {
		return nil, n.refuse(in)
	}
	kind, size := in[0].DType.Kind, in[0].DType.Size
	return &binding{out: []spec.Component{{DType: spec.Text, Shape: in[0].Shape}}, step: func(_ *chance, rows int64, in []operand, out *operand) {
		each := in[0].Count()
		for r := range rows {
			row := in[0].row(r)
			for i := range each {
				appendFixed(out.Text, kind, row[i*size:(i+1)*size])
			}
		}
	}}, nil
}

func appendFixed(t *block.Text, kind byte, value []byte) {
	if kind == 'U' {
		t.Starts = append(t.Starts, int64(len(t.Data)))
		for _, r := range trimRunes(view[rune](value)) {
			t.Data = utf8.AppendRune(t.Data, r)
		}
		t.Ends = append(t.Ends, int64(len(t.Data)))
		return
	}
	value = bytes.TrimRight(value, "\x00")
	if kind == 'V' && len(value) > 0 {
		value = value[:len(value)-1]
	}
	t.Append(value)
}

func trimRunes(r []rune) []rune {
	for len(r) > 0 && r[len(r)-1] == 0 {
		r = r[:len(r)-1]
	}
	return r
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
	var a struct {
		Axis int `json:"axis"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 2 || in[1].DType != int64s || a.Axis < 0 || a.Axis >= len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	g := gather{a.Axis}
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
