package pipeline

import (
	"errors"
	"io"
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
)

// combine is Iterate for Options.Combine.
func (d *Dataset) combine(o Options) (*Iterator, error) {
	seeded, err := d.gathered(o.Combine)
	if err != nil {
		return nil, err
	}
	o.Workers = 1 // who finds it; the consumer may have to run functions meanwhile
	it := &Iterator{places: newPlaces(seeded, o), workers: 1, spec: d.Spec()}
	it.settle(State{})
	if err := it.sizes.set(it.spec, false, o); err != nil {
		return nil, err
	}
	if err := it.prepare(o); err != nil {
		return nil, err
	}
	it.scope.Go(func() {
		state, err := seeded.combined(it.scope, o)
		if err == nil {
			it.dataset, err = seeded.continued(state.Rest)
		}
		if err != nil {
			it.delivery.hand(0, nil, err)
			return
		}
		it.settle(state)
		it.delivery.endsAfter(0)
	})
	return it, nil
}

// settle makes State(0) a state.
func (p *places) settle(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass, p.base, p.stride = s.Pass, s.Position, 1
	p.mu.recent = []place{{s.Position - s.Rows, s.Token}}
}

// gathered checks that states are those of all readers of a pass, and returns the
// dataset with their seeds. It sorts them by reader.
func (d *Dataset) gathered(states []*State) (*Dataset, error) {
	const op = "load_state_dict"
	first := states[0]
	for i, s := range states {
		if err := d.accepts(s); err != nil {
			if _, why := d.sharing(); why != nil && len(states) > 1 {
				return nil, why
			}
			return nil, err
		}
		switch {
		case s.Pass != first.Pass:
			return nil, errs.New(errs.StateMismatch, op, "states 0 and %d are of passes %d and %d; give those of one moment", i, first.Pass, s.Pass)
		case !slices.Equal(s.Seeds, first.Seeds):
			return nil, errs.New(errs.StateMismatch, op, "states 0 and %d have other seeds, so the readers did not share one order; give shuffles a seed", i)
		case s.Rest.text() != first.Rest.text():
			return nil, errs.New(errs.StateMismatch, op, "states 0 and %d are of readers that began in different places", i)
		case (s.Reader == nil) != (first.Reader == nil) || s.Reader != nil && s.Reader[0] != first.Reader[0]:
			return nil, errs.New(errs.StateMismatch, op, "states 0 and %d are of different numbers of readers", i)
		case s.Reader == nil && (s.Position != first.Position):
			return nil, errs.New(errs.StateMismatch, op, "states 0 and %d are before elements %d and %d; readers of iterator(shard=) go in lock step, and one state is enough",
				i, first.Position, s.Position)
		}
	}
	if first.Reader != nil {
		slices.SortStableFunc(states, func(a, b *State) int { return int(a.Reader[1] - b.Reader[1]) })
		for i := range first.Reader[0] {
			if i >= int64(len(states)) || states[i].Reader[1] != i {
				return nil, errs.New(errs.StateMismatch, op, "the states of all %d readers are needed; that of reader %d is missing, or there twice", first.Reader[0], i)
			}
		}
		if int64(len(states)) > first.Reader[0] {
			return nil, errs.New(errs.StateMismatch, op, "%d states were given of %d readers", len(states), first.Reader[0])
		}
	}
	return d.seeded(first.Seeds)
}

// combined returns the state for the reader that this dataset is.
func (d *Dataset) combined(scope *dataset.Scope, o Options) (State, error) {
	first := o.Combine[0]
	if first.Reader == nil {
		return *first, nil
	}
	s, _ := d.sharing()
	if first.Reader[0] == s.shard.NumShards {
		return *o.Combine[s.shard.Index], nil
	}
	taken := make([]int64, len(o.Combine))
	var begun []Begun
	for i, state := range o.Combine {
		if d.Indexed() {
			taken[i] = state.Position * s.each
			continue
		}
		m := &measuring{sharing: s, state: state, begun: begun}
		if err := m.run(scope); err != nil {
			return State{}, errs.Wrap(err, errs.StateMismatch, "load_state_dict", "of reader %d", i)
		}
		taken[i], begun = m.taken, m.begun
	}
	return State{Pass: first.Pass, Rest: first.Rest.and(taken, begun)}, nil
}

// measuring finds how many elements a reader took of its share, by walking to where
// its state is, one element at a time. It watches that walk.
type measuring struct {
	*sharing
	state *State

	first, last int64 // elements of the share that were asked for, from 1 on; 0: none
	size        int64 // of the share
	low         dataset.Iterator

	taken int64
	begun []Begun
}

