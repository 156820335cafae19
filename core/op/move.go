package op

import (
	"encoding/json"
	"slices"

	"infeed/core/errs"
	"infeed/core/spec"
)

func init() {
	binders["slice"] = bindSlice
	binders["transpose"] = bindTranspose
	binders["broadcast_to"] = bindBroadcastTo
	binders["take"] = bindTake
	binders["concatenate"] = bindConcatenate
	binders["size"] = bindSize
}

// known tells whether all dimensions are known, so that a step can be made.
func known(in ...spec.Component) bool {
	for _, c := range in {
		if slices.Contains(c.Shape, -1) {
			return false
		}
	}
	return true
}

// strides returns how far apart values are along each dimension.
func strides(shape []int64) []int64 {
	out, n := make([]int64, len(shape)), int64(1)
	for i := len(shape) - 1; i >= 0; i-- {
		out[i] = n
		n *= shape[i]
	}
	return out
}

// moved is the binding of what reads the values of its operand in another order.
func moved(in spec.Component, shape, stride []int64, offset int64) *binding {
	b := &binding{out: []spec.Component{{DType: in.DType, Shape: shape}}}
	if !known(in) {
		b.step = func(*chance, int64, []operand, *operand) {}
		return b
	}
	row := in.Count()
	order := func(uniform bool) strided {
		s := strided{shape: append([]int64{0}, shape...), strides: append([]int64{row}, stride...), offset: offset, size: in.DType.Size}
		if uniform {
			s.strides[0] = 0
		}
		s.merge()
		return s
	}
	rows, constant, n := order(false), order(true), b.out[0].Count()
	b.step = func(_ *chance, count int64, in []operand, out *operand) {
		s := &rows
		if in[0].uniform {
			s = &constant
		}
		if in[0].Text == nil {
			s.copy(out.Data, in[0].Data, 0)
			return
		}
		t, o := in[0].Text, out.Text
		o.Data = t.Data[:len(t.Data):len(t.Data)]
		o.Starts, o.Ends = resized(o.Starts, count*n), resized(o.Ends, count*n)
		numbers := *s
		numbers.size = 8
		numbers.copy(bytesOf(o.Starts), bytesOf(t.Starts), 0)
		numbers.copy(bytesOf(o.Ends), bytesOf(t.Ends), 0)
	}
	return b
}

func resized(x []int64, n int64) []int64 {
	if int64(cap(x)) < n {
		return make([]int64, n)
	}
	return x[:n]
}

// part is one index of "slice": a number, which takes a dimension away, or start,
// stop and step as Python has them.
type part struct {
	at                *int64
	start, stop, step *int64
}

// UnmarshalJSON reads 3 or [start, stop, step], each of which may be null.
func (p *part) UnmarshalJSON(b []byte) error {
	var three [3]*int64
	if json.Unmarshal(b, &p.at) == nil && p.at != nil {
		return nil
	}
	p.at = nil
	if err := json.Unmarshal(b, &three); err != nil {
		return err
	}
	p.start, p.stop, p.step = three[0], three[1], three[2]
	return nil
}

// of returns where a slice of n values begins, its step, and how many values it has.
func (p *part) of(n int64) (start, step, count int64) {
	step = 1
	if p.step != nil {
		step = *p.step
	}
	clamp := func(x *int64, none, least, most int64) int64 {
		if x == nil {
			return none
		}
		v := *x
		if v < 0 {
			v += n
		}
		return max(least, min(v, most))
	}
	if step > 0 {
		start = clamp(p.start, 0, 0, n)
		stop := clamp(p.stop, n, 0, n)
		return start, step, max(0, (stop-start+step-1)/step)
	}
	start = clamp(p.start, n-1, -1, n-1)
	stop := clamp(p.stop, -1, -1, n-1)
	return start, step, max(0, (start-stop-step-1)/-step)
}

