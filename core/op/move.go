package op

import (
	"encoding/json"
	"slices"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

func init() {
	binders["slice"] = bindSlice
	binders["transpose"] = bindTranspose
	binders["broadcast_to"] = bindBroadcastTo
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
		numbers.copy(kernel.Bytes(o.Starts), kernel.Bytes(t.Starts), 0)
		numbers.copy(kernel.Bytes(o.Ends), kernel.Bytes(t.Ends), 0)
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

// bindBroadcastTo has a shape; only the shapes of operands after the first count.
func bindBroadcastTo(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Shape []size `json:"shape"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) == 0 || len(a.Shape) < len(in[0].Shape) {
		return nil, n.refuse(in)
	}
	shape, all, err := n.sizes(a.Shape, in)
	if err != nil {
		return nil, err
	}
	if !all {
		return &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}, step: func(*chance, int64, []operand, *operand) {}}, nil
	}
	if slices.Min(append([]int64{0}, shape...)) < 0 {
		return nil, n.refuse(in)
	}
	pad := len(shape) - len(in[0].Shape)
	stride := make([]int64, len(shape))
	for i, s := range strides(in[0].Shape) {
		switch d := in[0].Shape[i]; d {
		case 1:
		case -1, shape[pad+i]:
			stride[pad+i] = s
		default:
			return nil, errs.New(errs.InvalidArgument, n.Op, "%v cannot be broadcast to %v", in[0].Shape, shape)
		}
	}
	return moved(in[0], shape, stride, 0), nil
}
