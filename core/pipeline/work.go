package pipeline

import (
	"io"
	"sync"
	"time"

	"infeed/core/arena"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/invariant"
)

// claims is where workers get their tasks. Slots are taken in the order of the
// groups they are for: otherwise the slots could all be full of later groups while
// the one that is due has none.
type claims struct {
	sync.Mutex
	walk  *dataset.Iterator
	next  int64 // number of the next group
	ended bool
}

// task is one group to make.
type task struct {
	number int64
	run    dataset.Run
	slot   arena.Slot
	err    error // why there is none
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

// claim waits until there is room for another group and returns it. It returns
// false when there are no more.
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
	if c.ended || it.stopped.Load() {
		return task{}, over
	}
	if c.next-int64(it.queue.Taken()) >= int64(it.sizes.ahead) {
		return task{}, full
	}
	slot, ok := it.segment.TryAcquire()
	if !ok {
		return task{}, full
	}
	t := task{number: c.next, slot: slot}
	t.run, t.err = c.walk.Next(it.sizes.limit(c.next))
	if t.err != nil {
		c.ended = true
		arena.Release(slot.Ref)
		if t.err == io.EOF {
			it.delivery.endsAfter(c.next)
			return task{}, over
		}
	}
	c.next++
	return t, claimed
}

// perform makes the group of a task and hands it over.
func (it *Iterator) perform(t task) {
	if t.err != nil {
		it.delivery.fail(t.number, t.err)
		return
	}
	if invariant.Enabled {
		invariant.Scribble(t.slot.Bytes) // whoever still reads a group that was released sees it
	}
	meta, err := fillGroup(t.run, t.slot.Bytes)
	if err != nil {
		arena.Release(t.slot.Ref)
		it.delivery.fail(t.number, err)
		return
	}
	arena.MarkReady(t.slot.Ref)
	address, bytes := arena.Address(t.slot.Ref)
	it.delivery.hand(t.number, arena.Entry{
		Position: t.run.Start, Index: t.run.Count, Slot: t.slot.Ref, Address: address, Bytes: bytes,
		MetaOffset: uint64(meta), MetaBytes: uint32(metaBytes(t.run.Shapes)),
	})
}

// delivery puts finished groups into the queue in the order of their numbers.
type delivery struct {
	queue *arena.Queue
	mu    struct {
		sync.Mutex
		ready  []arena.Entry // by number, modulo its length; empty where Bytes is 0
		next   int64
		last   int64 // number after the last group; -1 not known
		cause  error
		closed bool
	}
}

func (d *delivery) init(queue *arena.Queue, ahead int) {
	d.queue = queue
	d.mu.ready = make([]arena.Entry, ahead)
	d.mu.last = -1
}

// hand takes a finished group.
func (d *delivery) hand(number int64, e arena.Entry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mu.ready[number%int64(len(d.mu.ready))] = e
	d.push()
}

// fail says that the group of this number, and so the rest, cannot be made.
func (d *delivery) fail(number int64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.mu.last < 0 || number < d.mu.last {
		d.mu.last, d.mu.cause = number, err
	}
	d.push()
}

// endsAfter says how many groups there are.
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
	d.mu.last, d.mu.cause = d.mu.next, err
	d.push()
}

// push is called with mu locked. The queue has room for all groups that can be on
// their way.
func (d *delivery) push() {
	m := &d.mu
	for m.next != m.last {
		e := &m.ready[m.next%int64(len(m.ready))]
		if e.Bytes == 0 {
			return
		}
		if !d.queue.Push(*e) {
			panic(errs.New(errs.Internal, "delivery", "the queue is full before group %d", m.next))
		}
		*e = arena.Entry{}
		m.next++
	}
	if m.closed {
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
