package dataset

import (
	"io"

	"infeed/core/errs"
	"infeed/core/rng"
)

// MaxPosition is where the walk over an infinite dataset ends after all: no walk
// gets there, and arithmetic on places below it does not overflow.
const MaxPosition int64 = 1 << 48

// End returns the number after the last element of an indexed dataset's pass.
func End(d Indexed) int64 {
	if n := d.Cardinality(); n >= 0 {
		return n
	}
	return MaxPosition
}

// Walk is Definition.Iterate for an indexed dataset: its elements by number, in
// order. The token is the next number.
func Walk(d Indexed, s *Scope, pass rng.Key, from *Token) (Iterator, error) {
	at, err := from.Numbers("iterator", 1)
	if err != nil {
		return nil, err
	}
	w := &walk{next: at[0], end: End(d)}
	if w.next > w.end {
		return nil, errs.New(errs.StateMismatch, "iterator", "the state is before element %d of a dataset of %d", w.next, w.end)
	}
	w.access, err = d.Open(s, pass)
	return w, err
}

type walk struct {
	access    RandomAccess
	next, end int64
	index     []int64
	single    int64 // elements before this number are made one at a time, to find one that fails
}

func (w *walk) Token() *Token { return At(w.next) }

func (w *walk) Next(limit int64, dst Sink) (int64, error) {
	n := min(limit, w.end-w.next)
	if n <= 0 {
		return 0, io.EOF
	}
	if w.next < w.single {
		n = 1
	}
	err := w.access.Fetch(w.numbers(n), dst)
	switch {
	case err == nil:
		w.next += n
		return n, nil
	case n == 1:
		w.next++
		return 0, err
	}
	w.single = w.next + n
	return 0, nil
}

// numbers returns the next n numbers.
func (w *walk) numbers(n int64) []int64 {
	w.index = w.index[:0]
	for i := range n {
		w.index = append(w.index, w.next+i)
	}
	return w.index
}
