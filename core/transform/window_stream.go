package transform

import (
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
)

func (w *windows) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := openInput("window", w.in, s, pass, from, 2)
	if err != nil {
		return nil, err
	}
	if at[0] > dataset.MaxPosition/w.o.Shift || at[1] > at[0]*w.o.Shift {
		return nil, early("window", at[0], at[1])
	}
	return &windowsIterator{windows: w, scope: s, in: in, number: at[0], next: at[1]}, nil
}

// passage is elements of the input that follow one another, or one that failed.
type passage struct {
	first, rows int64
	before      *dataset.Token // of the input
	buffer      block.Buffer
	err         error
}

// windowsIterator keeps the passages of the input over which the next window reaches.
type windowsIterator struct {
	*windows
	scope  *dataset.Scope
	in     dataset.Iterator
	number int64 // of the next window
	next   int64 // number of the next element of the input
	ended  bool
	last   *passage // where the input failed, and nothing came behind it
	kept   []*passage
	unused []*passage
	index  []int64
	rows   []pickedRow
	text   []byte
}

// Token is that before the passage in which the next window starts, and the number of
// its first element.
func (it *windowsIterator) Token() *dataset.Token {
	start := it.number * it.o.Shift
	for _, s := range it.kept {
		if start < s.first+s.rows {
			return dataset.Over(s.before, it.number, s.first)
		}
	}
	if it.last != nil {
		return dataset.Over(it.last.before, it.number, it.last.first)
	}
	return dataset.Over(it.in.Token(), it.number, it.next)
}

func (it *windowsIterator) Next(_ int64, dst dataset.Sink) (int64, error) {
	start := it.number * it.o.Shift
	it.forget(start)
	for end := start + it.o.span(); it.next < end && !it.ended; {
		if err := it.scope.Err(); err != nil { // nobody waits for the window any more
			return 0, err
		}
		it.read(end)
		it.forget(start)
	}
	if it.next <= start || it.o.DropRemainder && it.next < start+it.o.span() {
		return 0, it.end()
	}
	it.number++
	if err := it.pick(it.number - 1); err != nil {
		return 0, err
	}
	out, err := dst.Block(it.spec, 1)
	if err != nil {
		return 0, err
	}
	it.text = it.write(it.rows, out, it.text)
	return 1, nil
}

// end is the end, or what broke the input off, unless that was in a window.
func (it *windowsIterator) end() error {
	last := it.last
	if last == nil || it.o.covers(last.first, it.number) {
		return io.EOF
	}
	it.last, it.kept = nil, it.kept[:0]
	it.number = it.next/it.o.Shift + 1
	return last.err
}

// forget drops passages that lie before an element.
func (it *windowsIterator) forget(start int64) {
	n := 0
	for ; n < len(it.kept) && it.kept[n].first+it.kept[n].rows <= start; n++ {
		it.unused = append(it.unused, it.kept[n])
	}
	it.kept = append(it.kept[:0], it.kept[n:]...)
}

// read reads a passage of the input, up to an element.
func (it *windowsIterator) read(end int64) {
	s := &passage{}
	if n := len(it.unused); n > 0 {
		s, it.unused = it.unused[n-1], it.unused[:n-1]
	}
	s.buffer.Reset()
	s.first, s.before = it.next, it.in.Token()
	n, err := it.in.Next(min(end-it.next, skipped), &s.buffer)
	s.rows, s.err = passed(n, err), err
	it.ended = isEnd(err)
	it.next += s.rows
	if !it.ended {
		it.last = nil
	}
	if err != nil && !it.ended {
		it.last = &passage{first: s.first, before: s.before, err: err}
	}
	if s.rows == 0 {
		it.unused = append(it.unused, s)
		return
	}
	it.kept = append(it.kept, s)
}

// pick finds the elements of a window.
func (it *windowsIterator) pick(number int64) error {
	it.rows = it.rows[:0]
	it.index = it.o.of(it.index[:0], number, it.next)
	at := 0
	for _, x := range it.index {
		for it.kept[at].first+it.kept[at].rows <= x {
			at++
		}
		s := it.kept[at]
		if s.err != nil {
			return s.err
		}
		row := x - s.first
		for i := range s.buffer.Blocks() {
			b := &s.buffer.Blocks()[i]
			if row < b.Rows {
				it.rows = append(it.rows, pickedRow{b, row})
				break
			}
			row -= b.Rows
		}
	}
	return nil
}
