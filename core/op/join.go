package op

import (
	"math"
	"slices"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

func init() {
	binders["take"] = bindTake
	binders["concatenate"] = bindConcatenate
	binders["size"] = bindSize
}

// around returns how many values there are before and after an axis.
func around(shape []int64, axis int) (outer, inner int64) {
	outer, inner = 1, 1
	for i, d := range shape {
		if i < axis {
			outer *= d
		} else if i > axis {
			inner *= d
		}
	}
	return outer, inner
}

// bindTake takes values along an axis by number.
func bindTake(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Indices []int64 `json:"indices"`
	}
	axis, err := n.axis(in, 1)
	if err == nil {
		err = n.attrs(&a)
	}
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(in[0].Shape)
	d := shape[axis]
	index := slices.Clone(a.Indices)
	for i, x := range index {
		if d >= 0 && (x < -d || x >= d) {
			return nil, errs.New(errs.InvalidArgument, n.Op, "index %d is out of bounds for axis %d with size %d", x, axis, d)
		}
		if x < 0 {
			index[i] += d
		}
	}
	shape[axis] = int64(len(index))
	outer, inner := around(in[0].Shape, axis)
	b := &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}}
	b.step = func(_ *chance, rows int64, in []operand, out *operand) {
		each := rows * outer
		if in[0].uniform {
			each = outer
		}
		eachColumn(in[0], out, rows, func(dst, src []byte, size int64) {
			chunk := inner * size
			for at := int64(0); at < rows*outer; at++ {
				from := src[at%each*d*chunk:]
				for _, i := range index {
					copy(dst[:chunk], from[i*chunk:])
					dst = dst[chunk:]
				}
			}
		})
	}
	return b, nil
}

// eachColumn gives f the values of an operand to be moved: those of numbers, or where
// texts start and where they end, which are numbers too.
func eachColumn(in operand, out *operand, rows int64, f func(dst, src []byte, size int64)) {
	if in.Text == nil {
		f(out.Data, in.Data, in.DType.Size)
		return
	}
	t, o, n := in.Text, out.Text, rows*out.Count()
	o.Data = t.Data[:len(t.Data):len(t.Data)]
	o.Starts, o.Ends = resized(o.Starts, n), resized(o.Ends, n)
	f(kernel.Bytes(o.Starts), kernel.Bytes(t.Starts), 8)
	f(kernel.Bytes(o.Ends), kernel.Bytes(t.Ends), 8)
}

func bindConcatenate(n *node, in []spec.Component) (*binding, error) {
	axis, err := n.axis(in, len(in))
	if err != nil {
		return nil, err
	}
	shape, total := slices.Clone(in[0].Shape), int64(0)
	for _, c := range in {
		if c.DType != in[0].DType || len(c.Shape) != len(shape) {
			return nil, n.refuse(in)
		}
		for i, d := range c.Shape {
			switch {
			case i == axis && (d < 0 || total < 0):
				total = -1
			case i == axis:
				total += d
			case shape[i] == -1:
				shape[i] = d
			case d != -1 && d != shape[i]:
				return nil, errs.New(errs.InvalidArgument, n.Op, "values of shapes %s along axis %d", shapesOf(in), axis)
			}
		}
	}
	shape[axis] = total
	b := &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}}
	outer, inner := around(shape, axis)
	b.step = func(_ *chance, rows int64, in []operand, out *operand) {
		if out.Text != nil {
			concatenateText(in, out, rows, outer)
			return
		}
		size, at := in[0].DType.Size*inner, int64(0)
		for k := range in {
			o := &in[k]
			chunk := o.Shape[axis] * size
			for r := range rows {
				from := o.row(r)
				for i := range outer {
					copy(out.Data[(r*outer+i)*total*size+at:], from[i*chunk:(i+1)*chunk])
				}
			}
			at += chunk
		}
	}
	return b, nil
}

func concatenateText(in []operand, out *operand, rows, outer int64) {
	for r := range rows {
		for i := range int(outer) {
			for k := range in {
				each, first := in[k].texts(r)
				chunk := each / int(outer)
				out.Text.AppendRange(in[k].Text, first+i*chunk, first+(i+1)*chunk)
			}
		}
	}
}

// bindSize is how many values there are along axes; an int32 where the attribute dtype says so.
func bindSize(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		DType string `json:"dtype"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 1 || a.DType != "" && a.DType != "<i4" {
		return nil, n.refuse(in)
	}
	axes, err := n.axes(len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	size := int64(1)
	for _, x := range axes {
		size *= in[0].Shape[x]
	}
	if a.DType == "" {
		return &binding{out: []spec.Component{{DType: int64s, Shape: []int64{}}}, step: counted(size)}, nil
	}
	if size > math.MaxInt32 {
		return nil, errs.New(errs.InvalidArgument, "map", "a size of %d is a component of a result, which int32 cannot hold; make it an int64", size)
	}
	return &binding{out: []spec.Component{{DType: int32s, Shape: []int64{}}}, step: counted(int32(size))}, nil
}

// counted makes a number of each row.
func counted[T any](size T) step {
	return func(_ *chance, rows int64, _ []operand, out *operand) {
		z := view[T](out.Data)
		for i := range z {
			z[i] = size
		}
	}
}
