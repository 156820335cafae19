package op

import (
	"cmp"
	"slices"
	"sort"

	"infeed/core/spec"
)

// Operations along an axis that look at several values for each that they make.

func init() {
	scanReal[int8](int8s)
	scanReal[int16](int16s)
	scanReal[int32](int32s)
	scanReal[int64](int64s)
	scanReal[uint8](uint8s)
	scanReal[uint16](uint16s)
	scanReal[uint32](uint32s)
	scanReal[uint64](uint64s)
	scanReal[float32](float32s)
	scanReal[float64](float64s)
	half := func(f func(a, b float32) float32) func(a, b uint16) uint16 {
		return func(a, b uint16) uint16 { return toHalf(f(fromHalf(a), fromHalf(b))) }
	}
	scanners[loopKey{"cumsum", float16s}] = accumulate(half(func(a, b float32) float32 { return a + b }))
	scanners[loopKey{"cumprod", float16s}] = accumulate(half(func(a, b float32) float32 { return a * b }))
	halves := func(a, b uint16) int { return ascending(fromHalf(a), fromHalf(b)) }
	scanners[loopKey{"sort", float16s}] = along1(func(z, x []uint16) {
		copy(z, x)
		slices.SortFunc(z, halves)
	})
	scanners[loopKey{"argsort", float16s}] = along1(places(halves))
	searchers[float16s] = search(halves)
	for _, op := range []string{"cumsum", "cumprod", "sort", "argsort"} {
		binders[op] = bindScan
	}
	binders["searchsorted"] = bindSearch
}

// scanners makes size values, each inner apart, of as many.
var scanners = map[loopKey]func(z, x []byte, size, inner int64){}

func scanReal[T ordered](t spec.DType) {
	scanners[loopKey{"cumsum", t}] = accumulate(func(a, b T) T { return a + b })
	scanners[loopKey{"cumprod", t}] = accumulate(func(a, b T) T { return a * b })
	scanners[loopKey{"sort", t}] = along1(func(z, x []T) {
		copy(z, x)
		slices.Sort(z)
		nans := 0 // which NumPy has at the end
		for nans < len(z) && z[nans] != z[nans] {
			nans++
		}
		if nans > 0 {
			slices.Reverse(z[:nans])
			slices.Reverse(z[nans:])
			slices.Reverse(z)
		}
	})
	scanners[loopKey{"argsort", t}] = along1(places(ascending[T]))
	searchers[t] = search(ascending[T])
}

// ascending compares as NumPy sorts: NaN is greater than all.
func ascending[T ordered](a, b T) int {
	if a != a || b != b {
		return -cmp.Compare(a, b)
	}
	return cmp.Compare(a, b)
}

func accumulate[T any](join func(a, b T) T) func(z, x []byte, size, inner int64) {
	return func(zs, xs []byte, size, inner int64) {
		z, x := view[T](zs), view[T](xs)
		copy(z[:min(inner, int64(len(z)))], x)
		for i := inner; i < size*inner; i++ {
			z[i] = join(z[i-inner], x[i])
		}
	}
}

// along1 is a scanner for values side by side.
func along1[Z, T any](f func(z []Z, x []T)) func(z, x []byte, size, inner int64) {
	return func(z, x []byte, size, inner int64) { f(view[Z](z), view[T](x)) }
}

// places finds where the values are in ascending order; those that are equal keep theirs.
func places[T any](order func(a, b T) int) func(z []int64, x []T) {
	return func(z []int64, x []T) {
		for i := range z {
			z[i] = int64(i)
		}
		slices.SortStableFunc(z, func(a, b int64) int { return order(x[a], x[b]) })
	}
}

// bindScan has the attribute "axis". What sorts does so along the last axis.
func bindScan(n *node, in []spec.Component) (*binding, error) {
	axis, err := n.axis(in, 1)
	if err != nil {
		return nil, err
	}
	scan := scanners[loopKey{n.Op, in[0].DType}]
	out := spec.Component{DType: in[0].DType, Shape: slices.Clone(in[0].Shape)}
	sorts := n.Op == "sort" || n.Op == "argsort"
	if scan == nil || sorts && axis != len(in[0].Shape)-1 {
		return nil, n.refuse(in)
	}
	if n.Op == "argsort" {
		out.DType = int64s
	}
	outer, inner := around(in[0].Shape, axis)
	size := in[0].Shape[axis]
	return &binding{out: []spec.Component{out}, step: func(_ *chance, rows int64, in []operand, out *operand) {
		chunk, made := size*inner*in[0].DType.Size, size*inner*out.DType.Size
		z := out.Data
		for r := range rows {
			x := in[0].row(r)
			for range outer {
				scan(z[:made], x[:chunk], size, inner)
				z, x = z[made:], x[chunk:]
			}
		}
	}}, nil
}

// searchers finds at which of sorted values others would be put, before or behind
// those that equal them.
var searchers = map[spec.DType]func(z []int64, sorted, x []byte, behind bool){}

func search[T any](order func(a, b T) int) func(z []int64, sorted, x []byte, behind bool) {
	return func(z []int64, all, xs []byte, behind bool) {
		sorted := view[T](all)
		for i, v := range view[T](xs) {
			z[i] = int64(sort.Search(len(sorted), func(k int) bool {
				c := order(sorted[k], v)
				return c > 0 || c == 0 && !behind
			}))
		}
	}
}

// bindSearch is where the values of the second operand are in the first, a sorted
// vector. The attribute "right" tells that they go behind those that equal them.
func bindSearch(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Right bool `json:"right"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 2 || len(in[0].Shape) != 1 || in[0].DType != in[1].DType || searchers[in[0].DType] == nil {
		return nil, n.refuse(in)
	}
	find := searchers[in[0].DType]
	out := spec.Component{DType: int64s, Shape: slices.Clone(in[1].Shape)}
	return &binding{out: []spec.Component{out}, step: func(_ *chance, rows int64, in []operand, out *operand) {
		for r := range rows {
			find(view[int64](out.row(r)), in[0].row(r), in[1].row(r), a.Right)
		}
	}}, nil
}
