package pipeline

import (
	"errors"
	"io"
	"slices"
	"sync"
	"unsafe"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// Job is the status of an entry that asks its taker to run a function of Python on
// the elements of a group: Position is the function's number, Index how many elements
// there are, Job what Answer is to be given (see infeed.h).
const Job int32 = 5

// calls is dataset.Caller: it hands jobs to Python and waits for answers. Jobs go to
// the consumer of the iterator's queue, which runs them while it waits for elements,
// or to threads that take them from a queue of their own.
type calls struct {
	it    *Iterator
	queue *arena.Queue // of the threads; nil: the consumer's
	mu    struct {
		sync.Mutex
		next    uint64
		pending map[uint64]*pending
		dropped []int64 // exceptions that nobody will ask for
	}
}

// pending is a job that was not answered yet.
type pending struct {
	dst    dataset.Sink
	answer chan struct{}
	done   int64
	err    error
}

// mostJobs is how many jobs can wait; each blocks a goroutine of the pipeline.
const mostJobs = 1 << 12

func newCalls(it *Iterator, threads bool) (c *calls, err error) {
	c = &calls{it: it}
	c.mu.pending = map[uint64]*pending{}
	if threads {
		c.queue, err = arena.NewQueue(mostJobs, 0, nil)
	}
	return c, err
}

// Call implements dataset.Caller.
func (c *calls) Call(s *dataset.Scope, function int64, in []block.Block, dst dataset.Sink) (int64, error) {
	e, err := groupOf(&c.it.slots, in)
	if err != nil {
		return 0, err
	}
	p := &pending{dst: dst, answer: make(chan struct{})}
	e.Status, e.Position = Job, function
	c.mu.Lock()
	c.mu.next++
	e.Job = c.mu.next
	c.mu.pending[e.Job] = p
	pushed := c.push(e)
	c.mu.Unlock()
	if !pushed {
		arena.Release(e.Slot)
		c.forget(e.Job)
		return 0, errs.New(errs.Cancelled, "iterator", "it was closed")
	}
	select {
	case <-p.answer:
		return p.done, p.err
	case <-s.Done():
	}
	if c.forget(e.Job) == nil { // it is being answered
		<-p.answer
	}
	return 0, s.Err()
}

// push is called with mu locked: one at a time may push.
func (c *calls) push(e arena.Entry) bool {
	if c.queue != nil {
		return c.queue.Push(e)
	}
	return c.it.delivery.job(e)
}

// forget takes a job out of those that wait for an answer; nil: it was not there.
func (c *calls) forget(job uint64) *pending {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.mu.pending[job]
	delete(c.mu.pending, job)
	return p
}

// drop is dataset.Scope's Dropped.
func (c *calls) drop(err error) {
	var raised *Raised
	if !errors.As(err, &raised) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mu.dropped = append(c.mu.dropped, raised.ID)
}

// Dropped fills ids with the numbers of exceptions that will not be asked for, each of which
// it gives once, and returns how many.
func (it *Iterator) Dropped(ids []int64) int {
	c := it.calls
	c.mu.Lock()
	defer c.mu.Unlock()
	n := copy(ids, c.mu.dropped)
	c.mu.dropped = slices.Delete(c.mu.dropped, 0, n)
	return n
}

// Answer is what became of a job: results for the rows before the first that failed,
// in parts of equal shapes, and why that failed.
type Answer struct {
	Parts []Part `json:"parts"`
	Error *struct {
		ID   int64     `json:"id"` // of the exception, for the caller to find it again
		Kind errs.Kind `json:"kind"`
		Text string    `json:"text"`
	} `json:"error"`
	// End says that there are no more elements.
	End bool `json:"end"`
}

// Part is results in arrays that are used during the call only.
type Part struct {
	Rows    int64    `json:"rows"`
	Columns []Column `json:"columns"`
}

// Column is a component of results. Where their shapes differ, the array has the values
// of all of them, and as many dimensions as there are numbers in its Shape.
type Column struct {
	Array
	// Shapes is the address of int64 numbers, the dimensions of each row; 0: all rows
	// have the array's shape.
	Shapes uint64 `json:"shapes"`
}

// Raised is the error of a function of Python; ID names the exception.
type Raised struct {
	ID   int64
	text string
}

func (r *Raised) Error() string { return r.text }

// Answer gives the results of a job. An answer that nobody waits for any more is no
// error.
func (it *Iterator) Answer(job uint64, a *Answer) error {
	p := it.calls.forget(job)
	if p == nil {
		return nil
	}
	defer close(p.answer)
	p.err = p.fill(a)
	if p.err == nil && a.Error != nil {
		p.err = errs.Wrap(&Raised{a.Error.ID, a.Error.Text}, a.Error.Kind, "", "")
	}
	if p.err == nil && a.End {
		p.err = io.EOF
	}
	return nil
}

func (p *pending) fill(a *Answer) error {
	for i := range a.Parts {
		if err := p.part(&a.Parts[i]); err != nil {
			return err
		}
	}
	return nil
}

// part makes a block of each run of results with equal shapes.
func (p *pending) part(part *Part) error {
	dtypes := make([]spec.DType, len(part.Columns))
	columns := make([]reader, len(part.Columns))
	for i := range part.Columns {
		var err error
		if dtypes[i], err = spec.ParseDType(part.Columns[i].DType); err == nil {
			err = columns[i].open(&part.Columns[i], part.Rows)
		}
		if err != nil {
			return err
		}
	}
	for rows := part.Rows; rows > 0; {
		shapes, n := &spec.Element{}, rows
		for i := range columns {
			shape, same := columns[i].next(rows)
			shapes.Components = append(shapes.Components, spec.Component{DType: dtypes[i], Shape: shape})
			n = min(n, same)
		}
		if len(columns) > 1 {
			shapes.Structure = spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(columns))}
		}
		out, err := p.dst.Block(shapes, n)
		if err != nil {
			return err
		}
		for i := range columns {
			if err := columns[i].copy(out.Columns[i], n, shapes.Components[i].Count()); err != nil {
				return err
			}
		}
		rows, p.done = rows-n, p.done+n
	}
	return nil
}

