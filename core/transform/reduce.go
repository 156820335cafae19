package transform

import (
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type reduce struct {
	in      dataset.Definition
	initial block.Block
	program dataset.Program
	folding dataset.Folding // instead of program; nil: there is none
	height  uint64
}

// Reduce returns a dataset of one element: the state after a program was given pairs
// of the state and each element, and gave the next state. The first state is the only
// row of initial.
func Reduce(in dataset.Definition, initial block.Block, p dataset.Program, height uint64) (dataset.Definition, error) {
	if in.Cardinality() == dataset.Infinite {
		return nil, errs.New(errs.InvalidArgument, "reduce", "an infinite dataset cannot be reduced; take a part of it")
	}
	if err := holds("reduce", initial, p.Spec()); err != nil {
		return nil, err
	}
	first, err := ownBlock(initial)
	r := &reduce{in: in, initial: first, program: p, height: height}
	if d, ok := p.(dataset.Divisible); ok {
		r.folding = d.Apart(len(initial.Columns))
	}
	return r, err
}

func (r *reduce) Spec() *spec.Element {
	e, _ := merge(r.initial.Shapes, r.program.Spec())
	return e
}

func (r *reduce) Cardinality() int64 { return 1 }

func (r *reduce) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("reduce", 1)
	if err != nil {
		return nil, err
	}
	return &reduceIterator{reduce: r, pass: pass, scope: s, done: at[0] != 0}, nil
}

type reduceIterator struct {
	*reduce
	scope *dataset.Scope
	pass  rng.Key
	done  bool
}

func (it *reduceIterator) Token() *dataset.Token {
	if it.done {
		return dataset.At(1)
	}
	return dataset.At(0)
}

func (it *reduceIterator) Next(_ int64, dst dataset.Sink) (int64, error) {
	if it.done {
		return 0, io.EOF
	}
	it.done = true
	s := it.scope.Child()
	defer s.Close()
	in, err := it.in.Iterate(s, it.pass, nil)
	if err != nil {
		return 0, err
	}
	f := folder{running: running{s, it.program, chanceKey(it.pass, it.height)}, op: "reduce", states: len(it.initial.Columns), state: it.initial}
	if it.folding != nil {
		f.state, err = ownBlock(it.initial)
	}
	if err == nil {
		err = f.all(in, it.folding)
	}
	if err != nil {
		return 0, err
	}
	out, err := dst.Block(f.state.Shapes, 1)
	if err != nil {
		return 0, err
	}
	out.Copy(0, block.Block{Rows: 1, Shapes: f.state.Shapes, Columns: f.state.Columns})
	return 1, nil
}

// all runs the program on every element, or folds all of them into the state.
func (f *folder) all(in dataset.Iterator, folding dataset.Folding) error {
	var buffer, values block.Buffer
	for number, limit := int64(0), int64(1); ; limit = dataset.Pace(limit, buffer.Bytes(), foldedBytes, mostStacked) {
		buffer.Reset()
		n, err := in.Next(limit, &buffer)
		if isEnd(err) {
			return nil
		}
		if err == nil {
			err = f.scope.Err()
		}
		if err != nil {
			return err
		}
		if n == 0 {
			continue
		}
		for _, b := range buffer.Blocks() {
			if folding != nil {
				err = f.fold(folding, b, number, &values)
			} else {
				err = f.each(b, number)
			}
			if err != nil {
				return err
			}
			number += b.Rows
		}
	}
}

// foldedBytes is about how many bytes of elements are folded at a time.
const foldedBytes = 1 << 20

// each runs the program on the rows of a block; number is the first one's.
func (f *folder) each(b block.Block, number int64) error {
	for r := range b.Rows {
		if _, err := f.step(b, r, number+r); err != nil {
			return err
		}
	}
	return nil
}

// fold takes the rows of a block into the state; number is the first one's. values is
// memory that is used over and over.
func (f *folder) fold(folding dataset.Folding, b block.Block, number int64, values *block.Buffer) error {
	values.Reset()
	_, err := folding.Run(f.scope, b, dataset.Chance{Key: f.key, First: number}, values)
	for _, v := range values.Blocks() {
		folding.Fold(f.state.Columns, v)
	}
	return err
}