func (m *measuring) run(outer *dataset.Scope) error {
	root, err := m.reader(m.state.Rest, m.state.Reader[0], m.state.Reader[1], m)
	if err != nil {
		return err
	}
	def, _, err := root.build()
	if err != nil {
		return err
	}
	scope := alone(outer)
	defer scope.Close()
	in, err := def.Iterate(scope, dataset.PassKey(m.state.Pass), m.state.Token)
	if err != nil {
		return err
	}
	for left := m.state.Rows; left > 0; left-- {
		if err := one(scope, in); err != nil {
			return errs.Wrap(err, errs.StateMismatch, "load_state_dict", "the elements before the state cannot be read again")
		}
	}
	var token *dataset.Token
	if m.more() {
		token = m.low.Token()
	}
	if token, ended := m.ended(token); !ended {
		m.begun = append(m.begun, token...)
		return nil // and none of the share was taken
	}
	if m.last == 0 { // the state is where something begins: what is next tells where
		if err := one(scope, in); err != nil && scope.Err() != nil {
			return err
		}
		if m.last = m.first - 1; m.first == 0 {
			m.last = m.size
		}
	}
	m.taken = m.last
	return m.open(outer, token)
}

// alone returns a scope in which everything happens one after the other.
func alone(s *dataset.Scope) *dataset.Scope {
	c := s.Child()
	c.Workers, c.Single, c.Counters = 0, true, nil
	return c
}

// one makes one element, for nothing.
func one(s *dataset.Scope, in dataset.Iterator) error {
	var rest block.Buffer
	for s.Err() == nil {
		rest.Reset()
		if n, err := in.Next(1, &rest); n > 0 || err != nil {
			return err
		}
	}
	return s.Err()
}

// ended tells whether the elements that were begun before this reader are ended; if
// not, it returns those that are not.
func (m *measuring) ended(at *dataset.Token) (left []Begun, yes bool) {
	n, i := m.state.Reader[0], m.state.Reader[1]
	if m.state.Rest == nil {
		return nil, true
	}
	for k, b := range m.state.Rest.Begun {
		if int64(k)%n == i {
			left = append(left, b)
		}
	}
	if len(left) == 0 || at.At[0] == int64(len(left)) {
		return nil, true
	}
	left = slices.Clone(left[at.At[0]:])
	left[0].Token = at.In[0]
	return left, false
}

// open notes the element that the reader has begun, if it has.
func (m *measuring) open(outer *dataset.Scope, at *dataset.Token) error {
	if !m.more() {
		return nil
	}
	if _, is := m.low.(*partingIterator); is {
		at = at.In[0]
	}
	sources, err := m.state.Rest.sources(m.source)
	if err != nil {
		return err
	}
	taken := make([]int64, m.state.Reader[0])
	taken[m.state.Reader[1]] = m.taken
	rows, err := m.takenBy(sources[len(sources)-1], taken, m.state.Reader[1])
	if err != nil {
		return err
	}
	scope := alone(outer)
	defer scope.Close()
	in, err := rows.Iterate(scope, dataset.PassKey(m.state.Pass), at)
	if err != nil {
		return err
	}
	if err := one(scope, in); errors.Is(err, io.EOF) {
		return nil
	}
	m.begun = append(m.begun, Begun{Layer: int64(len(sources)) - 1, Reader: m.state.Reader[1], Token: at})
	return scope.Err()
}

// share implements watch.
func (m *measuring) share(d dataset.Definition) dataset.Definition {
	indexed := d.(dataset.Indexed)
	m.size = dataset.End(indexed)
	return &watchedShare{indexed, m}
}

// rows implements watch.
func (m *measuring) rows(d dataset.Definition) dataset.Definition { return &watchedRows{d, m} }

type watchedShare struct {
	dataset.Indexed
	by *measuring
}

func (w *watchedShare) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(w, s, pass, from)
}

func (w *watchedShare) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := w.Indexed.Open(s, pass)
	return &watchedPass{in, w.by}, err
}

type watchedPass struct {
	dataset.RandomAccess
	by *measuring
}

func (w *watchedPass) Fetch(index []int64, dst dataset.Sink) error {
	for _, x := range index {
		if w.by.first == 0 {
			w.by.first = x + 1
		}
		w.by.last = max(w.by.last, x+1)
	}
	return w.RandomAccess.Fetch(index, dst)
}

type watchedRows struct {
	dataset.Definition
	by *measuring
}

func (w *watchedRows) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	in, err := w.Definition.Iterate(s, pass, from)
	w.by.low = in
	return in, err
}
