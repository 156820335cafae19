package dataset

import (
	"io"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

// MaxPosition is where the walk over an infinite dataset ends after all: no walk
// gets there, and arithmetic on places below it does not overflow.
const MaxPosition int64 = 1 << 48

// Token says where a walk can be taken up again.
type Token struct {
	Position int64 `json:"position"` // elements before it in the pass
}

// Run is consecutive elements of one pass with equal shapes.
type Run struct {
	Start, Count int64
	Shapes       *spec.Element
	access       RandomAccess
}

// Fill makes the elements of the run in dst, which is laid out for its shapes.
// Runs may be filled in any order and at the same time.
func (r Run) Fill(dst block.Block) error {
	index := make([]int64, r.Count)
	for i := range index {
		index[i] = r.Start + int64(i)
	}
	return r.access.Gather(index, dst)
}

// Iterator walks over a pass once. It is for one goroutine at a time.
type Iterator struct {
	access   RandomAccess
	position int64
	end      int64
}

// NewIterator returns an iterator over access, which has the given cardinality,
// that goes on from a token.
func NewIterator(access RandomAccess, cardinality int64, from Token) (*Iterator, error) {
	end := cardinality
	if end == Infinite {
		end = MaxPosition
	}
	if from.Position < 0 || from.Position > end {
		return nil, errs.New(errs.StateMismatch, "iterator", "the state is before element %d of a dataset of %d", from.Position, end)
	}
	return &Iterator{access: access, position: from.Position, end: end}, nil
}

// Next returns the next run, of limit elements at most, or io.EOF.
func (it *Iterator) Next(limit int64) (Run, error) {
	if it.position == it.end {
		return Run{}, io.EOF
	}
	count, shapes, err := it.access.Like(it.position, min(limit, it.end-it.position))
	if err != nil {
		return Run{}, err
	}
	r := Run{Start: it.position, Count: count, Shapes: shapes, access: it.access}
	it.position += count
	return r, nil
}

// Token returns where the next run begins.
func (it *Iterator) Token() Token { return Token{Position: it.position} }

// Consecutive tells whether index counts up by one; it is not empty then.
func Consecutive(index []int64) bool {
	for i := 1; i < len(index); i++ {
		if index[i] != index[i-1]+1 {
			return false
		}
	}
	return len(index) > 0
}
