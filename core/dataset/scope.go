package dataset

import (
	"sync"

	"infeed/core/errs"
	"infeed/core/par"
	"infeed/core/vfs"
)

// Scope is what iterators live in: what they use of the outside world, and who
// cleans up after them. Closing it ends everything in it.
type Scope struct {
	FS     vfs.FS
	Caller Caller
	// Workers is how many goroutines a stage may have; 0: none, the caller of Next
	// does the work.
	Workers int
	// Budget is for what stages hold that work ahead; nil: there is no bound.
	Budget *Budget
	// Single has stages take one element at a time of their inputs and none before it is
	// needed, so that where they are says what they used.
	Single bool
	// Counters is what datasets count in, for whoever made the scope.
	Counters any
	// Notice, if set, is told what went wrong and stops nobody.
	Notice func(text string)
	// Lost, if set, is told what had been left out of what is opened for random access,
	// which has no tokens to count it in. It is told again when that is opened again.
	Lost func(*Lost)
	// Dropped, if set, is told of errors of elements that nobody will ask for again; see Drop.
	Dropped func(error)
	// Failed, if set, is told why when the scope ends before it is closed.
	Failed func(cause error)

	group *par.Group
	done  chan struct{}
	mu    struct {
		sync.Mutex
		closed   bool
		cause    error
		closers  []func()
		children map[*Scope]bool
	}
	parent *Scope
}

// NewScope returns an open scope for the files of fs.
func NewScope(fs vfs.FS, workers int) *Scope {
	s := &Scope{FS: fs, Workers: workers, done: make(chan struct{})}
	s.group = par.NewGroup(s.Fail)
	return s
}

// Child returns a scope that ends with s at the latest.
func (s *Scope) Child() *Scope {
	c := NewScope(s.FS, s.Workers)
	c.Caller, c.Budget, c.Single, c.Counters, c.Notice, c.Lost = s.Caller, s.Budget, s.Single, s.Counters, s.Notice, s.Lost
	c.Dropped, c.parent = s.Dropped, s
	s.mu.Lock()
	if s.mu.children == nil {
		s.mu.children = map[*Scope]bool{}
	}
	s.mu.children[c] = true
	ended, cause := s.mu.closed, s.mu.cause
	s.mu.Unlock()
	if ended { // and a goroutine that Close waits for has not seen it yet
		c.Fail(cause)
	}
	return c
}

// Drop says that an element's error is left out, or that the element is made again: whoever
// keeps something for the error need not any longer.
func (s *Scope) Drop(err error) {
	if s.Dropped != nil {
		s.Dropped(err)
	}
}

// Go runs f on a goroutine that Close waits for. f returns soon after Done.
func (s *Scope) Go(f func()) { s.group.Go(f) }

// Done is closed when the scope ends.
func (s *Scope) Done() <-chan struct{} { return s.done }

// Defer has f called when the scope is closed, after its goroutines have ended.
func (s *Scope) Defer(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.closers = append(s.mu.closers, f)
}

// Fail ends the scope with a cause; goroutines go on until they see Done.
func (s *Scope) Fail(cause error) {
	s.mu.Lock()
	if s.mu.closed {
		s.mu.Unlock()
		return
	}
	s.mu.closed, s.mu.cause = true, cause
	children := make([]*Scope, 0, len(s.mu.children))
	for c := range s.mu.children {
		children = append(children, c)
	}
	close(s.done)
	s.mu.Unlock()
	if s.Failed != nil {
		s.Failed(cause)
	}
	for _, c := range children {
		c.Fail(cause)
	}
	if s.parent != nil && errs.KindOf(cause) != errs.Cancelled {
		s.parent.Fail(cause)
	}
}

// Err returns why the scope ended, or nil.
func (s *Scope) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.cause
}

// Close ends the scope, waits for what runs in it, and cleans up. It may be called
// again.
func (s *Scope) Close() {
	s.Fail(errs.New(errs.Cancelled, "iterator", "it was closed"))
	s.group.Wait() // its goroutines may use what children clean up
	s.mu.Lock()
	children := s.mu.children
	s.mu.children = nil
	s.mu.Unlock()
	for c := range children {
		c.Close()
	}
	s.mu.Lock()
	closers := s.mu.closers
	s.mu.closers = nil
	s.mu.Unlock()
	for i := len(closers) - 1; i >= 0; i-- {
		closers[i]()
	}
	if s.parent != nil {
		s.parent.mu.Lock()
		delete(s.parent.mu.children, s)
		s.parent.mu.Unlock()
	}
}
