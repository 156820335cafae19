package op

import (
	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// casts is the loops that convert between dtypes, as C does on x86 where NumPy leaves
// it to C: what does not fit an int wraps or is the least.
var casts = map[[2]spec.DType]loop{}

func init() {
	binders["cast"] = bindCast
	castsFromInt[int8](int8s)
	castsFromInt[int16](int16s)
	castsFromInt[int32](int32s)
	castsFromInt[int64](int64s)
	castsFromInt[uint8](uint8s)
	castsFromInt[uint16](uint16s)
	castsFromInt[uint32](uint32s)
	castsFromInt[uint64](uint64s)
	castsFromInt[uint8](boolean)
	castsFromFloat(float32s, func(x float32) float64 { return float64(x) })
	castsFromFloat(float64s, func(x float64) float64 { return x })
	castsFromFloat(float16s, func(x uint16) float64 { return float64(fromHalf(x)) })
	castsFromFloat(complex64s, func(x complex64) float64 { return float64(real(x)) })
	castsFromFloat(complexes, func(x complex128) float64 { return real(x) })
	kernelCast(uint8s, float32s, kernel.U8ToF32)
	kernelCast(uint8s, float64s, kernel.U8ToF64)
	kernelCast(int32s, float32s, kernel.I32ToF32)
	kernelCast(int64s, float32s, kernel.I64ToF32)
	kernelCast(float32s, float64s, kernel.F32ToF64)
	kernelCast(float64s, float32s, kernel.F64ToF32)
	cast(float32s, float16s, func(d, a, _, _ []byte) { narrow(d, a) })
	cast(float16s, float32s, func(d, a, _, _ []byte) { widen(d, a) })
	cast(complex64s, complexes, each1(func(x complex64) complex128 { return complex128(x) }))
	cast(complexes, complex64s, each1(func(x complex128) complex64 { return complex64(x) }))
	cast(complex64s, boolean, each1(func(x complex64) byte { return bit(x != 0) }))
	cast(complexes, boolean, each1(func(x complex128) byte { return bit(x != 0) }))
}

func bindCast(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		DType string `json:"dtype"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	d, err := spec.ParseDType(a.DType)
	if err != nil {
		return nil, err
	}
	if len(in) != 1 {
		return nil, n.refuse(in)
	}
	b := &binding{out: []spec.Component{{DType: d, Shape: in[0].Shape}}}
	if d == in[0].DType {
		b.view = true
		return b, nil
	}
	if b.loop = casts[[2]spec.DType{in[0].DType, d}]; b.loop == nil {
		return nil, errs.New(errs.InvalidArgument, n.Op, "%s cannot be made %s", in[0], d)
	}
	return b, nil
}

func cast(from, to spec.DType, f loop) { casts[[2]spec.DType{from, to}] = f }

func kernelCast(from, to spec.DType, pair kernel.Convert) {
	cast(from, to, func(d, a, _, _ []byte) { kernel.Converted(pair, d, a, len(d)/int(to.Size)) })
}

func castLoop[S, D ordered](d, a, _, _ []byte) {
	z, x := view[D](d), view[S](a)
	x = x[:len(z)]
	for i := range z {
		z[i] = D(x[i])
	}
}

func castsFromInt[S integer](s spec.DType) {
	cast(s, int8s, castLoop[S, int8])
	cast(s, int16s, castLoop[S, int16])
	cast(s, int32s, castLoop[S, int32])
	cast(s, int64s, castLoop[S, int64])
	cast(s, uint8s, castLoop[S, uint8])
	cast(s, uint16s, castLoop[S, uint16])
	cast(s, uint32s, castLoop[S, uint32])
	cast(s, uint64s, castLoop[S, uint64])
	cast(s, float32s, castLoop[S, float32])
	cast(s, float64s, castLoop[S, float64])
	cast(s, float16s, each1(func(x S) uint16 { return toHalf(float32(x)) }))
	cast(s, complex64s, each1(func(x S) complex64 { return complex(float32(x), 0) }))
	cast(s, complexes, each1(func(x S) complex128 { return complex(float64(x), 0) }))
	cast(s, boolean, each1(func(x S) byte { return bit(x != 0) }))
}

// castsFromFloat converts over float64, which holds the values exactly.
func castsFromFloat[S any](s spec.DType, value func(S) float64) {
	cast(s, int8s, each1(func(x S) int8 { return int8(toInt32(value(x))) }))
	cast(s, int16s, each1(func(x S) int16 { return int16(toInt32(value(x))) }))
	cast(s, int32s, each1(func(x S) int32 { return toInt32(value(x)) }))
	cast(s, int64s, each1(func(x S) int64 { return toInt64(value(x)) }))
	cast(s, uint8s, each1(func(x S) uint8 { return uint8(toInt32(value(x))) }))
	cast(s, uint16s, each1(func(x S) uint16 { return uint16(toInt32(value(x))) }))
	cast(s, uint32s, each1(func(x S) uint32 { return uint32(toInt64(value(x))) }))
	cast(s, uint64s, each1(func(x S) uint64 {
		if v := value(x); v >= 1<<63 {
			return uint64(toInt64(v-1<<63)) ^ 1<<63
		} else {
			return uint64(toInt64(v))
		}
	}))
	cast(s, float32s, each1(func(x S) float32 { return float32(value(x)) }))
	cast(s, float64s, each1(value))
	cast(s, float16s, each1(func(x S) uint16 { return toHalf(roundOdd(value(x))) }))
	cast(s, complex64s, each1(func(x S) complex64 { return complex(float32(value(x)), 0) }))
	cast(s, complexes, each1(func(x S) complex128 { return complex(value(x), 0) }))
	cast(s, boolean, each1(func(x S) byte { return bit(value(x) != 0) }))
}

// toInt32 and toInt64 give the least int for what does not fit, NaN included.
func toInt32(f float64) int32 {
	if f > -1<<31-1 && f < 1<<31 {
		return int32(f)
	}
	return -1 << 31
}

func toInt64(f float64) int64 {
	if f >= -1<<63 && f < 1<<63 {
		return int64(f)
	}
	return -1 << 63
}
