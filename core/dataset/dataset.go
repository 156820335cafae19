package dataset

import (
	"infeed/core/block"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Cardinalities that are no number of elements.
const (
	Infinite int64 = -1
	Unknown  int64 = -2
)

// Definition is an immutable description of a sequence of elements.
type Definition interface {
	// Spec describes the elements; a dimension is -1 where they differ.
	Spec() *spec.Element
	// Cardinality returns how many elements a pass has, or Infinite, or Unknown.
	Cardinality() int64
	// Iterate returns an iterator over a pass from a token on; nil is the start. It
	// lives in s and ends with it.
	Iterate(s *Scope, pass rng.Key, from *Token) (Iterator, error)
}

// Iterator walks over a pass once. It is for one goroutine at a time.
type Iterator interface {
	// Next makes the next elements in dst, limit at most, and returns how many;
	// io.EOF when there are no more, from then on. With an error, what dst got is
	// void, no element was made, and the element that failed counts as passed.
	// Nothing made and no error means the same, but that nothing was passed: the
	// caller has to ask again with an empty dst.
	Next(limit int64, dst Sink) (int64, error)
	// Token returns where the iterator is: before what Next makes next.
	Token() *Token
}

// Ahead is an iterator that makes elements before they are asked for.
type Ahead interface {
	Iterator
	// Queue returns how many pieces of elements are made, or are being made, and were
	// not asked for yet. It may be called on any goroutine.
	Queue() int64
}

// Jumper is a definition that may know places in it without making what is before.
type Jumper interface {
	Definition
	// Jump returns the token behind as many of the first n elements as it can tell
	// of, and how many those are; the start and 0 where it cannot.
	Jump(s *Scope, n int64) (*Token, int64)
}

// Indexed is a definition whose elements can be made in any order. Its cardinality
// is known or Infinite.
type Indexed interface {
	Definition
	// Open returns the elements of one pass. They live in s.
	Open(s *Scope, pass rng.Key) (RandomAccess, error)
}

// RandomAccess is the elements of one pass. Any number of goroutines may use it.
type RandomAccess interface {
	// Fetch makes the elements with the given numbers, in that order, in dst. It may
	// use index as scratch memory. With an error, what dst got is void.
	Fetch(index []int64, dst Sink) error
}

// Sink gives memory for elements. Calls follow one another: the rows of a block are
// the elements after those of the block before.
type Sink interface {
	// Block returns memory for rows elements, at least one, of the given shapes,
	// all dimensions of which are known. What is in it is undefined.
	Block(shapes *spec.Element, rows int64) (block.Block, error)
}

// Taker is a sink that may take over blocks of a buffer as they are, which saves
// copying them.
type Taker interface {
	Sink
	// TakeOver makes the elements of block i of a buffer the next ones, and the block
	// void there. It returns false, and does nothing, where Block has to be asked.
	TakeOver(from *block.Buffer, i int) bool
}

// Hand makes rows of block i of a buffer the next elements in dst, from row at on. The
// block may be void afterwards, when all of its rows were handed.
func Hand(dst Sink, from *block.Buffer, i int, at, rows int64) error {
	b := from.Blocks()[i]
	if rows == b.Rows {
		switch t := dst.(type) {
		case *block.Buffer:
			t.TakeOver(from, i)
			return nil
		case Taker:
			if t.TakeOver(from, i) {
				return nil
			}
		}
	}
	out, err := dst.Block(b.Shapes, rows)
	switch {
	case err != nil:
		return err
	case rows == b.Rows:
		out.Take(b)
	default:
		out.Copy(0, b.Slice(at, at+rows))
	}
	return nil
}

// Program is a function of elements, such as a map's.
type Program interface {
	// Spec describes the results; a dimension is -1 where they differ.
	Spec() *spec.Element
	// Run makes the result for each row of in, in dst. It stops at the first row
	// that fails: dst then has the results of the rows before it, and done says how
	// many these are. Any number of goroutines may call it.
	Run(s *Scope, in block.Block, at Chance, dst Sink) (done int64, err error)
	// Calls returns how many calls of Run help when they are made at once; 0: as
	// many as there are processors.
	Calls() int
}

// Gathering is a program that runs on elements of several shapes at once for less than on
// those of each.
type Gathering interface {
	Program
	// RunAll is Run for the rows of blocks, one after the other.
	RunAll(s *Scope, in []block.Block, dst Sink) (done int64, err error)
}

// Divisible is a program of pairs of a state and an element that gives the next state.
type Divisible interface {
	Program
	// Apart returns what the state is folded with, for a state of so many components, or
	// nil where the program does not divide so.
	Apart(states int) Folding
}

// Folding is a program of elements whose results Fold then takes into a state.
type Folding interface {
	Program
	// Fold makes the columns of a state, of one row, what they are after each of the
	// values, one after the other.
	Fold(state []block.Column, values block.Block)
}

// Chance is what random numbers of a program depend on: a key, and the number of
// each row's element in the pass.
type Chance struct {
	Key   rng.Key
	First int64   // number of the first row's element; the others follow
	Index []int64 // the numbers, where they do not
}

// Number returns the number of row i's element.
func (c Chance) Number(i int64) int64 {
	if c.Index != nil {
		return c.Index[i]
	}
	return c.First + i
}

// From returns what holds for the rows from row i on.
func (c Chance) From(i int64) Chance {
	c.First += i
	if c.Index != nil {
		c.Index = c.Index[i:]
	}
	return c
}

// Builder makes datasets out of elements, as flat_map's function does.
type Builder interface {
	// Spec describes the elements of the datasets.
	Spec() *spec.Element
	// Build returns the dataset for an element, the only row of in; inputs are the
	// datasets that the element has, as those of window do.
	Build(s *Scope, in block.Block, inputs ...Definition) (Definition, error)
}

// Caller runs functions of Python.
type Caller interface {
	// Call runs a function on each row of blocks and makes the results in dst, as
	// Program.Run does. It waits for Python, at most until s ends.
	Call(s *Scope, function int64, in []block.Block, dst Sink) (done int64, err error)
}

// PassKey is the key of the k-th pass over a dataset.
func PassKey(k int64) rng.Key { return rng.NewKey(uint64(k)) }

// Consecutive tells whether index counts up by one; it is not empty then.
func Consecutive(index []int64) bool {
	for i := 1; i < len(index); i++ {
		if index[i] != index[i-1]+1 {
			return false
		}
	}
	return len(index) > 0
}
