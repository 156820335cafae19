package transform

import (
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// picked is every step-th element of the input from start on, n of them.
type picked struct {
	in             dataset.Indexed
	start, step, n int64
}

// Take returns the first count elements, or all when count is -1.
func Take(in dataset.Definition, count int64) (dataset.Definition, error) {
	if count < -1 {
		return nil, errs.New(errs.InvalidArgument, "take", "count is %d; it must be -1 (all), 0 or more", count)
	}
	indexed, ok := in.(dataset.Indexed)
	if !ok {
		return streamTake(in, count), nil
	}
	n := in.Cardinality()
	if count >= 0 && (n < 0 || count < n) {
		n = count
	}
	return &picked{in: indexed, step: 1, n: n}, nil
}

// Skip returns what comes after the first count elements; nothing when count is -1.
func Skip(in dataset.Definition, count int64) (dataset.Definition, error) {
	if count < -1 {
		return nil, errs.New(errs.InvalidArgument, "skip", "count is %d; it must be -1 (all), 0 or more", count)
	}
	indexed, ok := in.(dataset.Indexed)
	if !ok {
		return streamSkip(in, count), nil
	}
	n := in.Cardinality()
	if count == -1 {
		return &picked{in: indexed, step: 1}, nil
	}
	if n >= 0 {
		count = min(count, n)
		n -= count
	}
	return &picked{in: indexed, start: count, step: 1, n: n}, nil
}

// Shard returns every shards-th element, from element index on.
func Shard(in dataset.Definition, shards, index int64) (dataset.Definition, error) {
	if shards < 1 || index < 0 || index >= shards {
		return nil, errs.New(errs.InvalidArgument, "shard", "index %d of num_shards %d; 0 <= index < num_shards is needed", index, shards)
	}
	indexed, ok := in.(dataset.Indexed)
	if !ok {
		return streamShard(in, shards, index), nil
	}
	n := in.Cardinality()
	if n >= 0 {
		n = max(0, (n-index+shards-1)/shards)
	}
	return &picked{in: indexed, start: index, step: shards, n: n}, nil
}

func (p *picked) Spec() *spec.Element { return p.in.Spec() }
func (p *picked) Cardinality() int64  { return p.n }

func (p *picked) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(p, s, pass, from)
}

func (p *picked) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := p.in.Open(s, pass)
	return &pickedPass{in: in, start: p.start, step: p.step}, err
}

type pickedPass struct {
	in          dataset.RandomAccess
	start, step int64
}

func (p *pickedPass) Fetch(index []int64, dst dataset.Sink) error {
	for i, x := range index {
		index[i] = p.start + x*p.step
	}
	return p.in.Fetch(index, dst)
}
