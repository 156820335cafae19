package transform

import (
	"slices"
	"sort"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// remaining is what n readers left of an input of which reader r takes the elements
// r, r+n, r+2n, ...: a round is n elements of the input, one of each reader.
type remaining struct {
	in        dataset.Indexed
	n         int64
	stretches []stretch
	count     int64
}

// stretch is rounds of which the same readers left their elements.
type stretch struct {
	first   int64   // number of its first element among those that remain
	round   int64   // its first round
	readers []int64 // in order
}

// Remaining returns the elements that readers left, who took so many elements each,
// in the order of the input.
func Remaining(in dataset.Definition, taken []int64) (dataset.Definition, error) {
	indexed, ok := in.(dataset.Indexed)
	if !ok || len(taken) == 0 {
		return nil, errs.New(errs.InvalidArgument, "shard", "%d readers of a dataset that is read one after the other cannot become others", len(taken))
	}
	n, total := int64(len(taken)), dataset.End(indexed)
	whole := total / n // rounds
	rounds := []int64{whole}
	for _, c := range taken {
		if c < 0 {
			return nil, errs.New(errs.StateMismatch, "shard", "its state says that a reader took %d elements", c)
		}
		rounds = append(rounds, min(c, whole))
	}
	slices.Sort(rounds)
	d := &remaining{in: indexed, n: n}
	last := &stretch{}
	for _, round := range slices.Compact(rounds) {
		d.count += (round - last.round) * int64(len(last.readers))
		d.stretches = append(d.stretches, stretch{first: d.count, round: round})
		last = &d.stretches[len(d.stretches)-1]
		for r, c := range taken {
			if c <= round && (round < whole || int64(r) < total%n) { // the round after the whole ones is short
				last.readers = append(last.readers, int64(r))
			}
		}
	}
	d.count += int64(len(last.readers))
	return d, nil
}

func (d *remaining) Spec() *spec.Element { return d.in.Spec() }

func (d *remaining) Cardinality() int64 {
	if n := d.in.Cardinality(); n < 0 {
		return n
	}
	return d.count
}

func (d *remaining) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(d, s, pass, from)
}

func (d *remaining) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := d.in.Open(s, pass)
	return &remainingPass{remaining: d, in: in}, err
}

// number returns the input's number of element x of what remains.
func (d *remaining) number(x int64) int64 {
	i := sort.Search(len(d.stretches), func(i int) bool { return d.stretches[i].first > x }) - 1
	s := d.stretches[i]
	x -= s.first
	count := int64(len(s.readers))
	return (s.round+x/count)*d.n + s.readers[x%count]
}

type remainingPass struct {
	*remaining
	in dataset.RandomAccess
}

func (p *remainingPass) Fetch(index []int64, dst dataset.Sink) error {
	for i, x := range index {
		index[i] = p.number(x)
	}
	return p.in.Fetch(index, dst)
}
