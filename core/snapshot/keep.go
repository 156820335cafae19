package snapshot

import (
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// kept is a dataset whose elements are written when they are made first.
type kept struct {
	in     dataset.Definition
	folder string
	o      Options
	KeepOptions
}

// KeepOptions is what Keep needs beside its input and what is written.
type KeepOptions struct {
	// Seeds are those that the input drew; Reseeded returns the input with others, so
	// that a broken-off pass goes on in its own order.
	Seeds    []uint64
	Reseeded func([]uint64) (dataset.Definition, error)
	// Reader, if set, returns the dataset that reads a complete snapshot, in an order of
	// its own.
	Reader func() (dataset.Definition, error)
}

// Keep returns the elements of the input's first pass, in every pass. They are written
// in a folder as they are made, and read from there once a pass was complete. A pass
// that was broken off is gone on with: what it has committed is read, the rest made and
// written. An element that cannot be made is an error at its place, and what comes
// behind it is not written.
//
// With a Reader, passes that begin when the snapshot is complete give what that makes of
// it; the pass that writes gives the elements as the input does, to its end.
func Keep(in dataset.Definition, folder string, o Options, k KeepOptions) (dataset.Definition, error) {
	if in.Cardinality() == dataset.Infinite {
		return nil, errs.New(errs.InvalidArgument, "snapshot", "the dataset is infinite; put snapshot before repeat, or take(n) before snapshot")
	}
	if err := checkShard("snapshot", o.Shard); err != nil {
		return nil, err
	}
	return &kept{in, folder, o, k}, nil
}

// keptPass is the pass over the input that is kept, whichever asks for it.
var keptPass = dataset.PassKey(0)

func (k *kept) Spec() *spec.Element { return k.in.Spec() }

// Cardinality implements dataset.Definition. How many elements a reader makes is not known.
func (k *kept) Cardinality() int64 {
	if k.Reader != nil {
		return dataset.Unknown
	}
	return k.in.Cardinality()
}

// Iterate implements dataset.Definition. A token is the number of the next element,
// and the token of the input where that was used. With a reader there is a second number,
// 1 for a pass that the reader makes, whose token it is then.
func (k *kept) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	count := 1
	if k.Reader != nil {
		count = 2
	}
	at, in, err := from.Parts("snapshot", count)
	if err != nil {
		return nil, err
	}
	reads := k.Reader != nil && (from == nil || at[1] == byReader)
	r, m, err := NewReader(s.FS, k.folder)
	switch {
	case err == nil && reads:
		return k.read(s, pass, in)
	case errs.KindOf(err) == errs.NotFound && from != nil && reads:
		return nil, errs.New(errs.StateMismatch, "snapshot", "the state is of a pass over the snapshot in %q, which is not there any more", k.folder)
	}
	it := &keeping{kept: k, scope: s, at: at[0], streams: newSharder(k.o.Shard, s, keptPass)}
	if from != nil {
		it.seeds = from.Data
	}
	if err == nil {
		return it, it.stored(r, m)
	}
	if errs.KindOf(err) != errs.NotFound {
		return nil, ofKept(k.folder).to(err)
	}
	return it, it.unfinished(in)
}

// byReader is the second number of tokens of passes that a reader makes.
const byReader = 1

// reading is the iterator of a pass that a reader makes.
type reading struct{ dataset.Iterator }

func (r reading) Token() *dataset.Token { return dataset.Over(r.Iterator.Token(), 0, byReader) }

// read has the reader make a pass.
func (k *kept) read(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	d, err := k.Reader()
	if err != nil {
		return nil, err
	}
	if !d.Spec().Equal(k.in.Spec()) {
		return nil, errs.New(errs.InvalidArgument, "snapshot", "reader_func returned a dataset of %v; those stored are %v", d.Spec(), k.in.Spec())
	}
	in, err := d.Iterate(s, pass, from)
	return reading{in}, err
}
