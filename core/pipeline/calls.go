package pipeline

import (
	"io"
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

// Part is results of equal shapes, in arrays that are used during the call only.
type Part struct {
	Rows    int64   `json:"rows"`
	Columns []Array `json:"columns"`
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
	for _, part := range a.Parts {
		shapes := &spec.Element{}
		for _, c := range part.Columns {
			d, err := spec.ParseDType(c.DType)
			if err != nil {
				return err
			}
			shapes.Components = append(shapes.Components, spec.Component{DType: d, Shape: c.Shape})
		}
		if len(shapes.Components) > 1 {
			shapes.Structure = spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(shapes.Components))}
		}
		out, err := p.dst.Block(shapes, part.Rows)
		if err != nil {
			return err
		}
		for i := range part.Columns {
			if err := part.Columns[i].copy(out.Columns[i], part.Rows*shapes.Components[i].Count()); err != nil {
				return err
			}
		}
		p.done += part.Rows
	}
	return nil
}

// copy copies the values of an array, n strings or all its bytes.
func (a *Array) copy(c block.Column, n int64) error {
	memory, err := a.memory()
	if err != nil {
		return err
	}
	if c.Text == nil {
		if len(memory) != len(c.Data) {
			return errs.New(errs.Internal, "answer", "%d bytes for a column of %d", len(memory), len(c.Data))
		}
		copy(c.Data, memory)
		return nil
	}
	t, err := a.text(memory, n)
	if err != nil {
		return err
	}
	c.Text.AppendRange(t, 0, t.Len())
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
