package op

import (
	"math"
	"slices"

	"infeed/core/errs"
	"infeed/core/spec"
)

func init() {
	reduceReal[int8](int8s, math.MinInt8, math.MaxInt8)
	reduceReal[int16](int16s, math.MinInt16, math.MaxInt16)
	reduceReal[int32](int32s, math.MinInt32, math.MaxInt32)
	reduceReal[int64](int64s, math.MinInt64, math.MaxInt64)
	reduceReal[uint8](uint8s, 0, math.MaxUint8)
	reduceReal[uint16](uint16s, 0, math.MaxUint16)
	reduceReal[uint32](uint32s, 0, math.MaxUint32)
	reduceReal[uint64](uint64s, 0, math.MaxUint64)
	reduceReal[float32](float32s, float32(math.Inf(-1)), float32(math.Inf(1)))
	reduceReal[float64](float64s, math.Inf(-1), math.Inf(1))
	reduceHalves()
	reducers[loopKey{"any", boolean}] = reducer[uint8]{0, maximumOf[uint8], maximumInto[uint8]}.step
	reducers[loopKey{"all", boolean}] = reducer[uint8]{1, minimumOf[uint8], minimumInto[uint8]}.step
	reducers[loopKey{"max", boolean}] = reducers[loopKey{"any", boolean}]
	reducers[loopKey{"min", boolean}] = reducers[loopKey{"all", boolean}]
	placers[loopKey{"argmax", boolean}], placers[loopKey{"argmin", boolean}] = place1(after[uint8]), place1(before[uint8])
	for _, op := range []string{"sum", "prod", "max", "min", "any", "all"} {
		binders[op] = bindReduce
	}
	binders["argmax"], binders["argmin"] = bindPlace, bindPlace
}

// reducers makes the steps of reductions over dimensions that are known.
var reducers = map[loopKey]func(dims []dimension) step{}

// dimension is one of a value, or several that are reduced, or kept, together.
type dimension struct {
	size    int64
	reduced bool
}

// reducer is how values are joined: from an initial value, runs of values into one,
// and values into others at the same places.
type reducer[T any] struct {
	initial T
	of      func(acc T, x []T) T
	into    func(acc, x []T)
}

func reduceReal[T ordered](t spec.DType, least, most T) {
	sum := reducer[T]{0, func(acc T, x []T) T { return acc + sumOf(x) }, func(acc, x []T) {
		for i, v := range x {
			acc[i] += v
		}
	}}
	if t.Kind == 'f' {
		sum.of = func(acc T, x []T) T { return acc + pairwise(x) }
	}
	reducers[loopKey{"sum", t}] = sum.step
	reducers[loopKey{"prod", t}] = reducer[T]{1, func(acc T, x []T) T {
		for _, v := range x {
			acc *= v
		}
		return acc
	}, func(acc, x []T) {
		for i, v := range x {
			acc[i] *= v
		}
	}}.step
	reducers[loopKey{"max", t}] = reducer[T]{least, maximumOf[T], maximumInto[T]}.step
	reducers[loopKey{"min", t}] = reducer[T]{most, minimumOf[T], minimumInto[T]}.step
	placers[loopKey{"argmax", t}] = place1(after[T])
	placers[loopKey{"argmin", t}] = place1(before[T])
}

// reduceHalves rounds each result to float16, as NumPy does.
func reduceHalves() {
	wide := func(f func(acc, x float32) float32) reducer[uint16] {
		return reducer[uint16]{
			of: func(acc uint16, x []uint16) uint16 {
				for _, v := range x {
					acc = toHalf(f(fromHalf(acc), fromHalf(v)))
				}
				return acc
			},
			into: func(acc, x []uint16) {
				for i, v := range x {
					acc[i] = toHalf(f(fromHalf(acc[i]), fromHalf(v)))
				}
			},
		}
	}
	sum := wide(func(acc, x float32) float32 { return acc + x })
	sum.of = func(acc uint16, x []uint16) uint16 {
		values := make([]float32, len(x))
		for i, v := range x {
			values[i] = fromHalf(v)
		}
		return toHalf(fromHalf(acc) + pairwise(values))
	}
	product := wide(func(acc, x float32) float32 { return acc * x })
	greatest := wide(func(acc, x float32) float32 { return maximumOf(acc, []float32{x}) })
	least := wide(func(acc, x float32) float32 { return minimumOf(acc, []float32{x}) })
	product.initial, greatest.initial, least.initial = toHalf(1), toHalf(float32(math.Inf(-1))), toHalf(float32(math.Inf(1)))
	for op, f := range map[string]reducer[uint16]{"sum": sum, "prod": product, "max": greatest, "min": least} {
		reducers[loopKey{op, float16s}] = f.step
	}
}

