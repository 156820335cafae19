package transform

import (
	"errors"
	"io"

	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

type streamRepeat struct {
	in       dataset.Definition
	count, n int64
}

func (r *streamRepeat) Spec() *spec.Element { return r.in.Spec() }
func (r *streamRepeat) Cardinality() int64  { return r.n }

func (r *streamRepeat) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := from.Parts("repeat", 2)
	if err != nil {
		return nil, err
	}
	it := &repeatIterator{streamRepeat: r, outer: s, pass: pass, round: at[0], some: at[1] != 0, lost: from.Own()}
	return it, it.begin(in)
}

// repeatIterator walks over one repetition after the other.
type repeatIterator struct {
	*streamRepeat
	outer, scope *dataset.Scope
	pass         rng.Key
	round        int64
	some         bool // this repetition had an element
	in           dataset.Iterator
	lost         *dataset.Lost // in the repetitions before
}

// begin begins the repetition with number round.
func (it *repeatIterator) begin(from *dataset.Token) (err error) {
	if it.scope != nil {
		it.scope.Close()
	}
	it.scope = it.outer.Child()
	it.in, err = it.streamRepeat.in.Iterate(it.scope, it.pass.Derive(uint64(it.round)), from)
	return err
}

func (it *repeatIterator) Token() *dataset.Token {
	some := int64(0)
	if it.some {
		some = 1
	}
	t := dataset.Over(it.in.Token(), it.round, some)
	t.Lost = it.lost
	return t
}

func (it *repeatIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for it.count < 0 || it.round < it.count {
		n, err := it.in.Next(limit, dst)
		if !errors.Is(err, io.EOF) {
			it.some = it.some || passed(n, err) > 0
			return n, err
		}
		if !it.some { // nor will later ones have any
			return 0, io.EOF
		}
		if it.count >= 0 && it.round+1 == it.count {
			return 0, io.EOF
		}
		it.round, it.some = it.round+1, false
		it.lost = it.lost.Plus(it.in.Token().Losses())
		if err := it.begin(nil); err != nil {
			return 0, err
		}
	}
	return 0, io.EOF
}
