package transform

import (
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// gather is a batch whose elements may differ in shape: they are read, and then a
// function makes the batch of them.
type gather struct {
	turn
	op            string
	in            dataset.Definition
	dropRemainder bool
	spec          *spec.Element
	make          func(parts []block.Block, rows int64, dst dataset.Sink) error
}

type indexedGather struct {
	gather
	in dataset.Indexed
}

func gathered(op string, in dataset.Definition, sizes turn, dropRemainder bool, e *spec.Element,
	make func(parts []block.Block, rows int64, dst dataset.Sink) error) dataset.Definition {
	g := gather{sizes, op, in, dropRemainder, e, make}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &indexedGather{gather: g, in: indexed}
	}
	return &g
}

// batchable fails where a batch of elements like those described is more than memory
// can have.
func batchable(op string, in dataset.Definition, e *spec.Element, size int64) error {
	most := size
	if n := in.Cardinality(); n >= 0 {
		most = min(most, n)
	}
	if err := addressable(e, most); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, op, "batch_size is %d", size)
	}
	return nil
}

func (g *gather) Spec() *spec.Element { return g.spec }
func (g *gather) Cardinality() int64  { return g.batches(g.in.Cardinality(), g.dropRemainder) }

func (g *gather) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	it := &gatherIterator{gather: g, scope: s}
	at, in, err := openInput(g.op, g.in, s, pass, from, g.places())
	if err != nil {
		return nil, err
	}
	if it.in = in; len(at) > 0 {
		it.number = at[0]
	}
	return it, nil
}

// places is how many numbers a token has: that of the batch, where it matters.
func (g *gather) places() int {
	if len(g.sizes) == 1 {
		return 0
	}
	return 1
}

// gatherIterator makes one batch in a call, so that it never holds elements.
type gatherIterator struct {
	*gather
	scope  *dataset.Scope
	in     dataset.Iterator
	number int64 // of the batch
	buffer block.Buffer
}

func (it *gatherIterator) Token() *dataset.Token {
	if it.places() == 0 {
		return dataset.Over(it.in.Token())
	}
	return dataset.Over(it.in.Token(), it.number)
}

func (it *gatherIterator) Next(_ int64, dst dataset.Sink) (int64, error) {
	_, size := it.bounds(it.number)
	n, err := it.batch(size, dst)
	it.number += passed(n, err)
	return n, err
}

// batch makes the next batch, of size elements or of what is left.
func (it *gatherIterator) batch(size int64, dst dataset.Sink) (int64, error) {
	it.buffer.Reset()
	rows := int64(0)
	for rows < size {
		parts := len(it.buffer.Blocks())
		n, err := it.in.Next(min(size-rows, mostStacked), &it.buffer)
		if n == 0 {
			it.buffer.Cut(parts)
		}
		if isEnd(err) && rows > 0 && !it.dropRemainder {
			break
		}
		if isEnd(err) {
			return 0, err
		}
		if err != nil {
			rest := waiting{scope: it.scope, in: it.in}
			rest.drop(size - rows - 1)
			return 0, err
		}
		rows += n
	}
	if err := it.make(it.buffer.Blocks(), rows, dst); err != nil {
		return 0, err
	}
	return 1, nil
}

func (g *indexedGather) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(g, s, pass, from)
}

func (g *indexedGather) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := g.in.Open(s, pass)
	return &gatherPass{indexedGather: g, in: in, n: dataset.End(g.in)}, err
}

type gatherPass struct {
	*indexedGather
	in dataset.RandomAccess
	n  int64 // elements of the input
}

// mostGathered is how many elements of several batches are read at once: to read costs
// something of its own, where Python is called for it.
const mostGathered = 256

func (p *gatherPass) Fetch(index []int64, dst dataset.Sink) error {
	elements := scratch.Get().(*[]int64)
	defer scratch.Put(elements)
	in := borrow()
	defer giveBack(in)
	for from := 0; from < len(index); {
		in.Reset()
		*elements = (*elements)[:0]
		to := from
		for ; to < len(index) && (to == from || len(*elements)+int(p.rows(index[to])) <= mostGathered); to++ {
			first, _ := p.bounds(index[to])
			for i := range p.rows(index[to]) {
				*elements = append(*elements, first+i)
			}
		}
		if err := p.in.Fetch(*elements, in); err != nil {
			return err
		}
		blocks := in.Blocks()
		for ; from < to; from++ {
			var parts []block.Block
			rows := p.rows(index[from])
			parts, blocks = divided(blocks, rows)
			if err := p.make(parts, rows, dst); err != nil {
				return err
			}
		}
	}
	return nil
}

// rows is how many elements a batch has.
func (p *gatherPass) rows(batch int64) int64 {
	first, rows := p.bounds(batch)
	return min(rows, p.n-first)
}

// divided returns the first n rows of blocks, and the others.
func divided(blocks []block.Block, n int64) (first, rest []block.Block) {
	for i, b := range blocks {
		switch {
		case b.Rows == n:
			return blocks[:i+1], blocks[i+1:]
		case b.Rows > n:
			first = append(slices.Clone(blocks[:i]), b.Slice(0, n))
			return first, append([]block.Block{b.Slice(n, b.Rows)}, blocks[i+1:]...)
		}
		n -= b.Rows
	}
	return blocks, nil
}
