package transform

import (
	"errors"
	"fmt"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type ignoreErrors struct{ in dataset.Definition }

// IgnoreErrors returns the elements of the input that can be made. What could not is
// counted in the token, with the first places.
func IgnoreErrors(in dataset.Definition) dataset.Definition { return &ignoreErrors{in} }

func (d *ignoreErrors) Spec() *spec.Element { return d.in.Spec() }
func (d *ignoreErrors) Cardinality() int64  { return dataset.Unknown }

func (d *ignoreErrors) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	const op = "ignore_errors"
	at, before, err := from.Parts(op, 1)
	if err != nil {
		return nil, err
	}
	it := &ignoreIterator{scope: s, number: at[0]}
	if from != nil {
		it.lost = from.Lost
	}
	if _, ok := d.in.(dataset.Indexed); ok {
		it.in, err = eachRow(op, d.in, s, s.Workers, pass, before, nil)
	} else {
		it.in, err = d.in.Iterate(s, pass, before)
	}
	return it, err
}

type ignoreIterator struct {
	scope  *dataset.Scope
	in     dataset.Iterator
	number int64 // of the input's next element
	lost   *dataset.Lost
}

func (it *ignoreIterator) Token() *dataset.Token {
	t := dataset.Over(it.in.Token(), it.number)
	t.Lost = it.lost
	return t
}

func (it *ignoreIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		sink := blamed{asked: asked{Sink: dst}}
		n, err := it.in.Next(limit, &sink)
		if err == nil || isEnd(err) || it.mustTell(err) || sink.err != nil {
			it.number += n
			return n, err
		}
		it.lost = it.lost.And(1, place(err, it.number))
		it.scope.Drop(err)
		it.number++
		if sink.yes {
			return 0, nil
		}
	}
}

// mustTell tells whether an error is not about an element.
func (it *ignoreIterator) mustTell(err error) bool {
	switch errs.KindOf(err) {
	case errs.Cancelled, errs.StateMismatch, errs.ForkedProcess:
		return true
	}
	return it.scope.Err() != nil
}

// place says where an error was: in which file, or at which element.
func place(err error, number int64) string {
	for e := (*errs.Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Path != "" {
			return fmt.Sprintf("%s at byte %d", e.Path, e.Offset)
		}
		if e.Err == nil {
			break
		}
	}
	return fmt.Sprintf("element %d", number)
}

// blamed is a sink that remembers that it failed itself.
type blamed struct {
	asked
	err error
}

// Block implements dataset.Sink.
func (b *blamed) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	out, err := b.asked.Block(shapes, rows)
	if err != nil {
		b.err = err
	}
	return out, err
}
