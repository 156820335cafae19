package transform

import (
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// ShuffleOptions says how Shuffle orders.
type ShuffleOptions struct {
	Seed uint64
	// Height is how many datasets lie under the shuffle, down to its source.
	Height uint64
	// SameEachPass keeps the order of all passes the same.
	SameEachPass bool
	// Window is within how many elements places are exchanged; 0 all of them,
	// which an infinite input does not have, nor one that is not indexed. A finite
	// indexed input is always shuffled as a whole, unless Window is 1.
	Window int64
	// Page, where it is not 0, has a finite indexed input shuffled by pages of so many
	// elements, and then within windows of as many pages as Window has, at least one.
	Page int64
}

type shuffle struct {
	in dataset.Indexed
	o  ShuffleOptions
}

// Shuffle returns the elements of the input in an order chosen by seed and pass.
func Shuffle(in dataset.Definition, o ShuffleOptions) (dataset.Definition, error) {
	if o.Window < 0 {
		return nil, errs.New(errs.InvalidArgument, "shuffle", "buffer_size is %d; it must be at least 1", o.Window)
	}
	if o.Page < 0 {
		return nil, errs.New(errs.InvalidArgument, "shuffle", "page_size is %d; it must be at least 1", o.Page)
	}
	if o.Window == 0 && in.Cardinality() == dataset.Infinite {
		return nil, errs.New(errs.InvalidArgument, "shuffle",
			"an infinite dataset cannot be shuffled as a whole; put shuffle before repeat, or give a buffer_size")
	}
	if o.Window == 1 {
		return in, nil
	}
	if o.Page != 0 {
		return newPagedShuffle(in, o)
	}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &shuffle{in: indexed, o: o}, nil
	}
	return &streamShuffle{in: in, o: o}, nil
}

// key returns what the order of a pass is made from.
func (o ShuffleOptions) key(pass rng.Key) rng.Key {
	if o.SameEachPass {
		return rng.NewKey(o.Seed, o.Height)
	}
	return pass.Derive(o.Seed, o.Height)
}

func (s *shuffle) Spec() *spec.Element { return s.in.Spec() }
func (s *shuffle) Cardinality() int64  { return s.in.Cardinality() }

func (s *shuffle) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(s, scope, pass, from)
}

func (s *shuffle) Open(scope *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := s.in.Open(scope, pass)
	if err != nil {
		return nil, err
	}
	a := &shuffled{in: in, window: s.o.Window}
	if n := s.in.Cardinality(); n >= 0 {
		a.window = max(n, 1)
	}
	key := s.o.key(pass)
	a.orders = newRecent(func(w int64) *rng.Permutation {
		return rng.NewPermutation(a.window, key.Derive(uint64(w)))
	})
	return a, nil
}

// shuffled is one pass: windows of elements, each in an order of its own.
type shuffled struct {
	in     dataset.RandomAccess
	window int64
	orders *recent[*rng.Permutation]
}

func (s *shuffled) Fetch(index []int64, dst dataset.Sink) error {
	err := eachPart(index, s.window, func(w, from, to int64) error {
		part, base, order := index[from:to], w*s.window, s.orders.get(w)
		if dataset.Consecutive(part) {
			order.Fill(part, part[0]-base)
			for i := range part {
				part[i] += base
			}
		} else {
			for i, x := range part {
				part[i] = base + order.At(x-base)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.in.Fetch(index, dst)
}
