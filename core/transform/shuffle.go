package transform

import (
	"infeed/core/block"
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
	// which an infinite input does not have. A finite input is always shuffled
	// as a whole, unless Window is 1.
	Window int64
}

type shuffle struct {
	in dataset.Definition
	o  ShuffleOptions
}

// Shuffle returns the elements of the input in an order chosen by seed and pass.
func Shuffle(in dataset.Definition, o ShuffleOptions) (dataset.Definition, error) {
	if o.Window < 0 {
		return nil, errs.New(errs.InvalidArgument, "shuffle", "buffer_size is %d; it must be at least 1", o.Window)
	}
	if o.Window == 0 && in.Cardinality() < 0 {
		return nil, errs.New(errs.InvalidArgument, "shuffle",
			"an infinite dataset cannot be shuffled as a whole; put shuffle before repeat, or give a buffer_size")
	}
	if o.Window == 1 {
		return in, nil
	}
	return &shuffle{in: in, o: o}, nil
}

func (s *shuffle) Spec() *spec.Element  { return s.in.Spec() }
func (s *shuffle) Bound() *spec.Element { return s.in.Bound() }
func (s *shuffle) Cardinality() int64   { return s.in.Cardinality() }

func (s *shuffle) Open(pass rng.Key) dataset.RandomAccess {
	a := &shuffled{in: s.in.Open(pass), key: pass.Derive(s.o.Seed, s.o.Height)}
	if s.o.SameEachPass {
		a.key = rng.NewKey(s.o.Seed, s.o.Height)
	}
	a.window = s.o.Window
	if n := s.in.Cardinality(); n >= 0 {
		a.window = max(n, 1)
		a.uniform = a.elementsAlike(n)
	}
	a.orders = newRecent(func(w int64) *rng.Permutation {
		return rng.NewPermutation(a.window, a.key.Derive(uint64(w)))
	})
	return a
}

// shuffled is one pass: windows of elements, each in an order of its own.
type shuffled struct {
	in      dataset.RandomAccess
	key     rng.Key
	window  int64
	uniform *spec.Element // the shapes of all elements, where known to be the same
	orders  *recent[*rng.Permutation]
}

func (s *shuffled) elementsAlike(n int64) *spec.Element {
	if n == 0 {
		return nil
	}
	if count, shapes, err := s.in.Like(0, n); err == nil && count == n {
		return shapes
	}
	return nil
}

func (s *shuffled) Like(start, limit int64) (int64, *spec.Element, error) {
	if s.uniform != nil {
		return limit, s.uniform, nil
	}
	at := func(i int64) (*spec.Element, error) {
		w := i / s.window
		_, shapes, err := s.in.Like(w*s.window+s.orders.get(w).At(i%s.window), 1)
		return shapes, err
	}
	return countLike(start, limit, at)
}

func (s *shuffled) Gather(index []int64, dst block.Block) error {
	return eachPart(index, s.window, func(w, from, to int64) error {
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
		return s.in.Gather(part, dst.Slice(from, to))
	})
}
