package source

import (
	"encoding/binary"
	"math"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// numbers is the dataset of start, start + step, and so on.
type numbers struct {
	spec        *spec.Element
	n           int64
	start, step int64
	// Not integers, if set; these are rounded once, never summed up.
	realStart, realStep float64
}

// Range returns the numbers from start on, step apart, up to stop, which is not one of
// them.
func Range(start, stop, step int64, dtype spec.DType) (dataset.Definition, error) {
	if step == 0 {
		return nil, errs.New(errs.InvalidArgument, "range", "step is 0; give one that leads from %d to %d", start, stop)
	}
	x := numbers{n: steps(start, stop, step), start: start, step: step}
	if (dtype.Kind == 'i' || dtype.Kind == 'u') && x.n != 0 {
		last := stop
		if x.n > 0 {
			last = start + (x.n-1)*step
		}
		for _, v := range []int64{start, last} {
			if !holds(dtype, v) {
				return nil, errs.New(errs.InvalidArgument, "range", "%d is not one of the numbers of %v; give a wider output_type", v, dtype)
			}
		}
	}
	return newNumbers("range", x, dtype)
}

// holds tells whether a dtype of integers has a number.
func holds(dtype spec.DType, x int64) bool {
	bits := 8 * uint(dtype.Size)
	if dtype.Kind == 'u' {
		return x >= 0 && (bits == 64 || x>>bits == 0)
	}
	return x>>(bits-1) == 0 || x>>(bits-1) == -1
}

// steps returns how many numbers a range has. One that has more than an int64 counts
// is as good as endless.
func steps(start, stop, step int64) int64 {
	distance, stride := uint64(stop)-uint64(start), uint64(step)
	if step < 0 {
		distance, stride = -distance, -stride
	}
	if start == stop || (start < stop) != (step > 0) {
		return 0
	}
	n := (distance-1)/stride + 1
	if n > math.MaxInt64 {
		return dataset.Infinite
	}
	return int64(n)
}

// Counter returns the numbers from start on, step apart, without end. They wrap around
// at the ends of dtype.
func Counter(start, step int64, dtype spec.DType) (dataset.Definition, error) {
	return newNumbers("counter", numbers{n: dataset.Infinite, start: start, step: step}, dtype)
}

// RealCounter is [Counter] of numbers that are not integers. The i-th is
// start + i*step in float64, rounded to dtype.
func RealCounter(start, step float64, dtype spec.DType) (dataset.Definition, error) {
	if dtype.Kind != 'f' && dtype.Kind != 'c' {
		return nil, errs.New(errs.InvalidArgument, "counter", "start %v and step %v need a dtype of floats, not %v", start, step, dtype)
	}
	return newNumbers("counter", numbers{n: dataset.Infinite, realStart: start, realStep: step}, dtype)
}

func newNumbers(op string, x numbers, dtype spec.DType) (dataset.Definition, error) {
	switch {
	case dtype.Kind == 'i' || dtype.Kind == 'u':
	case dtype.Kind == 'f' && dtype.Size <= 8, dtype.Kind == 'c' && dtype.Size <= 16:
		if x.realStep == 0 && x.realStart == 0 {
			x.realStart, x.realStep = float64(x.start), float64(x.step)
		}
	default:
		return nil, errs.New(errs.InvalidArgument, op, "it has no elements of %v; give a dtype of integers, floats or complex numbers", dtype)
	}
	x.spec = scalar(dtype)
	return &x, nil
}

// scalar describes elements of one value.
func scalar(dtype spec.DType) *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: dtype}}}
}

func (x *numbers) Spec() *spec.Element { return x.spec }
func (x *numbers) Cardinality() int64  { return x.n }

func (x *numbers) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(x, s, pass, from)
}

func (x *numbers) Open(_ *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) { return x, nil }

func (x *numbers) Fetch(index []int64, dst dataset.Sink) error {
	for _, i := range index {
		if i < 0 || x.n >= 0 && i >= x.n {
			return errs.New(errs.Internal, "range", "element %d of %d", i, x.n)
		}
	}
	b, err := dst.Block(x.spec, int64(len(index)))
	if err != nil {
		return err
	}
	if d := x.spec.Components[0].DType; d.Kind == 'i' || d.Kind == 'u' {
		x.integers(b.Columns[0].Data, int(d.Size), index)
	} else {
		x.reals(b.Columns[0].Data, d, index)
	}
	return nil
}

func (x *numbers) integers(out []byte, size int, index []int64) {
	if size == 8 {
		for i, k := range index {
			binary.LittleEndian.PutUint64(out[8*i:], uint64(x.start+k*x.step))
		}
		return
	}
	for i, k := range index {
		v := uint64(x.start + k*x.step)
		for b := range size {
			out[i*size+b] = byte(v >> (8 * b))
		}
	}
}

func (x *numbers) reals(out []byte, d spec.DType, index []int64) {
	size := int(d.Size)
	for i, k := range index {
		v := x.realStart + float64(k)*x.realStep
		at := out[i*size : (i+1)*size]
		if d.Kind == 'c' {
			at = at[:size/2]
			clear(out[i*size+size/2 : (i+1)*size])
		}
		switch len(at) {
		case 2:
			binary.LittleEndian.PutUint16(at, half(v))
		case 4:
			binary.LittleEndian.PutUint32(at, math.Float32bits(float32(v)))
		default:
			binary.LittleEndian.PutUint64(at, math.Float64bits(v))
		}
	}
}

// half rounds to the nearest float16, to the even one of two.
func half(v float64) uint16 {
	sign := uint16(math.Float64bits(v) >> 48 & 0x8000)
	v = math.Abs(v)
	switch {
	case math.IsNaN(v):
		return 0x7e00
	case v >= 65520: // halfway between the largest and what would be the next
		return sign | 0x7c00
	case v < 1.0/(1<<14): // in steps of 2^-24
		return sign | uint16(math.RoundToEven(v*(1<<24)))
	}
	fraction, exponent := math.Frexp(v)
	// A fraction that is rounded up to 1 carries into the exponent, which is right.
	return sign | (uint16(exponent+13)<<10 + uint16(math.RoundToEven(fraction*(1<<11))))
}
