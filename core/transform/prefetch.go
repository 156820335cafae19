package transform

import (
	"sync"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type prefetch struct {
	in              dataset.Definition
	elements, bytes int64
}

// Prefetch reads ahead of what is asked for, by up to so many elements (-1: any
// number) and bytes, and no more than the budget of the scope allows; one element more
// when it is larger. It changes nothing else. An
// indexed input is returned as it is: whoever reads it can ask for many elements at
// once.
func Prefetch(in dataset.Definition, elements, bytes int64) (dataset.Definition, error) {
	if elements < -1 || bytes < 1 {
		return nil, errs.New(errs.InvalidArgument, "prefetch", "buffer_size is %d, of at most %d bytes; it must be -1 (AUTOTUNE), 0 or more", elements, bytes)
	}
	if _, ok := in.(dataset.Indexed); ok || elements == 0 {
		return in, nil
	}
	return &prefetch{in, elements, bytes}, nil
}

func (p *prefetch) Spec() *spec.Element { return p.in.Spec() }
func (p *prefetch) Cardinality() int64  { return p.in.Cardinality() }

// mostPieces is how many pieces are read ahead.
const mostPieces = 8

func (p *prefetch) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	rows, before, err := from.Behind("prefetch")
	if err != nil {
		return nil, err
	}
	in, err := p.in.Iterate(s, pass, before)
	if err != nil {
		return nil, err
	}
	if err := goPast("prefetch", in, rows); err != nil {
		return nil, err
	}
	it := &prefetchIterator{scope: s, in: in, after: in.Token()}
	if s.Workers == 0 {
		return it, nil
	}
	pieces, limit := int64(mostPieces), int64(mostStacked)
	if p.elements >= 0 {
		pieces = min(pieces, p.elements)
		limit = p.elements / pieces
	}
	it.ahead = &ahead{scope: s, in: in, limit: limit, bytes: min(p.bytes, s.Budget.Limit()),
		free: make(chan *piece, pieces), full: make(chan *piece, pieces), room: make(chan struct{}, 1)}
	for range pieces {
		it.ahead.free <- &piece{}
	}
	s.Go(it.ahead.run)
	return it, nil
}

// piece is elements that were read in one call, or an error.
type piece struct {
	buffer        block.Buffer
	before, after *dataset.Token
	bytes         int64
	err           error
}

// ahead is the goroutine that reads and the pieces between it and the iterator.
type ahead struct {
	scope        *dataset.Scope
	in           dataset.Iterator
	limit, bytes int64
	free, full   chan *piece
	room         chan struct{} // tells that fewer bytes wait
	mu           struct {
		sync.Mutex
		waiting int64 // bytes
	}
}

// wait adds bytes to those that wait and returns how many they are.
func (a *ahead) wait(bytes int64) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.waiting += bytes
	return a.mu.waiting
}

// mayRead waits until there is room for one more piece. It returns false when the scope
// has ended.
func (a *ahead) mayRead() bool {
	for {
		yes, changed := a.scope.Budget.Room()
		if own := a.wait(0); own == 0 || own < a.bytes && yes {
			return true
		}
		select {
		case <-a.room:
		case <-changed:
		case <-a.scope.Done():
			return false
		}
	}
}

const (
	pieceTime  = time.Millisecond
	pieceBytes = 1 << 20
)

// run reads pieces of about a millisecond's work each.
func (a *ahead) run() {
	limit := int64(1)
	for {
		var p *piece
		select {
		case p = <-a.free:
		case <-a.scope.Done():
			return
		}
		if !a.mayRead() {
			return
		}
		start := time.Now()
		n := p.read(a.in, limit)
		a.wait(p.bytes)
		a.scope.Budget.Hold(p.bytes)
		a.full <- p // there is room for all pieces
		if isEnd(p.err) {
			return
		}
		most := min(pieceBytes, max(a.bytes/mostPieces, 1))
		switch took := time.Since(start); {
		case n < limit:
		case took > 2*pieceTime || p.bytes > most:
			limit = max(limit/2, 1)
		case took < pieceTime && p.bytes < most/2:
			limit = min(2*limit, a.limit)
		}
	}
}

// read reads the next elements, or the next error, and returns how many.
func (p *piece) read(in dataset.Iterator, limit int64) int64 {
	for {
		p.buffer.Reset()
		p.before = in.Token()
		n, err := in.Next(limit, &p.buffer)
		if n == 0 && err == nil {
			continue
		}
		if p.err = err; err != nil {
			p.buffer.Reset()
		}
		p.after = in.Token()
		p.bytes = p.buffer.Bytes()
		return n
	}
}

// prefetchIterator gives what was read ahead; with no workers, its input's elements.
type prefetchIterator struct {
	scope *dataset.Scope
	in    dataset.Iterator
	ahead *ahead

	piece *piece // that is being given; nil: it has to be waited for
	block int    // of it
	row   int64
	taken int64 // elements of the piece that were given
	after *dataset.Token
	atEnd error
}

func (it *prefetchIterator) Token() *dataset.Token {
	switch {
	case it.ahead == nil:
		return dataset.Over(it.in.Token(), 0)
	case it.piece == nil:
		return dataset.Over(it.after, 0)
	}
	return dataset.Over(it.piece.before, it.taken)
}

// Queue implements dataset.Ahead.
func (it *prefetchIterator) Queue() int64 {
	if it.ahead == nil {
		return 0
	}
	return int64(len(it.ahead.full))
}

func (it *prefetchIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.ahead == nil {
		return it.in.Next(limit, dst)
	}
	if it.atEnd != nil {
		return 0, it.atEnd
	}
	if it.piece == nil {
		select {
		case it.piece = <-it.ahead.full:
		case <-it.scope.Done():
			return 0, it.scope.Err()
		}
	}
	if err := it.piece.err; err != nil {
		if isEnd(err) {
			it.atEnd = err
		}
		it.giveBack()
		return 0, err
	}
	n := min(limit, it.piece.buffer.Blocks()[it.block].Rows-it.row)
	if err := dataset.Hand(dst, &it.piece.buffer, it.block, it.row, n); err != nil {
		return 0, err
	}
	it.taken += n
	if it.row += n; it.row == it.piece.buffer.Blocks()[it.block].Rows {
		it.block, it.row = it.block+1, 0
	}
	if it.block == len(it.piece.buffer.Blocks()) {
		it.giveBack()
	}
	return n, nil
}

// giveBack lets the piece be read into again.
func (it *prefetchIterator) giveBack() {
	p := it.piece
	it.after = p.after
	it.piece, it.block, it.row, it.taken = nil, 0, 0, 0
	it.ahead.wait(-p.bytes)
	it.scope.Budget.GiveBack(p.bytes)
	if p.bytes > 2*it.ahead.bytes/mostPieces { // and its memory is not kept for the next one
		p.buffer = block.Buffer{}
	}
	it.ahead.free <- p
	select {
	case it.ahead.room <- struct{}{}:
	default:
	}
}