// reader reads the rows of a column, one after the other.
type reader struct {
	column *Column
	memory []byte
	text   *block.Text
	shapes []int64 // of the rows that are left; nil: they are equal
	first  int     // text that comes next
}

func (r *reader) open(c *Column, rows int64) (err error) {
	r.column = c
	if r.memory, err = c.memory(); err != nil {
		return err
	}
	rank := int64(len(c.Shape))
	if c.Shapes != 0 && rank > 0 {
		r.shapes = unsafe.Slice(*(**int64)(unsafe.Pointer(&c.Shapes)), rows*rank)
	}
	if c.Offsets != 0 {
		count := spec.Component{Shape: c.Shape}.Count()
		r.text, err = c.text(r.memory, rows*count)
	}
	return err
}

// next returns the shape of the next row, and how many of the rows that are left have it.
func (r *reader) next(rows int64) (shape []int64, same int64) {
	if r.shapes == nil {
		return r.column.Shape, rows
	}
	rank := int64(len(r.column.Shape))
	shape = slices.Clone(r.shapes[:rank])
	for same = 1; same < rows && slices.Equal(r.shapes[same*rank:(same+1)*rank], shape); same++ {
	}
	return shape, same
}

// copy copies rows of count values each.
func (r *reader) copy(c block.Column, rows, count int64) error {
	if r.shapes != nil {
		r.shapes = r.shapes[rows*int64(len(r.column.Shape)):]
	}
	if c.Text != nil {
		if n := int(rows * count); n > 0 && r.text == nil {
			return errs.New(errs.InvalidArgument, "array", "%d strings without offsets", n)
		} else if n > 0 {
			c.Text.AppendRange(r.text, r.first, r.first+n)
			r.first += n
		}
		return nil
	}
	if len(r.memory) < len(c.Data) {
		return errs.New(errs.Internal, "answer", "%d bytes for a column of %d", len(r.memory), len(c.Data))
	}
	r.memory = r.memory[copy(c.Data, r.memory):]
	return nil
}

// text returns the n strings of an array of text.
func (a *Array) text(memory []byte, n int64) (*block.Text, error) {
	if n == 0 {
		return &block.Text{}, nil
	}
	if a.Offsets == 0 {
		return nil, errs.New(errs.InvalidArgument, "array", "%d strings without offsets", n)
	}
	at := unsafe.Slice(*(**int64)(unsafe.Pointer(&a.Offsets)), n+1)
	for i := range n {
		if at[i] < 0 || at[i] > at[i+1] || at[i+1] > int64(len(memory)) {
			return nil, errs.New(errs.InvalidArgument, "array", "string %d is from %d to %d of %d bytes", i, at[i], at[i+1], len(memory))
		}
	}
	return &block.Text{Data: memory, Starts: at[:n:n], Ends: at[1 : n+1 : n+1]}, nil
}

// close ends the threads' queue.
func (c *calls) close() {
	if c.queue != nil {
		c.queue.Free()
	}
}

// stop makes the threads return.
func (c *calls) stop() {
	if c.queue != nil {
		c.queue.Cancel(-int32(errs.Cancelled))
	}
}
