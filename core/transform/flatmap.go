package transform

import (
	"errors"
	"io"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
)

type flatMap struct{ nested }

// FlatMap returns the elements of the datasets that a builder makes out of the
// elements of the input, one dataset after the other. height is how many datasets
// lie under it.
func FlatMap(in dataset.Definition, f dataset.Builder, height uint64) (dataset.Definition, error) {
	return &flatMap{nested{op: "flat_map", in: in, f: f, height: height}}, nil
}

func (f *flatMap) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers(f.op, 2)
	if err != nil {
		return nil, err
	}
	before, err := from.Input(f.op, 0)
	if err != nil {
		return nil, err
	}
	it := &flatIterator{lost: from.Own()}
	if it.outer, err = f.walk(s, pass, before, at[0]); err != nil || at[1] == 0 {
		return it, err
	}
	in, err := from.Input(f.op, 1)
	if err != nil {
		return nil, err
	}
	if err := it.begin(in); err != nil {
		return nil, errs.Wrap(err, errs.StateMismatch, f.op, "element %d of the input, which its state is in, cannot be read again", at[0])
	}
	return it, nil
}

// flatIterator is in one dataset at a time. Its token has the number of the element
// of that dataset, 1 when the dataset is open, and the tokens before the element and
// in the dataset.
type flatIterator struct {
	*outer
	in   *inner        // nil: between two datasets
	lost *dataset.Lost // in those that have ended
	sink noting
}

// begin opens the dataset of the next element.
func (it *flatIterator) begin(from *dataset.Token) error {
	number, before, row, err := it.next()
	if err != nil {
		return err
	}
	in, err := it.open(it.scope, it.pass, number, row, from)
	if err != nil {
		return err
	}
	in.before = before
	it.in = in
	return nil
}

func (it *flatIterator) Token() *dataset.Token {
	if it.in == nil {
		t := dataset.Over(it.cursor.Token(), it.number, 0)
		t.Lost = it.lost
		return t
	}
	return &dataset.Token{At: []int64{it.in.number, 1}, In: []*dataset.Token{it.in.before, it.in.it.Token()}, Lost: it.lost}
}

func (it *flatIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		if it.in == nil {
			if err := it.begin(nil); err != nil {
				return 0, err
			}
		}
		it.sink = noting{Sink: dst}
		n, err := it.in.it.Next(limit, &it.sink)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		it.lost = it.lost.Plus(it.in.it.Token().Losses())
		it.in.scope.Close()
		it.in = nil
		if it.sink.asked { // what it got is void, and it can be given nothing more
			return 0, nil
		}
	}
}
