package op

import (
	"infeed/core/errs"
	"infeed/core/spec"
)

// placers finds where the greatest or least of size values is, each inner apart.
var placers = map[loopKey]func(x []byte, z []int64, size, inner int64){}

// after and before tell whether a value is found rather than the best so far. NaN
// is, the first one.
func after[T ordered](v, best T) bool  { return v > best || v != v && best == best }
func before[T ordered](v, best T) bool { return v < best || v != v && best == best }

func place1[T ordered](found func(v, best T) bool) func(x []byte, z []int64, size, inner int64) {
	return func(b []byte, z []int64, size, inner int64) {
		x := view[T](b)
		for i := range inner {
			best := x[i]
			z[i] = 0
			for k := int64(1); k < size; k++ {
				if v := x[k*inner+i]; found(v, best) {
					best, z[i] = v, k
				}
			}
		}
	}
}

func bindPlace(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 {
		return nil, n.refuse(in)
	}
	place := placers[loopKey{n.Op, in[0].DType}]
	if place == nil && in[0].DType == float16s {
		place = placeHalves(placers[loopKey{n.Op, float32s}])
	}
	shape, _, err := n.reduced(in[0])
	if err != nil {
		return nil, err
	}
	axes, _ := n.axes(len(in[0].Shape))
	if place == nil || len(axes) != 1 {
		return nil, n.refuse(in)
	}
	size := in[0].Shape[axes[0]]
	if size == 0 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "of no values: axis %d of %s", axes[0], in[0])
	}
	outer, inner := around(in[0].Shape, axes[0])
	return &binding{out: []spec.Component{{DType: int64s, Shape: shape}}, step: func(_ *chance, rows int64, in []operand, out *operand) {
		z := view[int64](out.Data)
		for r := range rows {
			x := in[0].row(r)
			for range outer {
				chunk := size * inner * in[0].DType.Size
				place(x[:chunk], z[:inner], size, inner)
				x, z = x[chunk:], z[inner:]
			}
		}
	}}, nil
}

func placeHalves(place func(x []byte, z []int64, size, inner int64)) func(x []byte, z []int64, size, inner int64) {
	return func(x []byte, z []int64, size, inner int64) {
		wide := make([]byte, 2*len(x))
		widen(wide, x)
		place(wide, z, size, inner)
	}
}
