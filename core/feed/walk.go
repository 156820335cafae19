package feed

import (
	"slices"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/rng"
)

// Statuses of queues and entries, as in capi/infeed.h.
const (
	statusEnd    = 3
	statusRaised = 4 // set by workers
	statusWorker = -int32(errs.Worker)
)

// WalkOptions say which way through the batches a walk takes.
type WalkOptions struct {
	Length  int64  `json:"length"`  // batches; -1 without end
	Shuffle bool   `json:"shuffle"` // in the order of (Seed, Pass), else by index
	Seed    uint64 `json:"seed"`
	Pass    int64  `json:"pass"`  // seeds the order and the random numbers
	Epoch   int64  `json:"epoch"` // what the dataset's code is told
	Start   int64  `json:"start"` // first position to deliver
	Look    bool   `json:"look"`  // make a batch only when the one before was taken
}

// Walk is one consumer's way through the batches of a pool.
type Walk struct {
	Queue *arena.Queue
	// Number names the walk among all that the pool ever had.
	Number int64

	pool       *Pool
	opt        WalkOptions
	order      *rng.Permutation // nil: by index
	window     int64
	issued     int64 // the next position to make
	pushed     int64 // the next position to put into the queue
	generation int   // counts what Invalidate threw away
	done       map[int64]arena.Entry
	retry      []*job
	failures   map[int64]*WorkerFailure
	fatal      *WorkerFailure
	closed     bool
}

// job is the making of one batch.
type job struct {
	id         uint64
	walk       *Walk
	position   int64
	index      int64
	generation int
	attempts   int // workers that died of it
	slot       arena.Slot
	worker     int
	thread     int64
}

// orderDomain keeps the keys of batch orders apart from all others.
const orderDomain = 0x6665_6564 // "feed"

// Order returns the order of a pass over n batches.
func Order(n int64, seed uint64, pass int64) *rng.Permutation {
	return rng.NewPermutation(n, rng.NewKey(seed, orderDomain, uint64(pass)))
}

// OpenWalk starts a walk; workers begin with it at once.
func (p *Pool) OpenWalk(opt WalkOptions) (*Walk, error) {
	if opt.Length < -1 || opt.Start < 0 || opt.Length >= 0 && opt.Start > opt.Length {
		return nil, errs.New(errs.InvalidArgument, "walk", "position %d of %d batches", opt.Start, opt.Length)
	}
	w := &Walk{pool: p, opt: opt, issued: opt.Start, pushed: opt.Start,
		done: map[int64]arena.Entry{}, failures: map[int64]*WorkerFailure{}}
	w.window = int64(max(p.opt.Queue, p.opt.Workers))
	if opt.Look {
		w.window = 1
	}
	if opt.Shuffle && opt.Length > 0 {
		w.order = Order(opt.Length, opt.Seed, opt.Pass)
	}
	queue, err := arena.NewQueue(int(w.window), int(w.window)/2, p.Work)
	if err != nil {
		return nil, err
	}
	w.Queue = queue
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lastWalk++
	w.Number = p.lastWalk
	p.walks = append(p.walks, w)
	if p.fatal != nil {
		w.fail(p.fatal)
	}
	w.finishIfDone()
	p.wake()
	return w, nil
}

// Stop makes the consumer's waiting end.
func (w *Walk) Stop() { w.Queue.Cancel(-int32(errs.Cancelled)) }

// Close forgets the walk. No consumer may be in its queue.
func (w *Walk) Close() {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed {
		return
	}
	w.closed = true
	w.throwAway()
	w.Queue.Free()
	p.walks = slices.DeleteFunc(p.walks, func(o *Walk) bool { return o == w })
}

// Invalidate throws away every batch that was not taken: it is made again. Nobody
// may be taking from the queue meanwhile.
func (w *Walk) Invalidate() {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.closed {
		return
	}
	w.throwAway()
	w.Queue.Finish(0)
	w.finishIfDone()
	p.wake()
}

func (w *Walk) throwAway() {
	w.generation++
	w.Queue.Drop(func(e arena.Entry) {
		arena.Release(e.Slot)
		w.pushed--
	})
	for _, e := range w.done {
		arena.Release(e.Slot)
	}
	clear(w.done)
	clear(w.failures)
	w.retry = nil
	w.issued = w.pushed
}

// next returns the job to make now, or nil. The pool is locked.
func (w *Walk) next() *job {
	if len(w.retry) > 0 {
		j := w.retry[0]
		w.retry = w.retry[1:]
		return w.pool.register(j)
	}
	waiting := w.issued - w.pushed + int64(w.Queue.Pushed()-w.Queue.Taken())
	if w.closed || w.fatal != nil || waiting >= w.window || w.opt.Length >= 0 && w.issued >= w.opt.Length {
		return nil
	}
	j := &job{walk: w, position: w.issued, index: w.issued, generation: w.generation}
	if w.order != nil {
		j.index = w.order.At(w.issued)
	}
	w.issued++
	return w.pool.register(j)
}

// again puts a job back that could not be finished. The pool is locked.
func (w *Walk) again(j *job) {
	if j.generation != w.generation || w.closed {
		return
	}
	j.slot = arena.Slot{}
	w.retry = append(w.retry, j)
	slices.SortFunc(w.retry, func(a, b *job) int { return int(a.position - b.position) })
}

// finish takes what a job gave and delivers all that is now in order. It returns
// false when nobody wants it any more. The pool is locked.
func (w *Walk) finish(j *job, e arena.Entry) bool {
	if w.closed || j.generation != w.generation {
		return false
	}
	e.Position, e.Index, e.Job = j.position, j.index, j.id
	w.done[j.position] = e
	for {
		e, ok := w.done[w.pushed]
		if !ok || !w.Queue.Push(e) {
			break
		}
		delete(w.done, w.pushed)
		w.pushed++
	}
	w.finishIfDone()
	return true
}

func (w *Walk) finishIfDone() {
	if w.opt.Length >= 0 && w.pushed >= w.opt.Length {
		w.Queue.Finish(statusEnd)
	}
}

// fail ends the walk, after what was made, with an error. The pool is locked.
func (w *Walk) fail(f *WorkerFailure) {
	w.fatal = f
	w.Queue.Finish(statusWorker)
}

// Failure tells why the batch at a position has the status of a Worker error; with
// any other position, why the walk ended so.
func (w *Walk) Failure(position int64) *WorkerFailure {
	w.pool.mu.Lock()
	defer w.pool.mu.Unlock()
	if f, ok := w.failures[position]; ok {
		return f
	}
	return w.fatal
}

// Stuck says who makes the batch that the consumer waits for.
func (w *Walk) Stuck() (index int64, worker int, pid int, thread int64) {
	p := w.pool
	p.mu.Lock()
	defer p.mu.Unlock()
	index, worker = w.pushed, -1
	if w.order != nil && w.pushed < w.opt.Length {
		index = w.order.At(w.pushed)
	}
	for _, j := range p.jobs {
		if j.walk == w && j.position == w.pushed && j.generation == w.generation {
			worker, thread = j.worker, j.thread
		}
	}
	if p.processes != nil {
		pid = p.processes.pid(worker)
	}
	return index, worker, pid, thread
}
