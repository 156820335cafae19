package pipeline

import (
	"sync"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/transform"
)

// places knows the states of an iterator, also when that has ended.
//
// An iterator numbers the elements that it gives. States count the elements of the
// pass: where n readers share it in lock step, each has given k elements when n*k of
// the pass were given, so that all readers have the same states, and any number of
// readers can go on from one.
type places struct {
	dataset *Dataset
	pass    int64
	shard   *[2]int64

	// The iterator's element x is given when base+x*stride of the pass were given. Its
	// first one has the number first.
	base, stride, first int64

	mu struct {
		sync.Mutex
		total  int64   // how many elements the pass has; -1: not known yet
		recent []place // where the groups lately made begin, for streams only
	}
}

// place is where a stream can be taken up.
type place struct {
	position int64 // in the pass
	token    *dataset.Token
}

// mostTokens is for how many groups a state can be told; more than are on their way.
const mostTokens = 1 << 13

func newPlaces(d *Dataset, o Options) *places {
	p := &places{dataset: d, pass: o.Pass, shard: o.Shard}
	p.mu.total = -1
	return p
}

// endsAt says how many elements the pass has.
func (p *places) endsAt(total int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.total = total
}

// from says that the iterator begins before an element of the pass. One that reads
// all of them numbers them as the pass does, one of several from 0 on.
func (p *places) from(position int64) {
	p.stride, p.first = 1, position
	if p.shard != nil {
		p.base, p.stride, p.first = position, p.shard[0], 0
	}
}

// mine returns the elements of an indexed pass that this reader gives, by its numbers.
func (p *places) mine(all dataset.Indexed) (dataset.Indexed, error) {
	if p.shard == nil {
		return all, nil
	}
	d, err := p.lane(all, p.base)
	return d.(dataset.Indexed), err
}

// lane returns what this reader gives when count elements were given.
func (p *places) lane(all dataset.Definition, count int64) (dataset.Definition, error) {
	rest, err := transform.Skip(all, count)
	if err != nil {
		return nil, err
	}
	return transform.Shard(rest, p.shard[0], p.shard[1])
}

func isShard(shard *[2]int64) error {
	if shard != nil && (shard[0] < 1 || shard[1] < 0 || shard[1] >= shard[0]) {
		return errs.New(errs.InvalidArgument, "iterator", "shard is (%d, %d); (n, i) with 0 <= i < n is needed", shard[0], shard[1])
	}
	return nil
}

// add remembers where a stream is.
func (p *places) add(at place) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := p.mu.recent
	if n := len(r); n > 0 && r[n-1].position == at.position {
		r[n-1] = at // what was left out since then is counted in this one
		return
	}
	if len(r) == mostTokens {
		r = append(r[:0], r[mostTokens/2:]...)
	}
	p.mu.recent = append(r, at)
}

// latest returns the token made last, or nil.
func (p *places) latest() *dataset.Token {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.mu.recent); n > 0 {
		return p.mu.recent[n-1].token
	}
	return nil
}

// before returns the last place that is not after a position of the pass.
func (p *places) before(position int64) (place, error) {
	for i := len(p.mu.recent) - 1; i >= 0; i-- {
		if at := p.mu.recent[i]; at.position <= position {
			return at, nil
		}
	}
	return place{}, errs.New(errs.InvalidArgument, "state_dict", "the state before element %d is no longer known; only those of recent elements are", position)
}

// Cardinality is that of what all readers of the pass give from its start, or from
// where their number changed.
func (p *places) Cardinality() int64 { return p.dataset.Cardinality() }

// State returns the state before the iterator's element of the given number, which is
// not far from the last that was made.
func (p *places) State(number int64) (State, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	position := p.base + number*p.stride
	if p.mu.total >= 0 {
		position = min(position, p.mu.total)
	}
	s := p.dataset.State(p.pass, position, p.shard)
	if p.dataset.Indexed() {
		return s, nil
	}
	at, err := p.before(position)
	s.Token, s.Rows = at.token, position-at.position
	return s, err
}

// Past knows the states of an iterator that may be closed.
type Past struct{ places *places }

// Past returns what knows the iterator's states.
func (it *Iterator) Past() Past { return Past{it.places} }

// State is Iterator.State.
func (p Past) State(number int64) (State, error) { return p.places.State(number) }

// First returns the number of the iterator's first element, and how numbers count in
// the pass: before its element x, base + x*stride elements of the pass were given.
func (it *Iterator) First() (first, base, stride int64) { return it.first, it.base, it.stride }
