package transform

import (
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type takeWhile struct {
	in      dataset.Definition
	program dataset.Program
	height  uint64
}

// TakeWhile returns the elements before the first for which a program, whose results
// are scalars of bool, says false.
func TakeWhile(in dataset.Definition, predicate dataset.Program, height uint64) (dataset.Definition, error) {
	if err := isPredicate("take_while", predicate.Spec()); err != nil {
		return nil, err
	}
	return &takeWhile{in: in, program: predicate, height: height}, nil
}

func (t *takeWhile) Spec() *spec.Element { return t.in.Spec() }
func (t *takeWhile) Cardinality() int64  { return dataset.Unknown }

func (t *takeWhile) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	const op = "take_while"
	it := &takeWhileIterator{running: running{s, t.program, chanceKey(pass, t.height)}}
	at, err := from.Numbers(op, 2)
	if err != nil {
		return nil, err
	}
	if it.number, it.ended = at[0], at[1] != 0; it.ended {
		return it, nil
	}
	_, it.in, err = openCursor(op, t.in, s, pass, from, 2)
	return it, err
}

// takeWhileIterator runs the program on what its cursor has, and remembers for how
// many rows it is known to be true.
type takeWhileIterator struct {
	running
	in       *dataset.Cursor
	number   int64 // of the next element
	ended    bool
	verdicts block.Buffer
	trues    int64 // rows that come next and are wanted
	last     bool  // after them the end comes
	failed   error // or this
}

func (it *takeWhileIterator) Token() *dataset.Token {
	if it.ended {
		return dataset.At(it.number, 1)
	}
	return dataset.Over(it.in.Token(), it.number, 0)
}

func (it *takeWhileIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.ended {
		return 0, io.EOF
	}
	b, err := it.in.Peek(limit)
	if err != nil {
		it.number += passed(0, err)
		return 0, err
	}
	if it.trues == 0 && !it.last && it.failed == nil {
		it.judge(b)
	}
	if it.trues == 0 {
		return 0, it.stop()
	}
	n := min(it.trues, b.Rows)
	out, err := dst.Block(b.Shapes, n)
	if err != nil {
		return 0, err
	}
	if n < b.Rows {
		b = b.Slice(0, n)
	}
	out.Copy(0, b)
	it.in.Take(n)
	it.number += n
	it.trues -= n
	return n, nil
}

// judge finds how many of the next rows are wanted and what comes then.
func (it *takeWhileIterator) judge(b block.Block) {
	it.verdicts.Reset()
	n, err := it.program.Run(it.scope, b, dataset.Chance{Key: it.key, First: it.number}, &it.verdicts)
	it.failed = err
	for _, v := range it.verdicts.Blocks() {
		for _, yes := range v.Columns[0].Data[:v.Rows] {
			if yes == 0 {
				it.last = true
				return
			}
			it.trues++
		}
	}
	if err == nil && it.trues < n {
		it.failed = errs.New(errs.Internal, "take_while", "%d results for %d elements", it.trues, n)
	}
}

// stop passes the element that comes next, which is not wanted.
func (it *takeWhileIterator) stop() error {
	if it.last {
		it.ended = true
		return io.EOF
	}
	err := it.failed
	it.failed = nil
	it.in.Take(1)
	it.number++
	return err
}
