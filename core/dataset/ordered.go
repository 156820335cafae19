package dataset

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"infeed/core/block"
)

// Job is a piece of work of an [Ordered] iterator. Its memory is used for one piece
// after the other.
type Job struct {
	// Limit is how many elements the piece should have at most.
	Limit int64
	// In is what Claim leaves for Work; Own is what they keep in a job for good.
	In  block.Buffer
	Own any
	// Out is what Work makes, and Fails its errors, in order.
	Out   block.Buffer
	Fails []Failure
	// Lost is what Claim or Work left out.
	Lost *Lost

	before, after *Token
	err           error // of Claim: there is no work
	bytes         int64 // of the budget
	ready         chan struct{}
}

// Failure is the error of an element that comes after so many blocks of Job.Out.
type Failure struct {
	After int
	Err   error
}

// Work is what an [Ordered] iterator does.
type Work interface {
	// Claim takes the next piece of the input, one call at a time. It returns
	// io.EOF when there is none, and other errors at their place.
	Claim(j *Job) error
	// Token returns where the input is: before what Claim takes next.
	Token() *Token
	// Work makes the elements of a piece. Calls run at the same time.
	Work(j *Job)
}

// Ordered does the work of pieces on several goroutines and gives the elements in
// the order of the pieces.
type Ordered struct {
	scope   *Scope
	work    Work
	workers int
	growth  growth

	mu struct { // claims, one after the other
		sync.Mutex
		ended bool
		token *Token // before what Claim takes next
	}
	claimed atomic.Int64 // jobs that were not passed yet
	free    pile
	order   chan *Job

	job   *Job // that is being given out; nil: the next one has to be waited for
	block int  // of Job.Out
	row   int64
	fail  int   // of Job.Fails
	taken int64 // elements and errors of the job that were passed
	lost  *Lost // in the jobs before
	after *Token
	end   bool
}

// pile is jobs that nobody uses. The last one to come is the first to go: its memory is
// likely to be in the cache.
type pile struct {
	mu struct {
		sync.Mutex
		jobs []*Job
	}
	there chan struct{} // one for each job
}

func (p *pile) put(j *Job) {
	p.mu.Lock()
	p.mu.jobs = append(p.mu.jobs, j)
	p.mu.Unlock()
	p.there <- struct{}{}
}

// take returns a job, after one was received from there.
func (p *pile) take() *Job {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.mu.jobs) - 1
	j := p.mu.jobs[last]
	p.mu.jobs = p.mu.jobs[:last]
	return j
}

// NewOrdered returns an iterator over work that goes on from a token. open opens
// the input at the token that Work.Token gave. With no workers, Next itself works.
func NewOrdered(op string, s *Scope, workers int, from *Token, open func(from *Token) (Work, error)) (*Ordered, error) {
	skip, in, err := from.Behind(op)
	if err != nil {
		return nil, err
	}
	o := &Ordered{scope: s, workers: workers, after: in}
	if o.work, err = open(in); err != nil {
		return nil, err
	}
	o.mu.token = in
	o.growth.bytes = min(pieceBytes, max(s.Budget.Limit()/int64(4*(workers+2)), 1))
	if from != nil {
		o.lost = from.Lost
	}
	o.order = make(chan *Job, workers+2)
	o.free.there = make(chan struct{}, cap(o.order))
	for range cap(o.order) {
		o.free.put(&Job{ready: make(chan struct{}, 1)})
	}
	for range workers {
		s.Go(o.run)
	}
	for n := skip; n > 0; {
		if err := o.fetch(); err != nil {
			return nil, short(op, err)
		}
		n -= o.skip(n)
	}
	return o, nil
}

// growth finds how many elements make about a millisecond of work.
type growth struct {
	sync.Mutex
	limit int64
	bytes int64 // that a piece has at most, unless its elements are larger
}

const (
	pieceTime  = time.Millisecond
	pieceLimit = 4096
	pieceBytes = 1 << 20
)

func (g *growth) next() int64 {
	g.Lock()
	defer g.Unlock()
	g.limit = max(g.limit, 1)
	return g.limit
}

// saw tells how many bytes a piece became, and how long that took.
func (g *growth) saw(j *Job, bytes int64, took time.Duration) {
	g.Lock()
	defer g.Unlock()
	switch {
	case j.Limit < g.limit:
	case (took > 2*pieceTime || bytes > 2*g.bytes) && g.limit > 1:
		g.limit /= 2
	case took < pieceTime && bytes < g.bytes && g.limit < pieceLimit:
		g.limit *= 2
	}
}

// run is a worker.
func (o *Ordered) run() {
	for {
		select {
		case <-o.free.there:
		case <-o.scope.Done():
			return
		}
		j := o.free.take()
		if !o.mayClaim() || !o.claim(j) {
			return
		}
		o.do(j)
	}
}

