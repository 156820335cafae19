package transform

import (
	"io"
	"sort"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

type cache struct {
	in   dataset.Definition
	kept *cached
}

// Cache returns the elements of the input's first pass, in every pass. They are kept
// in memory when they are made for the first time, and given from there when they are
// asked for again. An element that cannot be made is not kept: it is tried again.
func Cache(in dataset.Definition) dataset.Definition {
	if indexed, ok := in.(dataset.Indexed); ok {
		return &indexedCache{in: indexed, kept: &cachedRows{pages: map[int64]*cachedPage{}}}
	}
	return &cache{in, &cached{}}
}

// cachedPass is the pass over the input that is kept, whichever asks for it.
var cachedPass = dataset.PassKey(0)

// cached is the elements of a stream up to some place. Any number of iterators read
// it; one that is at its end adds to it.
type cached struct {
	mu    sync.RWMutex
	parts []cachedPart
	count int64          // elements
	after *dataset.Token // of the input
	ended bool           // there are no more
}

// cachedPart is elements that follow one another, or one that cannot be made.
type cachedPart struct {
	first  int64
	before *dataset.Token // of the input
	taken  int64          // elements between that and first
	block  block.Block
	hole   bool
}

// find returns the part that has an element.
func (c *cached) find(number int64) (p cachedPart, found, ended bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if number >= c.count {
		return cachedPart{first: c.count, before: c.after}, false, c.ended
	}
	i := sort.Search(len(c.parts), func(i int) bool { return c.parts[i].first > number })
	return c.parts[i-1], true, false
}

// add adds what the input gave from number on, unless another iterator was first.
func (c *cached) add(number int64, before, after *dataset.Token, blocks []block.Block, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if number != c.count || c.ended {
		return
	}
	c.after = after
	if isEnd(err) {
		c.ended = true
		return
	}
	if err != nil {
		c.parts = append(c.parts, cachedPart{first: number, before: before, hole: true})
		c.count++
		return
	}
	for _, b := range blocks {
		c.parts = append(c.parts, cachedPart{first: c.count, before: before, taken: c.count - number, block: b})
		c.count += b.Rows
	}
}

func (c *cache) Spec() *spec.Element { return c.in.Spec() }
func (c *cache) Cardinality() int64  { return c.in.Cardinality() }

func (c *cache) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, before, err := from.Parts("cache", 2)
	if err != nil {
		return nil, err
	}
	it := &cacheIterator{cache: c, outer: s, number: at[0]}
	if p, found, _ := c.kept.find(at[0]); found || p.first == at[0] {
		return it, nil
	}
	return it, it.open(before, at[1])
}

// mostWaiting bounds how many elements a state can be behind those that are read again.
const mostWaiting = 1 << 32

// cacheIterator gives what is kept, and goes on with the input where that ends.
type cacheIterator struct {
	*cache
	outer  *dataset.Scope
	number int64 // of the next element

	scope *dataset.Scope
	in    dataset.Iterator // nil: not in use; else before the next element
}

// open opens the input, some elements after a token.
func (it *cacheIterator) open(before *dataset.Token, taken int64) (err error) {
	if taken > mostWaiting {
		return early("cache", taken, mostWaiting)
	}
	it.scope = it.outer.Child()
	if it.in, err = it.cache.in.Iterate(it.scope, cachedPass, before); err != nil {
		return err
	}
	return goPast("cache", it.in, taken)
}

// close says that the input is not needed for now.
func (it *cacheIterator) close() {
	if it.in != nil {
		it.scope.Close()
		it.in = nil
	}
}

func (it *cacheIterator) Token() *dataset.Token {
	if it.in != nil {
		return dataset.Over(it.in.Token(), it.number, 0)
	}
	p, _, _ := it.kept.find(it.number)
	return dataset.Over(p.before, it.number, p.taken+it.number-p.first)
}

func (it *cacheIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	p, found, ended := it.kept.find(it.number)
	switch {
	case ended:
		it.close()
		return 0, io.EOF
	case found && !p.hole:
		it.close()
		return it.give(p, limit, dst)
	case it.in == nil:
		if err := it.open(p.before, 0); err != nil {
			return 0, err
		}
	}
	if found {
		limit = 1
	}
	return it.read(limit, dst)
}

// give gives elements that are kept.
func (it *cacheIterator) give(p cachedPart, limit int64, dst dataset.Sink) (int64, error) {
	row := it.number - p.first
	n := min(limit, p.block.Rows-row)
	out, err := dst.Block(p.block.Shapes, n)
	if err != nil {
		return 0, err
	}
	out.Copy(0, p.block.Slice(row, row+n))
	it.number += n
	return n, nil
}

// read reads elements of the input and keeps them.
func (it *cacheIterator) read(limit int64, dst dataset.Sink) (int64, error) {
	before := it.in.Token()
	buffer := &block.Buffer{}
	n, err := it.in.Next(limit, buffer)
	if n == 0 && err == nil || it.outer.Err() != nil {
		return 0, err
	}
	it.kept.add(it.number, before, it.in.Token(), buffer.Blocks(), err)
	if err != nil {
		it.number += passed(0, err)
		return 0, err
	}
	for _, b := range buffer.Blocks() {
		out, err := dst.Block(b.Shapes, b.Rows)
		if err != nil {
			return 0, err
		}
		out.Copy(0, b)
	}
	it.number += n
	return n, nil
}
