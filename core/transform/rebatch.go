package transform

import (
	"slices"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Rebatch returns batches of other sizes, made of the elements of batches. The sizes
// are taken in turn, over and over. The last batch has what is left, unless
// dropRemainder.
func Rebatch(in dataset.Definition, sizes []int64, dropRemainder bool) (dataset.Definition, error) {
	const op = "rebatch"
	if len(sizes) == 0 || slices.Min(sizes) < 1 {
		return nil, errs.New(errs.InvalidArgument, op, "batch_size is %v; every size must be at least 1", sizes)
	}
	parts, err := partsOf(op, in.Spec())
	if err == nil {
		err = denseOnly(op, in.Spec())
	}
	if err != nil {
		return nil, err
	}
	whole, each, err := unbatched(op, in.Spec(), parts)
	if err != nil {
		return nil, err
	}
	elements, err := Unbatch(in)
	if err != nil {
		return nil, err
	}
	if most := slices.Max(sizes); most == slices.Min(sizes) {
		none := whole >= 0 && whole%most == 0 // nothing is ever left
		return Batch(elements, most, dropRemainder || none)
	}
	turn, err := turnWithin(op, elements.Cardinality(), each, sizes)
	if err != nil {
		return nil, err
	}
	if parts, _ = partsOf(op, each); parts != nil {
		r := &ragged{op: op, in: each, parts: parts}
		return r.gathered(elements, turn, dropRemainder), nil
	}
	c := cycle{turn: turn, in: elements, dropRemainder: dropRemainder, spec: each.Batched(-1)}
	if indexed, ok := elements.(dataset.Indexed); ok {
		return &indexedCycle{cycle: c, in: indexed}, nil
	}
	return &c, nil
}

// turnWithin returns the turn of sizes of batches of n elements, which are like each, or any
// number. It fails where a turn is more than memory can have.
func turnWithin(op string, n int64, each *spec.Element, sizes []int64) (turn, error) {
	sizes = slices.Clone(sizes)
	sum := int64(0)
	for i, size := range sizes {
		if n >= 0 && size > n {
			size = n + 1 // no batch is that large
			sizes[i] = size
		}
		if err := addressable(each, sum+size); err != nil {
			return turn{}, errs.Wrap(err, errs.InvalidArgument, op, "batch_size is %v", sizes)
		}
		sum += size
	}
	return turnOf(sizes...), nil
}

// cycle is batches whose sizes are taken in turn.
type cycle struct {
	turn
	in            dataset.Definition
	dropRemainder bool
	spec          *spec.Element
}

type indexedCycle struct {
	cycle
	in dataset.Indexed
}

func (c *cycle) Spec() *spec.Element { return c.spec }
func (c *cycle) Cardinality() int64  { return c.batches(c.in.Cardinality(), c.dropRemainder) }

func (c *cycle) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	const op = "rebatch"
	at, before, err := from.Parts(op, 1)
	if err != nil {
		return nil, err
	}
	it := &cycleIterator{cycle: c, number: at[0]}
	return it, it.waiting.open(op, s, before, func(from *dataset.Token) (dataset.Iterator, error) { return c.in.Iterate(s, pass, from) })
}

type cycleIterator struct {
	*cycle
	number  int64 // of the next batch
	waiting waiting
}

func (it *cycleIterator) Token() *dataset.Token {
	return dataset.Over(it.waiting.token(), it.number)
}

func (it *cycleIterator) Next(_ int64, dst dataset.Sink) (int64, error) {
	_, size := it.bounds(it.number)
	n, err := it.waiting.batch(size, it.dropRemainder, dst)
	it.number += passed(n, err)
	return n, err
}

// batch makes the next batch, of size elements or of what is left.
func (w *waiting) batch(size int64, dropRemainder bool, dst dataset.Sink) (int64, error) {
	for w.rows < size {
		n, direct, err := w.more(size-w.rows, size, dst)
		if isEnd(err) && w.rows > 0 && !dropRemainder {
			break
		}
		if err != nil || direct {
			return n, err
		}
	}
	return w.stack(1, min(size, w.rows), dst)
}

func (c *indexedCycle) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(c, s, pass, from)
}

func (c *indexedCycle) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := c.in.Open(s, pass)
	return &cyclePass{indexedCycle: c, in: in, n: dataset.End(c.in), fixed: fixed(c.in.Spec())}, err
}

type cyclePass struct {
	*indexedCycle
	in    dataset.RandomAccess
	n     int64 // elements of the input
	fixed bool
}

func (p *cyclePass) Fetch(index []int64, dst dataset.Sink) error {
	elements := scratch.Get().(*[]int64)
	defer scratch.Put(elements)
	for _, k := range index {
		first, size := p.bounds(k)
		size = min(size, p.n-first)
		*elements = (*elements)[:0]
		for i := range size {
			*elements = append(*elements, first+i)
		}
		stack := stacked{dst: dst, batches: 1, size: size, fixed: p.fixed}
		if err := p.in.Fetch(*elements, &stack); err != nil {
			return err
		}
		if err := stack.finish(); err != nil {
			return err
		}
	}
	return nil
}
