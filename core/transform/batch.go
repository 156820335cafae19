package transform

import (
	"math"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type batch struct {
	in            dataset.Indexed
	size          int64
	dropRemainder bool
	spec          *spec.Element
}

// Batch stacks size consecutive elements into one. The last batch has what is
// left, unless dropRemainder.
func Batch(in dataset.Definition, size int64, dropRemainder bool) (dataset.Definition, error) {
	if size < 1 {
		return nil, errs.New(errs.InvalidArgument, "batch", "batch_size is %d; it must be at least 1", size)
	}
	parts, err := partsOf("batch", in.Spec())
	if err != nil {
		return nil, err
	}
	n := int64(-1)
	if dropRemainder {
		n = size
	}
	batched := in.Spec().Batched(n)
	most := size
	if n := in.Cardinality(); n >= 0 {
		most = min(size, n)
	}
	if err := addressable(in.Spec(), most); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "batch", "batch_size is %d", size)
	}
	if parts != nil {
		r := &ragged{op: "batch", in: in.Spec(), parts: parts}
		return r.gathered(in, turnOf(size), dropRemainder), nil
	}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &batch{in: indexed, size: size, dropRemainder: dropRemainder, spec: batched}, nil
	}
	return &streamBatch{in: in, size: size, dropRemainder: dropRemainder, spec: batched}, nil
}

// addressable fails where n elements of a known size are more than memory can have.
func addressable(e *spec.Element, n int64) error {
	for _, c := range e.Components {
		if bytes, known := c.Bytes(); known && bytes > 0 && n > math.MaxInt64>>8/bytes {
			return errs.New(errs.InvalidArgument, "layout", "%d elements with %s are too large", n, c)
		}
	}
	return nil
}

func (b *batch) Spec() *spec.Element { return b.spec }
func (b *batch) Cardinality() int64  { return batches(b.in.Cardinality(), b.size, b.dropRemainder) }

// batches returns how many batches there are of n elements.
func batches(n, size int64, dropRemainder bool) int64 {
	if n < 0 {
		return n
	}
	full := n / size
	if n%size != 0 && !dropRemainder {
		full++
	}
	return full
}

func (b *batch) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(b, s, pass, from)
}

func (b *batch) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := b.in.Open(s, pass)
	return &batchedPass{in: in, n: dataset.End(b.in), size: b.size, fixed: fixed(b.in.Spec())}, err
}

type batchedPass struct {
	in      dataset.RandomAccess
	n, size int64 // elements of the input, elements of a batch
	fixed   bool
}

// fixed tells whether all elements take the same room.
func fixed(e *spec.Element) bool { return e.Known() && !e.HasText() }

// rows returns how many elements batch k has.
func (b *batchedPass) rows(k int64) int64 { return min(b.size, b.n-k*b.size) }

// scratch keeps the memory in which batches write the numbers of their elements.
var scratch = sync.Pool{New: func() any { return new([]int64) }}

func (b *batchedPass) Fetch(index []int64, dst dataset.Sink) error {
	p := scratch.Get().(*[]int64)
	defer scratch.Put(p)
	for from := 0; from < len(index); {
		rows := b.rows(index[from])
		to := from
		elements := (*p)[:0]
		for ; to < len(index) && b.rows(index[to]) == rows; to++ {
			for i := range rows {
				elements = append(elements, index[to]*b.size+i)
			}
		}
		*p = elements
		stack := stacked{dst: dst, batches: int64(to - from), size: rows, fixed: b.fixed}
		if err := b.in.Fetch(elements, &stack); err != nil {
			return err
		}
		if err := stack.finish(); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// stacked is the sink that stacks elements to batches of size each. Where all of them
// take the same room, or come in one block, they are made in their place.
type stacked struct {
	dst           dataset.Sink
	batches, size int64
	fixed         bool
	out           block.Block  // of all elements, where they are fixed
	made          int64        // rows of it
	apart         block.Buffer // blocks that have to be put together
}

// Block implements dataset.Sink.
func (s *stacked) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	if s.fixed {
		if s.made == 0 {
			out, err := s.dst.Block(shapes.Batched(s.size), s.batches)
			if err != nil {
				return out, err
			}
			s.out = out.Split(s.size, shapes)
		}
		s.made += rows
		return s.out.Slice(s.made-rows, s.made), nil
	}
	if rows != s.batches*s.size || len(s.apart.Blocks()) > 0 {
		return s.apart.Block(shapes, rows)
	}
	out, err := s.dst.Block(shapes.Batched(s.size), s.batches)
	return out.Split(s.size, shapes), err
}

// finish puts together what did not come in one block.
func (s *stacked) finish() error {
	if len(s.apart.Blocks()) == 0 {
		return nil
	}
	w := waiting{buffer: s.apart, rows: s.apart.Rows()}
	for made := int64(0); made < s.batches; {
		n, err := w.stack(s.batches-made, s.size, s.dst)
		if err != nil {
			return err
		}
		made += n
	}
	return nil
}
