package transform

import (
	"errors"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// part is the elements of a stream from number skip on, count of them at most
// (-1: all).
type part struct {
	in          dataset.Definition
	skip, count int64
}

func streamTake(in dataset.Definition, count int64) dataset.Definition {
	return &part{in: in, count: count}
}

func streamSkip(in dataset.Definition, count int64) dataset.Definition {
	if count == -1 {
		return &part{in: in}
	}
	return &part{in: in, skip: count, count: -1}
}

func (p *part) Spec() *spec.Element { return p.in.Spec() }

func (p *part) Cardinality() int64 {
	n := p.in.Cardinality()
	switch {
	case p.count == 0:
		return 0
	case n == dataset.Infinite && p.count > 0:
		return p.count
	case n < 0:
		return n
	}
	n = max(0, n-p.skip)
	if p.count >= 0 {
		n = min(n, p.count)
	}
	return n
}

func (p *part) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := from.Parts("take", 2)
	if err != nil {
		return nil, err
	}
	it := &partIterator{part: p, scope: s, skipped: at[0], given: at[1]}
	if jumper, ok := p.in.(dataset.Jumper); ok && from == nil && p.skip > 0 {
		in, it.skipped = jumper.Jump(s, p.skip)
	}
	it.in, err = p.in.Iterate(s, pass, in)
	return it, err
}

type partIterator struct {
	*part
	scope          *dataset.Scope
	in             dataset.Iterator
	skipped, given int64 // elements of the input
	rest           block.Buffer
}

func (it *partIterator) Token() *dataset.Token {
	return dataset.Over(it.in.Token(), it.skipped, it.given)
}

func (it *partIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.count >= 0 {
		limit = min(limit, it.count-it.given)
	}
	if limit <= 0 {
		return 0, io.EOF
	}
	var lost error // what failed last among those that are skipped
	for it.skipped < it.skip {
		if err := it.scope.Err(); err != nil { // nobody waits for the rest any more
			return 0, err
		}
		it.rest.Reset()
		n, err := it.in.Next(min(it.skip-it.skipped, skipped), &it.rest)
		it.skipped += passed(n, err)
		if isEnd(err) {
			return 0, brokenOff(lost, err)
		}
		lost = err // nobody asked for what fails here, but where it is the end
	}
	n, err := it.in.Next(limit, dst)
	it.given += passed(n, err)
	return n, brokenOff(lost, err)
}

// brokenOff is the error err of a stream, or the one before it where err is the end: what
// an operation goes past may fail, but not so that there is nothing behind it, as with
// a file that is cut.
func brokenOff(before, err error) error {
	if before != nil && isEnd(err) {
		return before
	}
	return err
}

// skipped is how many elements are skipped at a time.
const skipped = 1024

// passed returns how many elements an iterator went past in a call of Next.
func passed(n int64, err error) int64 {
	if err != nil && !errors.Is(err, io.EOF) {
		return 1
	}
	return n
}

// every is every shards-th element of a stream, from number index on.
type every struct {
	in            dataset.Definition
	shards, index int64
}

func streamShard(in dataset.Definition, shards, index int64) dataset.Definition {
	return &every{in: in, shards: shards, index: index}
}

func (e *every) Spec() *spec.Element { return e.in.Spec() }

func (e *every) Cardinality() int64 {
	n := e.in.Cardinality()
	if n < 0 {
		return n
	}
	return max(0, (n-e.index+e.shards-1)/e.shards)
}

func (e *every) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := from.Parts("shard", 1)
	if err != nil {
		return nil, err
	}
	it := &everyIterator{every: e, scope: s, number: at[0]}
	it.in, err = dataset.NewCursor("shard", in, func(from *dataset.Token) (dataset.Iterator, error) { return e.in.Iterate(s, pass, from) })
	return it, err
}

type everyIterator struct {
	*every
	scope  *dataset.Scope
	in     *dataset.Cursor
	number int64 // of the next element, counted over the shards only
	chosen []int64
}

func (it *everyIterator) Token() *dataset.Token { return dataset.Over(it.in.Token(), it.number) }

func (it *everyIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	var lost error // of another reader, and nothing behind it
	for {
		b, err := it.in.Peek(limit * it.shards)
		if err != nil {
			mine := it.number == it.index
			it.number = (it.number + passed(0, err)) % it.shards
			if mine || errors.Is(err, io.EOF) || it.scope.Err() != nil {
				return 0, brokenOff(lost, err)
			}
			lost = err
			continue
		}
		lost = nil
		it.chosen = it.chosen[:0]
		rows := int64(0)
		for ; rows < b.Rows && int64(len(it.chosen)) < limit; rows++ {
			if (it.number+rows)%it.shards == it.index {
				it.chosen = append(it.chosen, rows)
			}
		}
		n := int64(len(it.chosen))
		if n > 0 {
			if err := choose(b, it.chosen, dst); err != nil {
				return 0, err
			}
		}
		it.in.Take(rows)
		it.number = (it.number + rows) % it.shards
		if n > 0 {
			return n, nil
		}
	}
}

// choose makes some rows of a block in dst.
func choose(b block.Block, index []int64, dst dataset.Sink) error {
	out, err := dst.Block(b.Shapes, int64(len(index)))
	if err != nil {
		return err
	}
	return out.Gather(0, b, index)
}
