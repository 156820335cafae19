package op

import (
	"slices"
	"unsafe"

	"infeed/core/errs"
	"infeed/core/spec"
)

// The dtypes that loops know.
var (
	boolean    = spec.DType{Kind: 'b', Size: 1}
	int8s      = spec.DType{Kind: 'i', Size: 1}
	int16s     = spec.DType{Kind: 'i', Size: 2}
	int32s     = spec.DType{Kind: 'i', Size: 4}
	int64s     = spec.DType{Kind: 'i', Size: 8}
	uint8s     = spec.DType{Kind: 'u', Size: 1}
	uint16s    = spec.DType{Kind: 'u', Size: 2}
	uint32s    = spec.DType{Kind: 'u', Size: 4}
	uint64s    = spec.DType{Kind: 'u', Size: 8}
	float16s   = spec.DType{Kind: 'f', Size: 2}
	float32s   = spec.DType{Kind: 'f', Size: 4}
	float64s   = spec.DType{Kind: 'f', Size: 8}
	complex64s = spec.DType{Kind: 'c', Size: 8}
	complexes  = spec.DType{Kind: 'c', Size: 16}
)

type signed interface{ int8 | int16 | int32 | int64 }
type unsigned interface {
	uint8 | uint16 | uint32 | uint64
}
type integer interface{ signed | unsigned }
type float interface{ float32 | float64 }
type complexNumber interface{ complex64 | complex128 }
type ordered interface{ integer | float }
type number interface{ ordered | complexNumber }

// view sees bytes as values.
func view[T any](b []byte) []T {
	var x T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(x)))
}

type loopKey struct {
	op    string
	dtype spec.DType // of the operands
}

type loopEntry struct {
	loop  loop
	out   spec.DType
	count int // of operands
}

// loops is all loops but those of casts, select and float16.
var loops = map[loopKey]loopEntry{}

// add puts a loop in the table, and its operation among the binders.
func add(op string, count int, dtype, out spec.DType, f loop) {
	loops[loopKey{op, dtype}] = loopEntry{f, out, count}
	binders[op] = bindLoop
}

// bindLoop binds elementwise operations, whose operands have one dtype.
func bindLoop(n *node, in []spec.Component) (*binding, error) {
	if len(in) == 0 || slices.ContainsFunc(in, func(c spec.Component) bool { return c.DType != in[0].DType }) {
		return nil, n.refuse(in)
	}
	e, ok := loops[loopKey{n.Op, in[0].DType}]
	if !ok && in[0].DType == float16s {
		if e, ok = loops[loopKey{n.Op, float32s}]; ok {
			e = halves(e)
		}
	}
	if !ok || e.count != len(in) {
		return nil, n.refuse(in)
	}
	shape, err := n.broadcast(in)
	if err != nil {
		return nil, err
	}
	return &binding{out: []spec.Component{{DType: e.out, Shape: shape}}, loop: e.loop}, nil
}

// broadcast returns the shape of what an elementwise operation makes.
func (n *node) broadcast(in []spec.Component) ([]int64, error) {
	rank := 0
	for _, c := range in {
		rank = max(rank, len(c.Shape))
	}
	shape := slices.Repeat([]int64{1}, rank)
	for _, c := range in {
		for i, d := range c.Shape {
			s := &shape[rank-len(c.Shape)+i]
			switch {
			case *s == 1 || *s == -1 && d != 1:
				*s = d
			case d != *s && d != 1 && d != -1:
				return nil, errs.New(errs.InvalidArgument, n.Op, "operands could not be broadcast together: %s", shapesOf(in))
			}
		}
	}
	return shape, nil
}

func shapesOf(in []spec.Component) string { return (&spec.Element{Components: in}).Shapes() }