// mayClaim waits until the budget allows for one more piece. It returns false when the
// scope has ended.
func (o *Ordered) mayClaim() bool {
	for {
		yes, changed := o.scope.Budget.Room()
		if yes || o.claimed.Load() == 0 {
			return true
		}
		select {
		case <-changed:
		case <-o.scope.Done():
			return false
		}
	}
}

// claim takes a piece and puts it in its place. It returns false after the last one.
func (o *Ordered) claim(j *Job) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.mu.ended {
		return false
	}
	if j.Limit = o.growth.next(); o.scope.Single {
		j.Limit = 1
	}
	j.In.Reset()
	j.Out.Reset()
	j.Fails, j.Lost = j.Fails[:0], nil
	j.before = o.mu.token
	for j.err = o.work.Claim(j); j.err == errAgain; {
		j.In.Reset()
		j.err = o.work.Claim(j)
	}
	o.mu.token = o.work.Token()
	j.after = o.mu.token
	o.mu.ended = errors.Is(j.err, io.EOF)
	o.claimed.Add(1)
	o.order <- j // there is room for all jobs
	return true
}

// errAgain is an input's "ask again".
var errAgain = errors.New("ask again")

// Again is what Work.Claim returns where an input made nothing and has to be asked
// again.
func Again(n int64, err error) error {
	if n == 0 && err == nil {
		return errAgain
	}
	return err
}

func (o *Ordered) do(j *Job) {
	made := int64(0)
	if j.err == nil {
		start := time.Now()
		o.work.Work(j)
		took := time.Since(start)
		made = j.Out.Bytes()
		o.growth.saw(j, made, took)
	} else if !errors.Is(j.err, io.EOF) {
		j.Fails = append(j.Fails, Failure{0, j.err})
	}
	j.bytes = j.In.Bytes() + made
	o.scope.Budget.Hold(j.bytes)
	j.ready <- struct{}{}
}

// fetch waits for the next piece.
func (o *Ordered) fetch() error {
	for o.job == nil {
		if o.end {
			return io.EOF
		}
		if o.workers == 0 {
			<-o.free.there
			j := o.free.take()
			o.claim(j)
			o.do(j)
		}
		var j *Job
		select {
		case j = <-o.order:
		case <-o.scope.Done():
			return o.scope.Err()
		}
		select {
		case <-j.ready:
		case <-o.scope.Done():
			return o.scope.Err()
		}
		o.job, o.block, o.row, o.fail, o.taken = j, 0, 0, 0, 0
		o.end = errors.Is(j.err, io.EOF)
		o.settle()
	}
	return nil
}

// settle gives the job back when all of it was passed.
func (o *Ordered) settle() {
	if o.job != nil && o.block == len(o.job.Out.Blocks()) && o.fail == len(o.job.Fails) {
		o.after = o.job.after
		if l := o.job.Lost; l != nil {
			o.lost = o.lost.And(l.Count, l.Places...)
		}
		o.claimed.Add(-1)
		o.scope.Budget.GiveBack(o.job.bytes)
		if o.job.bytes > 4*o.growth.bytes { // and its memory is not kept for the next one
			o.job.In, o.job.Out = block.Buffer{}, block.Buffer{}
		}
		o.free.put(o.job)
		o.job = nil
	}
}

// failing returns the error that is next, if one is.
func (o *Ordered) failing() error {
	if j := o.job; o.fail < len(j.Fails) && j.Fails[o.fail].After == o.block {
		return j.Fails[o.fail].Err
	}
	return nil
}

// pass says that n rows of the current block, or the next error, were given.
func (o *Ordered) pass(n int64) {
	o.taken += max(n, 1)
	if n == 0 {
		o.fail++
	} else if o.row += n; o.row == o.job.Out.Blocks()[o.block].Rows {
		o.block, o.row = o.block+1, 0
	}
	o.settle()
}

// skip passes up to n elements and errors and returns how many.
func (o *Ordered) skip(n int64) int64 {
	if err := o.failing(); err != nil {
		o.scope.Drop(err)
		o.pass(0)
		return 1
	}
	n = min(n, o.job.Out.Blocks()[o.block].Rows-o.row)
	o.pass(n)
	return n
}

// Next implements Iterator.
func (o *Ordered) Next(limit int64, dst Sink) (int64, error) {
	if err := o.fetch(); err != nil {
		return 0, err
	}
	if err := o.failing(); err != nil {
		o.pass(0)
		return 0, err
	}
	n := min(limit, o.job.Out.Blocks()[o.block].Rows-o.row)
	if err := Hand(dst, &o.job.Out, o.block, o.row, n); err != nil {
		return 0, err
	}
	o.pass(n)
	return n, nil
}

// Queue implements Ahead.
func (o *Ordered) Queue() int64 { return o.claimed.Load() }

// Token implements Iterator.
func (o *Ordered) Token() *Token {
	t := Over(o.after, 0)
	if o.job != nil {
		t = Over(o.job.before, o.taken)
	}
	t.Lost = o.lost
	return t
}
