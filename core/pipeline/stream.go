package pipeline

import (
	"errors"
	"io"
	"sync"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
)

// stream is the walk over a dataset that is not indexed.
type stream struct {
	in       dataset.Iterator
	position int64 // number of the next element
	ended    bool
}

// beginStream opens a pass where the state says, and starts the goroutine that walks.
func (it *Iterator) beginStream(def dataset.Definition, state *State) (err error) {
	s := &stream{}
	var from *dataset.Token
	rows := int64(0)
	if state != nil {
		s.position, from, rows = state.Position, state.Token, state.Rows
	}
	if s.position < 0 || rows < 0 || rows > s.position {
		return errs.New(errs.StateMismatch, "iterator", "the state is before element %d, %d after its token", s.position, rows)
	}
	if s.in, err = def.Iterate(it.scope, dataset.PassKey(it.pass), from); err != nil {
		return err
	}
	it.claims.stream = s
	it.claims.skip = rows
	it.tokens.add(s.position-rows, from)
	if it.workers > 0 {
		it.scope.Go(func() {
			for it.step() != over {
			}
		})
	}
	return nil
}

// again is the claimState of a step that made nothing yet.
const again claimState = -1

// step makes the next groups.
func (it *Iterator) step() claimState {
	c := &it.claims
	s := c.stream
	for {
		key := it.event.Key()
		if s.ended || it.stopped.Load() {
			return over
		}
		if it.workers == 0 || it.room(c.next) > 0 {
			break
		}
		it.event.Wait(key, idle)
	}
	if c.skip > 0 {
		return it.skip()
	}
	g := it.sinks.Get().(*groups)
	defer it.sinks.Put(g)
	start := time.Now()
	token := s.in.Token()
	it.tokens.add(s.position, token)
	n, err := s.in.Next(it.sizes.limit(c.next), g)
	switch {
	case errors.Is(err, io.EOF):
		g.void()
		s.ended = true
		it.delivery.endsAfter(c.next)
		return over
	case err != nil:
		g.void()
		s.ended = true
		it.hand(c.next, s.position, 0, g, err, start)
		return over
	case n == 0:
		g.void()
		return again
	}
	it.hand(c.next, s.position, n, g, nil, start)
	c.next++
	s.position += n
	return claimed
}

// skip passes the elements between the token of a state and its place.
func (it *Iterator) skip() claimState {
	var rest block.Buffer
	for c := &it.claims; c.skip > 0; {
		rest.Reset()
		n, err := c.stream.in.Next(min(c.skip, maxElements), &rest)
		if err != nil {
			c.stream.ended = true
			it.delivery.hand(c.next, nil, errs.Wrap(err, errs.StateMismatch, "load_state_dict", "the elements before the state cannot be read again"))
			return over
		}
		c.skip -= n
	}
	return again
}

// tokens remembers where the groups lately made begin.
type tokens struct {
	mu struct {
		sync.Mutex
		recent []place
	}
}

type place struct {
	position int64
	token    *dataset.Token
}

// mostTokens is for how many groups a state can be told; more than are on their way.
const mostTokens = 1 << 13

func (t *tokens) add(position int64, token *dataset.Token) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.mu.recent
	if n := len(r); n > 0 && r[n-1].position == position {
		return // the older one is as good
	}
	if len(r) == mostTokens {
		r = append(r[:0], r[mostTokens/2:]...)
	}
	t.mu.recent = append(r, place{position, token})
}

// before returns the last place that is not after a position.
func (t *tokens) before(position int64) (place, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := len(t.mu.recent) - 1; i >= 0; i-- {
		if p := t.mu.recent[i]; p.position <= position {
			return p, nil
		}
	}
	return place{}, errs.New(errs.InvalidArgument, "state_dict", "the state before element %d is no longer known; only those of recent elements are", position)
}
