package transform

import (
	"errors"
	"io"
	"time"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
)

// eachRow returns an iterator over what run adds to a job for rows of the input, in one
// block or several, which are the elements from number first on. It runs on several goroutines; where
// the input is indexed, so does the making of its elements. Without run, the
// elements are those of the input.
func eachRow(op string, in dataset.Definition, s *dataset.Scope, workers int, pass rng.Key, from *dataset.Token,
	run func(j *dataset.Job, in []block.Block, first int64)) (dataset.Iterator, error) {
	return dataset.NewOrdered(op, s, workers, from, func(from *dataset.Token) (dataset.Work, error) {
		at, err := from.Numbers(op, 1)
		if err != nil {
			return nil, err
		}
		if indexed, ok := in.(dataset.Indexed); ok {
			r := &numberedRows{scope: s, run: run, next: at[0], end: dataset.End(indexed)}
			if r.next > r.end {
				return nil, errs.New(errs.StateMismatch, op, "the state is before element %d of %d", r.next, r.end)
			}
			r.in, err = indexed.Open(s, pass)
			return r, err
		}
		before, err := from.Input(op, 0)
		if err != nil {
			return nil, err
		}
		r := &streamRows{run: run, next: at[0]}
		r.in, err = in.Iterate(s, pass, before)
		return r, err
	})
}

// streamRows is the work on the elements of a stream.
type streamRows struct {
	run  func(j *dataset.Job, in []block.Block, first int64)
	in   dataset.Iterator
	next int64 // number of the element that is claimed next
	// failed is an error that came while a job took elements before it: the next job's;
	// before is where the input was.
	failed error
	before *dataset.Token
}

// claimed is what a job has to do: count elements from number first on.
type claimed struct {
	first, count int64
	index        []int64
}

func claimedBy(j *dataset.Job) *claimed {
	if j.Own == nil {
		j.Own = &claimed{}
	}
	return j.Own.(*claimed)
}

func (r *streamRows) Token() *dataset.Token {
	if r.failed != nil {
		return dataset.Over(r.before, r.next)
	}
	return dataset.Over(r.in.Token(), r.next)
}

// Claim asks the input again and again, since it gives elements of equal shapes at a time.
func (r *streamRows) Claim(j *dataset.Job) error {
	claimedBy(j).first = r.next
	if err := r.failed; err != nil {
		r.failed, r.before = nil, nil
		r.next += passed(0, err)
		return err
	}
	start := time.Now()
	n, err := r.in.Next(j.Limit, &j.In)
	r.next += passed(n, err)
	if n == 0 || err != nil {
		return dataset.Again(n, err)
	}
	for rows, size := n, int64(0); rows < j.Limit && time.Since(start) < claiming; rows += n {
		blocks := j.In.Blocks()
		if size += blocks[len(blocks)-1].Bytes(); size >= mostClaimed {
			break
		}
		before := r.in.Token()
		if n, err = r.in.Next(j.Limit-rows, &j.In); n == 0 || err != nil {
			j.In.Cut(len(blocks))
			r.failed, r.before = err, before
			break
		}
		r.next += n
	}
	return nil
}

// What a job takes at most of elements whose shapes differ: for so long, and so many bytes.
const (
	claiming    = time.Millisecond
	mostClaimed = 256 << 10
)

func (r *streamRows) Work(j *dataset.Job) { r.run(j, j.In.Blocks(), claimedBy(j).first) }

// numberedRows is the work on the elements of an indexed dataset.
type numberedRows struct {
	scope     *dataset.Scope
	run       func(j *dataset.Job, in []block.Block, first int64)
	in        dataset.RandomAccess
	next, end int64
}

func (r *numberedRows) Token() *dataset.Token { return dataset.At(r.next) }

func (r *numberedRows) Claim(j *dataset.Job) error {
	c := claimedBy(j)
	c.first, c.count = r.next, min(j.Limit, r.end-r.next)
	if c.count <= 0 {
		return io.EOF
	}
	r.next += c.count
	return nil
}

func (r *numberedRows) Work(j *dataset.Job) {
	c := claimedBy(j)
	err := r.make(j, c.first, c.count)
	if err == nil {
		return
	}
	r.scope.Drop(err)
	for i := range c.count { // to find the one that fails
		if err := r.make(j, c.first+i, 1); err != nil {
			j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: err})
		}
	}
}

// make adds what comes of count elements, or nothing and returns the input's error.
func (r *numberedRows) make(j *dataset.Job, first, count int64) error {
	c := claimedBy(j)
	c.index = c.index[:0]
	for i := range count {
		c.index = append(c.index, first+i)
	}
	if r.run == nil {
		blocks := len(j.Out.Blocks())
		err := r.in.Fetch(c.index, &j.Out)
		if err != nil {
			j.Out.Cut(blocks)
		}
		return err
	}
	j.In.Reset()
	if err := r.in.Fetch(c.index, &j.In); err != nil {
		return err
	}
	r.run(j, j.In.Blocks(), first)
	return nil
}

// openInput opens the input of an iterator whose token has the numbers n at first and
// that of the input.
func openInput(op string, in dataset.Definition, s *dataset.Scope, pass rng.Key, from *dataset.Token, n int) ([]int64, dataset.Iterator, error) {
	at, before, err := from.Parts(op, n)
	if err != nil {
		return nil, nil, err
	}
	it, err := in.Iterate(s, pass, before)
	return at, it, err
}

// openCursor is openInput for an input that is read through a cursor.
func openCursor(op string, in dataset.Definition, s *dataset.Scope, pass rng.Key, from *dataset.Token, n int) ([]int64, *dataset.Cursor, error) {
	at, before, err := from.Parts(op, n)
	if err != nil {
		return nil, nil, err
	}
	c, err := dataset.NewCursor(op, before, func(from *dataset.Token) (dataset.Iterator, error) { return in.Iterate(s, pass, from) })
	return at, c, err
}

// isEnd tells whether an error says that there are no more elements.
func isEnd(err error) bool { return errors.Is(err, io.EOF) }
