package pipeline

import (
	"errors"
	"io"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
)

// stream is the walk over a dataset that is not indexed.
type stream struct {
	open     func() (dataset.Iterator, error)
	in       dataset.Iterator // nil: not opened yet
	position int64            // number of the next element
	start    int64            // in the pass, of the token that it was opened at
	shared   bool             // with other readers
	skip     int64            // elements between the token of a state and its place
	lenient  bool             // some of these may fail: they were other readers'
	ended    bool
}

// beginStream opens a pass where the state says, and starts the goroutine that walks.
func (it *Iterator) beginStream(state *State) (err error) {
	s := &stream{shared: it.shard != nil}
	position, from := int64(0), (*dataset.Token)(nil)
	if state != nil {
		position, from, s.skip, s.lenient = state.Position, state.Token, state.Rows, state.Shard != nil
	}
	if position < 0 || s.skip < 0 || s.skip > position {
		return errs.New(errs.StateMismatch, "iterator", "the state is before element %d, %d after its token", position, s.skip)
	}
	it.from(position)
	s.position, s.start = it.first, position-s.skip
	it.add(place{s.start, from})
	def := it.dataset.def
	if s.shared {
		if def, err = it.lane(def, s.skip); err != nil {
			return err
		}
		from, s.skip = inLane(from), 0
	}
	it.claims.stream = s
	s.open = func() (dataset.Iterator, error) { return def.Iterate(it.scope, dataset.PassKey(it.pass), from) }
	// A function that is needed to open it is run by who waits for elements, and nobody
	// does yet.
	if it.calls == nil {
		if s.in, err = s.open(); err != nil {
			return err
		}
		if s.skip == 0 { // how a pass begins may depend on what is on disk by now
			it.add(s.here())
		}
	}
	if it.workers > 0 {
		it.scope.Go(func() {
			for it.step() != over {
			}
		})
	}
	return nil
}

// inLane returns the token of what places.lane makes, at a token of its input.
func inLane(t *dataset.Token) *dataset.Token {
	skip := dataset.Over(t, 0, 0)
	return dataset.Over(dataset.Over(skip, 0), 0)
}

// here returns where the stream is.
func (s *stream) here() place {
	t := s.in.Token()
	if !s.shared {
		return place{s.position, t}
	}
	skip := t.In[0].In[0] // how many elements it passed and gave
	return place{s.start + skip.At[0] + skip.At[1], skip.In[0]}
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
	if s.in == nil {
		var err error
		if s.in, err = s.open(); err != nil {
			s.ended = true
			it.delivery.hand(c.next, nil, err)
			return over
		}
	}
	if s.skip > 0 {
		return it.skip()
	}
	g := it.sinks.get(&it.slots)
	defer it.sinks.put(g)
	start := time.Now()
	it.add(s.here())
	n, err := s.in.Next(it.sizes.limit(c.next), g)
	switch {
	case errors.Is(err, io.EOF):
		g.void()
		s.ended = true
		at := s.here()
		it.add(at)
		it.endsAt(at.position)
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
	c := &it.claims
	for s := c.stream; s.skip > 0; {
		rest.Reset()
		n, err := s.in.Next(min(s.skip, maxElements), &rest)
		switch {
		case err == nil:
			s.skip -= n
		case s.lenient && it.scope.Err() == nil:
			it.scope.Drop(err)
			if s.skip--; errors.Is(err, io.EOF) {
				s.skip = 0
			}
		default:
			s.ended = true
			it.delivery.hand(c.next, nil, errs.Wrap(err, errs.StateMismatch, "load_state_dict", "the elements before the state cannot be read again"))
			return over
		}
	}
	return again
}
