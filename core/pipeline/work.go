package pipeline

import (
	"sync"
	"sync/atomic"
	"time"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
)

// claims is where workers get their tasks.
type claims struct {
	sync.Mutex
	access     dataset.RandomAccess
	start, end int64 // numbers of the elements that no task has yet
	next       int64 // number of the next task
	stream     *stream
}

// task is consecutive elements to make.
type task struct {
	number       int64
	start, count int64
}

// idle bounds how long a wake-up that got lost could go unnoticed.
var idle = time.Second

func (it *Iterator) work() {
	for {
		t, ok := it.claim()
		if !ok {
			return
		}
		it.perform(t)
	}
}

// claim waits until there is room for more groups and returns the next task. It
// returns false when there are no more.
func (it *Iterator) claim() (task, bool) {
	it.claims.Lock()
	defer it.claims.Unlock()
	for {
		key := it.event.Key()
		t, state := it.tryClaim()
		if state != full {
			return t, state == claimed
		}
		it.event.Wait(key, idle)
	}
}

type claimState int

const (
	claimed claimState = iota
	full               // there is no room
	over               // there are no more groups, or the iterator was stopped
)

// tryClaim is called with claims locked.
func (it *Iterator) tryClaim() (task, claimState) {
	c := &it.claims
	if it.stopped.Load() {
		return task{}, over
	}
	if c.start == c.end {
		it.delivery.endsAfter(c.next)
		return task{}, over
	}
	if it.room(c.next) <= 0 {
		return task{}, full
	}
	t := task{number: c.next, start: c.start, count: min(it.sizes.limit(c.next), c.end-c.start)}
	c.next++
	c.start += t.count
	return t, claimed
}

// room returns how many more tasks may be begun when next is the next one.
func (it *Iterator) room(next int64) int64 {
	waiting := int64(it.queue.Pushed() - it.queue.Taken())
	ahead := waiting + next - it.delivery.handed.Load()
	if it.sizes.slotBytes == 0 && ahead > 0 && it.slots.inUse() >= it.sizes.mayUse(ahead) {
		return 0
	}
	return int64(it.sizes.ahead) - ahead
}

// perform makes the groups of a task and hands them over.
func (it *Iterator) perform(t task) {
	g := it.sinks.get(&it.slots)
	defer it.sinks.put(g)
	start := time.Now()
	index := g.numbers(t.start, t.count)
	err := it.claims.access.Fetch(index, g)
	if err != nil {
		g.void()
		if t.count > 1 {
			it.scope.Drop(err)
			err = it.careful(t, g)
		}
	}
	it.hand(t.number, t.start, t.count, g, err, start)
}

// hand hands over what was made of a task, and the error that stopped it.
func (it *Iterator) hand(number, start, count int64, g *groups, err error, began time.Time) {
	entries, broken := g.finish(start, nil)
	if broken != nil {
		err = broken
	}
	bytes := int64(0)
	for _, e := range entries {
		bytes += int64(e.Bytes)
	}
	it.sizes.saw(count, int64(len(entries)), bytes, time.Since(began))
	it.delivery.hand(number, entries, err)
}

// careful makes the elements of a task again, one at a time, up to the one that
// fails, whose error it returns.
func (it *Iterator) careful(t task, g *groups) error {
	var one block.Buffer
	var err error
	for i := t.start; i < t.start+t.count && err == nil; i++ {
		parts := len(one.Blocks())
		if err = it.claims.access.Fetch(g.numbers(i, 1), &one); err != nil {
			one.Cut(parts)
		}
	}
	if broken := joined(one.Blocks(), g); broken != nil {
		g.void()
		return broken
	}
	return err
}

// joined makes blocks in dst, those of equal shapes in one.
func joined(blocks []block.Block, dst dataset.Sink) error {
	for from := 0; from < len(blocks); {
		to, rows := from, int64(0)
		for ; to < len(blocks) && blocks[to].Shapes.Same(blocks[from].Shapes); to++ {
			rows += blocks[to].Rows
		}
		out, err := dst.Block(blocks[from].Shapes, rows)
		if err != nil {
			return err
		}
		at := int64(0)
		for _, b := range blocks[from:to] {
			out.Copy(at, b)
			at += b.Rows
		}
		from = to
	}
	return nil
}

// delivery puts finished groups into the queue in the order of their tasks.
type delivery struct {
	queue  *arena.Queue
	handed atomic.Int64 // tasks whose groups are in the queue
	mu     struct {
		sync.Mutex
		ready  []result // by number of the task, modulo its length
		last   int64    // number after the last task; -1 not known
		cause  error
		closed bool
	}
}

type result struct {
	entries []arena.Entry
	err     error // after them
	done    bool
}

func (d *delivery) init(queue *arena.Queue, ahead int) {
	d.queue = queue
	d.mu.ready = make([]result, ahead)
	d.mu.last = -1
}

// hand takes the finished groups of a task. With an error, nothing follows them.
func (d *delivery) hand(number int64, entries []arena.Entry, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.ready[number%int64(len(d.mu.ready))] = result{entries, err, true}
	d.push()
}

// endsAfter says how many tasks there are.
func (d *delivery) endsAfter(count int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.last < 0 {
		d.mu.last = count
	}
	d.push()
}

// abort ends the queue now.
func (d *delivery) abort(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mu.closed {
		d.mu.last, d.mu.cause = d.handed.Load(), err
	}
	d.push()
}

// job puts an entry for the consumer into the queue that is no group.
func (d *delivery) job(e arena.Entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.mu.closed && d.queue.Push(e)
}

// push is called with mu locked. The queue has room for all groups that can be on
// their way.
func (d *delivery) push() {
	m := &d.mu
	for next := d.handed.Load(); next != m.last && !m.closed; next++ {
		r := &m.ready[next%int64(len(m.ready))]
		if !r.done {
			return
		}
		for _, e := range r.entries {
			if !d.queue.Push(e) {
				panic(errs.New(errs.Internal, "delivery", "the queue is full in task %d", next))
			}
		}
		if r.err != nil {
			m.last, m.cause = next+1, r.err
		}
		*r = result{}
		d.handed.Store(next + 1)
	}
	if m.closed || m.last < 0 {
		return
	}
	m.closed = true
	if m.cause != nil {
		d.queue.Finish(-int32(errs.KindOf(m.cause)))
		return
	}
	d.queue.Finish(End)
}

func (d *delivery) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.mu.cause
}
