package op

import (
	"math"
	"math/bits"

	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

func init() {
	binders["random"] = bindRandom
	binders["random_shuffle"] = bindShuffle
}

// stream is the random numbers of a node: those of an element are a function of the
// seed, of which random node of the program it is, of the pass and of the element.
type stream struct {
	Node uint64  `json:"node"`
	Seed *uint64 `json:"seed"` // nil: the pass alone
}

func (s stream) key(at *chance) rng.Key {
	if s.Seed == nil {
		return at.Key.Derive(s.Node)
	}
	return at.Key.Derive(s.Node, *s.Seed)
}

// room is how many numbers an element has at least; the next one's follow.
const room = 1 << 24

// bindRandom makes values of "shape" without operands: "uniform" in [0, 1), "normal"
// with mean 0 and deviation 1, or "integers" from "low" (included) on, "span" many
// (0: 2^64).
func bindRandom(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		stream
		Kind  string  `json:"kind"`
		DType string  `json:"dtype"`
		Shape []int64 `json:"shape"`
		Low   int64   `json:"low"`
		Span  uint64  `json:"span"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	d, err := spec.ParseDType(a.DType)
	if err != nil {
		return nil, err
	}
	c := spec.Component{DType: d, Shape: a.Shape}
	if _, err := sizeOf(c, 1); err != nil {
		return nil, err
	}
	fill := randomFill(a.Kind, d, a.Low, a.Span)
	if fill == nil || len(in) != 0 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "%q of dtype %s", a.Kind, d)
	}
	count := c.Count()
	apart := uint64(max(room, count))
	return &binding{out: []spec.Component{c}, step: func(at *chance, rows int64, _ []operand, out *operand) {
		key := a.key(at)
		for r := range rows {
			fill(key, uint64(at.Number(r))*apart, out.Data[r*out.RowBytes:(r+1)*out.RowBytes])
		}
	}}, nil
}

// randomFill fills memory with the numbers of a key from number i on.
func randomFill(kind string, d spec.DType, low int64, span uint64) func(key rng.Key, i uint64, dst []byte) {
	switch {
	case kind == "uniform" && d == float32s:
		return fillOf(func(z uint64) float32 { return float32(z>>40) / (1 << 24) })
	case kind == "uniform" && d == float64s:
		return fillOf(func(z uint64) float64 { return float64(z>>11) / (1 << 53) })
	case kind == "normal" && d == float32s:
		return fillOf(func(z uint64) float32 { return float32(normal(z)) })
	case kind == "normal" && d == float64s:
		return fillOf(normal)
	case kind != "integers":
		return nil
	}
	pick := func(z uint64) uint64 {
		if span > 0 {
			z, _ = bits.Mul64(z, span)
		}
		return z + uint64(low)
	}
	switch {
	case d.Kind != 'i' && d.Kind != 'u':
		return nil
	case d.Size == 1:
		return fillOf(func(z uint64) uint8 { return uint8(pick(z)) })
	case d.Size == 2:
		return fillOf(func(z uint64) uint16 { return uint16(pick(z)) })
	case d.Size == 4:
		return fillOf(func(z uint64) uint32 { return uint32(pick(z)) })
	}
	return fillOf(pick)
}

func fillOf[T any](f func(z uint64) T) func(key rng.Key, i uint64, dst []byte) {
	return func(key rng.Key, i uint64, dst []byte) {
		z := view[T](dst)
		for k := range z {
			z[k] = f(key.Uint64(i + uint64(k)))
		}
	}
}

// normal is the value below which a normal number falls as often as a uniform one
// falls below the middle of z's place among 2^52.
func normal(z uint64) float64 {
	u := (float64(z>>12) + 0.5) / (1 << 52)
	return math.Sqrt2 * math.Erfinv(2*u-1)
}

// bindShuffle puts the values along the first axis in a random order.
func bindShuffle(n *node, in []spec.Component) (*binding, error) {
	var a stream
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) != 1 || len(in[0].Shape) == 0 {
		return nil, n.refuse(in)
	}
	size := in[0].Shape[0]
	_, inner := around(in[0].Shape, 0)
	return &binding{out: []spec.Component{in[0]}, step: func(at *chance, rows int64, in []operand, out *operand) {
		key, order := a.key(at), make([]int64, size)
		eachColumn(in[0], out, rows, func(dst, src []byte, bytes int64) {
			chunk := inner * bytes
			for r := range rows {
				shuffled(order, key, uint64(at.Number(r))*uint64(max(room, size)))
				from := src
				if !in[0].uniform {
					from = src[r*size*chunk:]
				}
				for _, i := range order {
					copy(dst[:chunk], from[i*chunk:])
					dst = dst[chunk:]
				}
			}
		})
	}}, nil
}

// shuffled makes order a permutation by Fisher and Yates, of the numbers from number
// first on.
func shuffled(order []int64, key rng.Key, first uint64) {
	for i := range order {
		j, _ := bits.Mul64(key.Uint64(first+uint64(i)), uint64(i)+1)
		order[i] = order[j]
		order[j] = int64(i)
	}
}
