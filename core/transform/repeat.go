package transform

import (
	"math"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type repeat struct {
	in    dataset.Indexed
	count int64
	n     int64
}

// Repeat returns the input count times over, or without end when count is -1.
// Each repetition is a pass of its own over the input.
func Repeat(in dataset.Definition, count int64) (dataset.Definition, error) {
	if count < -1 {
		return nil, errs.New(errs.InvalidArgument, "repeat", "count is %d; it must be -1 (without end), 0 or more", count)
	}
	n, err := repeated(in.Cardinality(), count)
	if err != nil {
		return nil, err
	}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &repeat{in: indexed, count: count, n: n}, nil
	}
	return &streamRepeat{in: in, count: count, n: n}, nil
}

// repeated returns how many elements n elements count times over are.
func repeated(n, count int64) (int64, error) {
	switch {
	case n == 0 || count == 0:
		return 0, nil
	case n < 0 && count != -1:
		return n, nil
	case count < 0:
		return dataset.Infinite, nil
	case n > math.MaxInt64/count:
		return 0, errs.New(errs.InvalidArgument, "repeat", "%d elements %d times are more than can be counted; count=None repeats without end", n, count)
	}
	return n * count, nil
}

func (r *repeat) Spec() *spec.Element { return r.in.Spec() }
func (r *repeat) Cardinality() int64  { return r.n }

func (r *repeat) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(r, s, pass, from)
}

func (r *repeat) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	a := &repetitions{n: r.in.Cardinality()}
	if a.n <= 0 { // an infinite input is never gone through twice
		a.n = math.MaxInt64
	}
	a.passes = newRecent(func(k int64) opened {
		access, err := r.in.Open(s, pass.Derive(uint64(k)))
		return opened{access, err}
	})
	return a, nil
}

type opened struct {
	dataset.RandomAccess
	err error
}

type repetitions struct {
	n      int64 // elements of a repetition
	passes *recent[opened]
}

func (r *repetitions) Fetch(index []int64, dst dataset.Sink) error {
	return eachPart(index, r.n, func(k, from, to int64) error {
		part := index[from:to]
		for i := range part {
			part[i] -= k * r.n
		}
		in := r.passes.get(k)
		if in.err != nil {
			return in.err
		}
		return in.Fetch(part, dst)
	})
}
