package transform

import (
	"math"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type repeat struct {
	in    dataset.Definition
	count int64
	n     int64
}

// Repeat returns the input count times over, or without end when count is -1.
// Each repetition is a pass of its own over the input.
func Repeat(in dataset.Definition, count int64) (dataset.Definition, error) {
	if count < -1 {
		return nil, errs.New(errs.InvalidArgument, "repeat", "count is %d; it must be -1 (without end), 0 or more", count)
	}
	r := &repeat{in: in, count: count}
	switch n := in.Cardinality(); {
	case n == 0 || count == 0:
		r.n = 0
	case n < 0 || count < 0:
		r.n = dataset.Infinite
	case n > math.MaxInt64/count:
		return nil, errs.New(errs.InvalidArgument, "repeat", "%d elements %d times are more than can be counted", n, count)
	default:
		r.n = n * count
	}
	return r, nil
}

func (r *repeat) Spec() *spec.Element  { return r.in.Spec() }
func (r *repeat) Bound() *spec.Element { return r.in.Bound() }
func (r *repeat) Cardinality() int64   { return r.n }

func (r *repeat) Open(pass rng.Key) dataset.RandomAccess {
	a := &repeated{n: r.in.Cardinality()}
	if a.n <= 0 { // an infinite input is never gone through twice
		a.n = math.MaxInt64
	}
	a.passes = newRecent(func(k int64) dataset.RandomAccess { return r.in.Open(pass.Derive(uint64(k))) })
	if r.n == 0 || r.in.Cardinality() < 0 {
		return a
	}
	if count, shapes, err := a.passes.get(0).Like(0, a.n); err == nil && count == a.n {
		a.uniform = shapes
	}
	return a
}

type repeated struct {
	n       int64 // elements of a repetition
	passes  *recent[dataset.RandomAccess]
	uniform *spec.Element // the shapes of all elements, where known to be the same
}

func (r *repeated) Like(start, limit int64) (int64, *spec.Element, error) {
	if r.uniform != nil {
		return limit, r.uniform, nil
	}
	k, at := start/r.n, start%r.n
	count, shapes, err := r.passes.get(k).Like(at, min(limit, r.n-at))
	for err == nil && count < limit && (start+count)%r.n == 0 { // on into the next repetition
		k++
		more, next, e := r.passes.get(k).Like(0, min(limit-count, r.n))
		if e != nil || !next.Same(shapes) {
			break // an error is told when it is the first element's
		}
		count += more
	}
	return count, shapes, err
}

func (r *repeated) Gather(index []int64, dst block.Block) error {
	return eachPart(index, r.n, func(k, from, to int64) error {
		part := index[from:to]
		for i := range part {
			part[i] -= k * r.n
		}
		return r.passes.get(k).Gather(part, dst.Slice(from, to))
	})
}
