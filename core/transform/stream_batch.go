package transform

import (
	"errors"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type streamBatch struct {
	in            dataset.Definition
	size          int64
	dropRemainder bool
	spec          *spec.Element
}

func (b *streamBatch) Spec() *spec.Element { return b.spec }
func (b *streamBatch) Cardinality() int64 {
	return batches(b.in.Cardinality(), b.size, b.dropRemainder)
}

func (b *streamBatch) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	it := &batchIterator{streamBatch: b}
	return it, it.waiting.open("batch", s, from, func(from *dataset.Token) (dataset.Iterator, error) {
		return b.in.Iterate(s, pass, from)
	})
}

// batchIterator asks its input for whole batches, in their place. What does not come
// so waits in a buffer.
type batchIterator struct {
	*streamBatch
	waiting waiting
}

func (it *batchIterator) Token() *dataset.Token { return it.waiting.token() }

func (it *batchIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	w := &it.waiting
	for w.rows < it.size {
		want := it.size - w.rows
		if w.rows == 0 {
			want = it.size * max(1, min(limit, mostStacked/it.size))
		}
		n, direct, err := w.more(want, it.size, dst)
		if errors.Is(err, io.EOF) && w.rows > 0 && !it.dropRemainder {
			break
		}
		if err != nil || direct {
			return n, err
		}
	}
	if w.rows < it.size {
		return w.stack(1, w.rows, dst)
	}
	return w.stack(min(limit, w.rows/it.size), it.size, dst)
}

// mostStacked is how many elements are asked for at once, unless a batch has more.
const mostStacked = 1 << 16

// waiting is elements that were read and are in no batch yet.
type waiting struct {
	scope  *dataset.Scope
	in     dataset.Iterator
	buffer block.Buffer
	before *dataset.Token // of the input, before the buffer
	taken  int64          // rows of the buffer that are in batches
	at     int            // block in which the next row is
	row    int64          // rows of it that are in batches
	rows   int64          // that wait
}

func (w *waiting) open(op string, s *dataset.Scope, from *dataset.Token, open func(*dataset.Token) (dataset.Iterator, error)) (err error) {
	w.scope = s
	rows, in, err := from.Behind(op)
	if err != nil {
		return err
	}
	if w.in, err = open(in); err != nil {
		return err
	}
	return goPast(op, w.in, rows)
}

// goPast reads the elements of an input that were given already.
func goPast(op string, in dataset.Iterator, rows int64) error {
	var given block.Buffer
	for rows > 0 {
		given.Reset()
		n, err := in.Next(min(rows, skipped), &given)
		if err != nil {
			return errs.Wrap(err, errs.StateMismatch, op, "the elements before its state cannot be read again")
		}
		rows -= n
	}
	return nil
}

// forget empties the buffer.
func (w *waiting) forget() {
	w.buffer.Reset()
	w.taken, w.at, w.row, w.rows = 0, 0, 0, 0
}

func (w *waiting) token() *dataset.Token {
	if w.rows == 0 {
		return dataset.Over(w.in.Token(), 0)
	}
	return dataset.Over(w.before, w.taken)
}

// more reads up to want elements. When nothing waits and whole batches of size come
// in one block, they are made in dst, and it returns how many there are. An error is
// told after the batch that it is in was dropped, but for the end.
func (w *waiting) more(want, size int64, dst dataset.Sink) (made int64, direct bool, err error) {
	if w.rows == 0 {
		w.forget()
		w.before = w.in.Token()
	}
	parts := len(w.buffer.Blocks())
	sink := &stacking{waiting: w, size: size, dst: dst}
	n, err := w.in.Next(want, sink)
	switch {
	case errors.Is(err, io.EOF) || err == nil && n == 0:
		w.buffer.Cut(parts)
		return 0, sink.made > 0, err
	case err != nil:
		w.drop(size - w.rows - 1)
		w.forget()
		return 0, false, err
	}
	w.taken += sink.made * size
	w.rows += n - sink.made*size
	return sink.made, sink.made > 0, nil
}

// drop reads the next n elements, which are in a batch with one that failed, so that
// the batches after it are those that there would be without the failure.
func (w *waiting) drop(n int64) {
	for n > 0 && w.scope.Err() == nil {
		w.buffer.Reset()
		rows, err := w.in.Next(min(n, skipped), &w.buffer)
		if errors.Is(err, io.EOF) {
			return
		}
		n -= passed(rows, err)
	}
}

// stacking is the sink of one call.
type stacking struct {
	*waiting
	size, made int64
	dst        dataset.Sink
}

// inPlace tells whether rows that come now are whole batches, made where they belong.
func (s *stacking) inPlace(rows int64) bool {
	return s.made == 0 && s.rows == 0 && len(s.buffer.Blocks()) == 0 && rows%s.size == 0
}

// TakeOver implements dataset.Taker.
func (s *stacking) TakeOver(from *block.Buffer, i int) bool {
	if s.inPlace(from.Blocks()[i].Rows) {
		return false
	}
	s.buffer.TakeOver(from, i)
	return true
}

// Block implements dataset.Sink.
func (s *stacking) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	if !s.inPlace(rows) {
		return s.buffer.Block(shapes, rows)
	}
	s.made = rows / s.size
	out, err := s.dst.Block(shapes.Batched(s.size), s.made)
	return out.Split(s.size, shapes), err
}

// stack makes batches of size elements each out of those that wait, count at most, of
// equal shapes, and returns how many. A batch of elements of different shapes is an
// error, and dropped.
func (w *waiting) stack(count, size int64, dst dataset.Sink) (int64, error) {
	first := w.buffer.Blocks()[w.at].Shapes
	alike, other := w.alike(first, count*size)
	if count = min(count, alike/size); count == 0 {
		w.eachPart(size, func(block.Block, int64) {})
		return 0, errs.New(errs.InvalidArgument, "batch", "elements of different shapes cannot be batched: one has %s and one has %s; use padded_batch or ragged_batch",
			first.Shapes(), other.Shapes())
	}
	out, err := dst.Block(first.Batched(size), count)
	if err != nil {
		return 0, err
	}
	rows := out.Split(size, first)
	w.eachPart(count*size, func(part block.Block, at int64) { rows.Copy(at, part) })
	return count, nil
}

// alike returns how many of the next elements, most at most, have the given shapes, and
// the other shapes of the one behind them.
func (w *waiting) alike(first *spec.Element, most int64) (rows int64, other *spec.Element) {
	blocks := w.buffer.Blocks()
	rows = -w.row
	for i := w.at; rows < most; i++ {
		if s := blocks[i].Shapes; s != first && !s.Same(first) {
			return rows, s
		}
		rows += blocks[i].Rows
	}
	return most, nil
}

// eachPart takes the next elements and calls f with each run of them and how many were
// before it.
func (w *waiting) eachPart(size int64, f func(part block.Block, at int64)) {
	for done := int64(0); done < size; {
		b := w.buffer.Blocks()[w.at]
		n := min(size-done, b.Rows-w.row)
		f(b.Slice(w.row, w.row+n), done)
		done += n
		if w.row += n; w.row == b.Rows {
			w.at, w.row = w.at+1, 0
		}
	}
	w.taken += size
	w.rows -= size
}
