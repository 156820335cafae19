package op

import (
	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

func init() {
	binders["matmul"] = bindMatmul
	multiplied[int8](int8s)
	multiplied[int16](int16s)
	multiplied[int32](int32s)
	multiplied[int64](int64s)
	multiplied[uint8](uint8s)
	multiplied[uint16](uint16s)
	multiplied[uint32](uint32s)
	multiplied[uint64](uint64s)
	multiplied[float32](float32s)
	multiplied[float64](float64s)
}

// multipliers multiply one matrix [m k] by another [k n].
var multipliers = map[spec.DType]func(z, x, y []byte, m, k, n int64){}

func multiplied[T ordered](t spec.DType) {
	multipliers[t] = func(zb, xb, yb []byte, m, k, n int64) {
		z, x, y := view[T](zb), view[T](xb), view[T](yb)
		clear(z)
		for i := range m {
			row := z[i*n : (i+1)*n]
			for j, a := range x[i*k : (i+1)*k] {
				from := y[int64(j)*n:][:len(row)]
				for l, b := range from {
					row[l] += T(a * b)
				}
			}
		}
	}
}

// bindMatmul multiplies the matrices in the last two dimensions; those before are
// broadcast.
func bindMatmul(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 2 || in[0].DType != in[1].DType || multipliers[in[0].DType] == nil || len(in[0].Shape) < 2 || len(in[1].Shape) < 2 {
		return nil, n.refuse(in)
	}
	a, b := in[0].Shape, in[1].Shape
	ra, rb := len(a)-2, len(b)-2
	if a[ra+1] != b[rb] && a[ra+1] != -1 && b[rb] != -1 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "matrices of shapes %v and %v", a, b)
	}
	outer, err := n.broadcast([]spec.Component{{Shape: a[:ra]}, {Shape: b[:rb]}})
	if err != nil {
		return nil, err
	}
	out := spec.Component{DType: in[0].DType, Shape: append(append([]int64{}, outer...), a[ra], b[rb+1])}
	bound := &binding{out: []spec.Component{out}, step: func(*chance, int64, []operand, *operand) {}}
	if !known(in...) {
		return bound, nil
	}
	count := spec.Component{Shape: outer}.Count()
	xs, ys := matrices(a[:ra], outer), matrices(b[:rb], outer)
	multiply, size := multipliers[in[0].DType], in[0].DType.Size
	m, k, l := a[ra], a[ra+1], b[rb+1]
	bound.step = func(_ *chance, rows int64, in []operand, out *operand) {
		z := out.Data
		for r := range rows {
			x, y := in[0].row(r), in[1].row(r)
			for i := range count {
				multiply(z[:m*l*size], x[xs[i]*m*k*size:][:m*k*size], y[ys[i]*k*l*size:][:k*l*size], m, k, l)
				z = z[m*l*size:]
			}
		}
	}
	return bound, nil
}

// matrices returns, of each matrix of a broadcast result, which one of an operand it
// is made of.
func matrices(from, to []int64) []int64 {
	all := make([]int64, spec.Component{Shape: from}.Count())
	for i := range all {
		all[i] = int64(i)
	}
	out := make([]int64, spec.Component{Shape: to}.Count())
	s := broadcast(from, to, true)
	s.size = 8
	s.copy(kernel.Bytes(out), kernel.Bytes(all), 0)
	return out
}
