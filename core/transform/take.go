package transform

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// picked is every step-th element of the input from start on, n of them.
type picked struct {
	in             dataset.Definition
	start, step, n int64
}

// Take returns the first count elements, or all when count is -1.
func Take(in dataset.Definition, count int64) (dataset.Definition, error) {
	if count < -1 {
		return nil, errs.New(errs.InvalidArgument, "take", "count is %d; it must be -1 (all), 0 or more", count)
	}
	n := in.Cardinality()
	if count >= 0 && (n < 0 || count < n) {
		n = count
	}
	return &picked{in: in, step: 1, n: n}, nil
}

// Skip returns what comes after the first count elements; nothing when count is -1.
func Skip(in dataset.Definition, count int64) (dataset.Definition, error) {
	if count < -1 {
		return nil, errs.New(errs.InvalidArgument, "skip", "count is %d; it must be -1 (all), 0 or more", count)
	}
	n := in.Cardinality()
	if count == -1 {
		return &picked{in: in, step: 1}, nil
	}
	if n >= 0 {
		count = min(count, n)
		n -= count
	}
	return &picked{in: in, start: count, step: 1, n: n}, nil
}

// Shard returns every shards-th element, from element index on.
func Shard(in dataset.Definition, shards, index int64) (dataset.Definition, error) {
	if shards < 1 || index < 0 || index >= shards {
		return nil, errs.New(errs.InvalidArgument, "shard", "index %d of num_shards %d; 0 <= index < num_shards is needed", index, shards)
	}
	n := in.Cardinality()
	if n >= 0 {
		n = max(0, (n-index+shards-1)/shards)
	}
	return &picked{in: in, start: index, step: shards, n: n}, nil
}

func (p *picked) Spec() *spec.Element  { return p.in.Spec() }
func (p *picked) Bound() *spec.Element { return p.in.Bound() }
func (p *picked) Cardinality() int64   { return p.n }

func (p *picked) Open(pass rng.Key) dataset.RandomAccess {
	return &pickedPass{in: p.in.Open(pass), start: p.start, step: p.step}
}

type pickedPass struct {
	in          dataset.RandomAccess
	start, step int64
}

func (p *pickedPass) Like(start, limit int64) (int64, *spec.Element, error) {
	count, shapes, err := p.in.Like(p.start+start*p.step, (limit-1)*p.step+1)
	if err != nil {
		return 0, nil, err
	}
	return (count-1)/p.step + 1, shapes, nil
}

func (p *pickedPass) Gather(index []int64, dst block.Block) error {
	for i, x := range index {
		index[i] = p.start + x*p.step
	}
	return p.in.Gather(index, dst)
}