func maximumOf[T ordered](acc T, x []T) T {
	for _, v := range x {
		if !(acc >= v) && acc == acc {
			acc = v
		}
	}
	return acc
}

func maximumInto[T ordered](acc, x []T) {
	for i, v := range x {
		if !(acc[i] >= v) && acc[i] == acc[i] {
			acc[i] = v
		}
	}
}

func minimumOf[T ordered](acc T, x []T) T {
	for _, v := range x {
		if !(acc <= v) && acc == acc {
			acc = v
		}
	}
	return acc
}

func minimumInto[T ordered](acc, x []T) {
	for i, v := range x {
		if !(acc[i] <= v) && acc[i] == acc[i] {
			acc[i] = v
		}
	}
}

func sumOf[T ordered](x []T) (sum T) {
	for _, v := range x {
		sum += v
	}
	return sum
}

// pairwise sums floats in the order of NumPy: eight sums side by side in runs of up
// to 128 values, and halves of what is longer.
func pairwise[T ordered](x []T) T {
	n := len(x)
	if n < 8 {
		return sumOf(x)
	}
	if n > 128 {
		half := n / 2
		half -= half % 8
		return pairwise(x[:half]) + pairwise(x[half:])
	}
	r := [8]T(x[:8])
	i := 8
	for ; i+8 <= n; i += 8 {
		y := x[i : i+8 : i+8]
		r[0] += y[0]
		r[1] += y[1]
		r[2] += y[2]
		r[3] += y[3]
		r[4] += y[4]
		r[5] += y[5]
		r[6] += y[6]
		r[7] += y[7]
	}
	sum := ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]))
	for ; i < n; i++ {
		sum += x[i]
	}
	return sum
}

func (f reducer[T]) step(dims []dimension) step {
	return func(_ *chance, rows int64, in []operand, out *operand) {
		z := view[T](out.Data)
		for i := range z {
			z[i] = f.initial
		}
		each := int64(1)
		for _, d := range dims {
			if !d.reduced {
				each *= d.size
			}
		}
		for r := range rows {
			f.reduce(dims, view[T](in[0].row(r)), z[r*each:(r+1)*each])
		}
	}
}

func (f reducer[T]) reduce(dims []dimension, x, acc []T) {
	if len(x) == 0 {
		return
	}
	if len(dims) == 0 {
		f.into(acc, x)
		return
	}
	d, rest := dims[0], dims[1:]
	switch {
	case len(rest) == 0 && d.reduced:
		acc[0] = f.of(acc[0], x)
	case len(rest) == 0:
		f.into(acc, x)
	default:
		inner, kept := len(x)/int(d.size), len(acc)
		if !d.reduced {
			kept /= int(d.size)
		}
		for i := range int(d.size) {
			to := acc[:kept]
			if !d.reduced {
				to = acc[i*kept : (i+1)*kept]
			}
			f.reduce(rest, x[i*inner:(i+1)*inner], to)
		}
	}
}

// reduced reads the axes of a reduction and returns the shape that is left, and the
// dimensions, joined where they can be.
func (n *node) reduced(in spec.Component) (shape []int64, dims []dimension, err error) {
	axes, err := n.axes(len(in.Shape))
	if err != nil {
		return nil, nil, err
	}
	var a struct {
		Keep bool `json:"keepdims"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, nil, err
	}
	shape = []int64{}
	for i, d := range in.Shape {
		gone := slices.Contains(axes, i)
		if !gone {
			shape = append(shape, d)
		} else if a.Keep {
			shape = append(shape, 1)
		}
		if last := len(dims) - 1; d == 1 {
			continue
		} else if last >= 0 && dims[last].reduced == gone {
			dims[last].size *= d
		} else {
			dims = append(dims, dimension{d, gone})
		}
	}
	return shape, dims, nil
}

func bindReduce(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 || reducers[loopKey{n.Op, in[0].DType}] == nil {
		return nil, n.refuse(in)
	}
	shape, dims, err := n.reduced(in[0])
	if err != nil {
		return nil, err
	}
	b := &binding{out: []spec.Component{{DType: in[0].DType, Shape: shape}}}
	if b.step = reducers[loopKey{n.Op, in[0].DType}](dims); n.Op == "max" || n.Op == "min" {
		if slices.ContainsFunc(dims, func(d dimension) bool { return d.reduced && d.size == 0 }) {
			return nil, errs.New(errs.InvalidArgument, n.Op, "of no values: axes of size 0 in %s", in[0])
		}
	}
	return b, nil
}