func bindSlice(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Parts []part `json:"parts"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 1 || len(a.Parts) != len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	stride, shape, out, offset := strides(in[0].Shape), []int64{}, []int64{}, int64(0)
	for i, p := range a.Parts {
		d := in[0].Shape[i]
		switch {
		case p.at != nil:
			at := *p.at
			if d >= 0 && (at < -d || at >= d) {
				return nil, errs.New(errs.InvalidArgument, n.Op, "index %d is out of bounds for axis %d with size %d", at, i, d)
			}
			if at < 0 {
				at += d
			}
			offset += at * stride[i]
		case p.step != nil && (*p.step == 0 || *p.step < -1<<32 || *p.step > 1<<32):
			return nil, errs.New(errs.InvalidArgument, n.Op, "step %d", *p.step)
		case d == -1:
			count := int64(-1)
			if p.start == nil && p.stop == nil && (p.step == nil || *p.step == 1) {
				count = d
			}
			shape, out = append(shape, count), append(out, stride[i])
		default:
			start, step, count := p.of(d)
			if count > 0 {
				offset += start * stride[i]
			}
			shape, out = append(shape, count), append(out, step*stride[i])
		}
	}
	return moved(in[0], shape, out, offset), nil
}

// bindTranspose has "axes": of each dimension of the result, which one it is.
func bindTranspose(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Axes []int `json:"axes"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 1 || len(a.Axes) != len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	stride, shape, out, seen := strides(in[0].Shape), []int64{}, []int64{}, map[int]bool{}
	for _, x := range a.Axes {
		if x < 0 || x >= len(stride) || seen[x] {
			return nil, errs.New(errs.InvalidArgument, n.Op, "axes %v", a.Axes)
		}
		seen[x] = true
		shape, out = append(shape, in[0].Shape[x]), append(out, stride[x])
	}
	return moved(in[0], shape, out, 0), nil
}

func bindBroadcastTo(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Shape []int64 `json:"shape"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 1 || len(a.Shape) < len(in[0].Shape) || slices.Min(append([]int64{0}, a.Shape...)) < 0 {
		return nil, n.refuse(in)
	}
	pad := len(a.Shape) - len(in[0].Shape)
	stride := make([]int64, len(a.Shape))
	for i, s := range strides(in[0].Shape) {
		switch d := in[0].Shape[i]; d {
		case 1:
		case -1, a.Shape[pad+i]:
			stride[pad+i] = s
		default:
			return nil, errs.New(errs.InvalidArgument, n.Op, "%v cannot be broadcast to %v", in[0].Shape, a.Shape)
		}
	}
	return moved(in[0], a.Shape, stride, 0), nil
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
		Axis    int     `json:"axis"`
		Indices []int64 `json:"indices"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 1 || a.Axis < 0 || a.Axis >= len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	shape := slices.Clone(in[0].Shape)
	d := shape[a.Axis]
	index := slices.Clone(a.Indices)
	for i, x := range index {
		if d >= 0 && (x < -d || x >= d) {
			return nil, errs.New(errs.InvalidArgument, n.Op, "index %d is out of bounds for axis %d with size %d", x, a.Axis, d)
		}
		if x < 0 {
			index[i] += d
		}
	}
	shape[a.Axis] = int64(len(index))
	outer, inner := around(in[0].Shape, a.Axis)
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
	f(bytesOf(o.Starts), bytesOf(t.Starts), 8)
	f(bytesOf(o.Ends), bytesOf(t.Ends), 8)
}

func bindConcatenate(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Axis int `json:"axis"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) == 0 || a.Axis < 0 || a.Axis >= len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	shape, total := slices.Clone(in[0].Shape), int64(0)
	for _, c := range in {
		if c.DType != in[0].DType || len(c.Shape) != len(shape) {
			return nil, n.refuse(in)
		}
		for i, d := range c.Shape {
			switch {
			case i == a.Axis && (d < 0 || total < 0):
				total = -1
			case i == a.Axis:
				total += d
			case shape[i] == -1:
				shape[i] = d
			case d != -1 && d != shape[i]:
				return nil, errs.New(errs.InvalidArgument, n.Op, "values of shapes %s along axis %d", shapesOf(in), a.Axis)
			}
		}
	}
	shape[a.Axis] = total
	b := &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}}
	outer, inner := around(shape, a.Axis)
	b.step = func(_ *chance, rows int64, in []operand, out *operand) {
		if out.Text != nil {
			concatenateText(in, out, rows, outer)
			return
		}
		size, at := in[0].DType.Size*inner, int64(0)
		for k := range in {
			o := &in[k]
			chunk := o.Shape[a.Axis] * size
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

// bindSize is how many values there are along axes.
func bindSize(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 {
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
	return &binding{out: []spec.Component{{DType: int64s, Shape: []int64{}}}, step: func(_ *chance, rows int64, _ []operand, out *operand) {
		z := view[int64](out.Data)
		for i := range z {
			z[i] = size
		}
	}}, nil
}
