package pipeline

import (
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/par"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// Options says which pass an iterator walks over, and how.
type Options struct {
	Pass  int64     `json:"pass"`
	Shard *[2]int64 `json:"shard"` // how many readers, which of them
	State *State    `json:"state"` // instead of Pass
	// Seeds are used instead of those of the definition, where there is no State: a
	// pass after one that was taken up has the same seeds, drawn or not.
	Seeds []uint64 `json:"seeds"`
	// Combine has the iterator make no elements: when its queue has ended, its State(0)
	// is the one from which this dataset goes on after all readers that there were,
	// whose states these are. Functions of Python may be called to find it.
	Combine []*State `json:"combine"`
	// Workers is how many goroutines make elements; 0: the consumer itself does. More than
	// 1024 make nothing faster, and are not started.
	Workers int `json:"workers"`
	// RAMBudget bounds the memory of elements that were made ahead, in bytes: of groups
	// that wait or are lent, and of stages that work ahead. Each worker and each stage has
	// one element at a time, however large. 0: 256 MiB.
	RAMBudget int64 `json:"ram_budget"`
	// GroupBytes is how large groups grow; 0: about a mebibyte.
	GroupBytes int64 `json:"group_bytes"`
	// Functions says who runs functions of Python, if there are any: the consumer of
	// the queue, or threads that take from Jobs.
	Functions bool `json:"functions"`
	Threads   bool `json:"threads"`
}

const mostWorkers = 1 << 10

// Iterator walks over one pass of a dataset. Its methods are for one goroutine at
// a time.
type Iterator struct {
	spec  *spec.Element
	sizes sizes
	*places

	workers  int
	scope    *dataset.Scope
	slots    slots
	event    *arena.Event // a slot came back, or groups were taken
	queue    *arena.Queue
	stopped  atomic.Bool
	stop     sync.Once
	close    sync.Once
	inside   sync.Mutex // held by Produce
	claims   claims
	sinks    sinks
	delivery delivery
	counters counters
	calls    *calls
}

// End is the status with which the queue of an iterator ends (see infeed.h).
const End int32 = 3

// Iterate starts an iterator. It must be closed.
func (d *Dataset) Iterate(o Options) (*Iterator, error) {
	if len(o.Combine) > 0 {
		return d.combine(o)
	}
	if o.Functions { // the consumer cannot wait for itself
		o.Workers = max(o.Workers, 1)
	}
	o.Workers = min(o.Workers, mostWorkers)
	it := &Iterator{places: newPlaces(d, o), workers: o.Workers}
	if o.State != nil {
		resumed, state, err := d.resumed(o.State)
		if err != nil {
			return nil, err
		}
		it.dataset, it.pass, o.State = resumed, state.Pass, state
	} else if len(o.Seeds) > 0 && len(o.Seeds) == len(d.known().seeds) {
		seeded, err := d.seeded(o.Seeds)
		if err != nil {
			return nil, err
		}
		it.dataset = seeded
	}
	if it.pass < 0 || o.Workers < 0 || o.RAMBudget < 0 {
		return nil, errs.New(errs.InvalidArgument, "iterator", "pass %d, %d workers, %d bytes; none may be negative", it.pass, o.Workers, o.RAMBudget)
	}
	if err := isShard(o.Shard); err != nil {
		return nil, err
	}
	it.spec = it.dataset.Spec()
	if err := it.sizes.set(it.spec, it.dataset.Indexed(), o); err != nil {
		return nil, err
	}
	if err := it.prepare(o); err != nil {
		return nil, err
	}
	if err := it.begin(o.State); err != nil {
		it.Close()
		return nil, err
	}
	return it, nil
}

// prepare makes what an iterator needs.
func (it *Iterator) prepare(o Options) (err error) {
	it.event = arena.NewEvent()
	it.slots.event = it.event
	// Each element of a task may come in a group of its own.
	capacity := it.sizes.large*maxElements + it.sizes.ahead
	if it.queue, err = arena.NewQueue(capacity, it.sizes.ahead/2, it.event); err != nil {
		arena.FreeEvent(it.event)
		return err
	}
	it.delivery.init(it.queue, it.sizes.ahead)
	it.scope = dataset.NewScope(vfs.Local(), it.workers)
	it.scope.Budget = dataset.NewBudget(it.sizes.bytes)
	it.slots.most = it.sizes.bytes
	it.scope.Counters, it.scope.Notice, it.scope.Lost = &it.counters, it.counters.notice, it.counters.leftOut
	it.scope.Failed = func(cause error) {
		if errs.KindOf(cause) != errs.Cancelled {
			it.delivery.abort(cause)
		}
		it.halt()
	}
	if o.Functions {
		if it.calls, err = newCalls(it, o.Threads); err != nil {
			return err
		}
		it.scope.Caller, it.scope.Dropped = it.calls, it.calls.drop
	}
	if it.sizes.slotBytes > 0 {
		_, err = it.slots.add(it.sizes.ahead+it.sizes.lent, it.sizes.slotBytes)
	}
	return err
}

// begin opens the pass, where the state says, and starts the workers.
func (it *Iterator) begin(state *State) (err error) {
	indexed, ok := it.dataset.def.(dataset.Indexed)
	if !ok {
		return it.beginStream(state)
	}
	position := int64(0)
	if state != nil {
		position = state.Position
	}
	total := dataset.End(indexed)
	if position < 0 || position > total {
		return errs.New(errs.StateMismatch, "iterator", "the state is before element %d of a dataset of %d", position, total)
	}
	it.from(position)
	it.endsAt(total)
	if indexed, err = it.mine(indexed); err != nil {
		return err
	}
	it.claims.start, it.claims.end = it.first, dataset.End(indexed)
	if it.claims.access, err = indexed.Open(it.scope, dataset.PassKey(it.pass)); err != nil {
		return err
	}
	for range it.workers {
		it.scope.Go(it.work)
	}
	return nil
}

// Queue returns where finished groups come out, in order. An entry's Position is
// the number of its first element, its Index how many elements it has.
func (it *Iterator) Queue() *arena.Queue { return it.queue }

// Jobs returns where threads take jobs, or nil.
func (it *Iterator) Jobs() *arena.Queue {
	if it.calls == nil {
		return nil
	}
	return it.calls.queue
}

// MayLend returns how many slots a consumer may keep without stopping the pipeline.
func (it *Iterator) MayLend() int { return it.sizes.lent }

// Err returns what ended the queue early, or nil.
func (it *Iterator) Err() error { return it.delivery.err() }

// Produce makes the next group on the calling goroutine, for iterators without
// workers. While a group waits, and after the last, it does nothing. A panic ends the
// iterator, as one in a worker does.
func (it *Iterator) Produce() {
	it.inside.Lock()
	defer it.inside.Unlock()
	defer func() {
		if r := recover(); r != nil {
			it.scope.Fail(par.FromPanic(r))
		}
	}()
	if it.queue.Pushed() != it.queue.Taken() {
		return
	}
	if it.claims.stream != nil {
		for it.step() == again {
		}
		return
	}
	it.claims.Lock()
	t, state := it.tryClaim()
	it.claims.Unlock()
	if state == claimed {
		it.perform(t)
	}
}

// Stop makes workers and consumer return soon. It may be called from anywhere.
func (it *Iterator) Stop() {
	it.stop.Do(func() {
		it.queue.Cancel(-int32(errs.Cancelled))
		if it.calls != nil {
			it.calls.stop()
		}
		it.halt()
		it.scope.Fail(errs.New(errs.Cancelled, "iterator", "it was closed"))
	})
}

// halt makes workers end; what was delivered can still be taken.
func (it *Iterator) halt() {
	it.stopped.Store(true)
	it.event.Wake()
}

// Close stops the iterator and waits for its workers and Produce. Groups that are lent stay
// valid until they are released. Nobody may be waiting on the queue any more.
func (it *Iterator) Close() {
	it.Stop()
	it.close.Do(func() {
		it.inside.Lock() // Produce may be using what is cleaned up
		defer it.inside.Unlock()
		it.scope.Close()
		it.slots.close()
		it.queue.Free()
		if it.calls != nil {
			it.calls.close()
		}
		arena.FreeEvent(it.event)
	})
}

// Group is consecutive elements that are lent to a consumer in Go.
type Group struct {
	Start  int64 // number of the first
	Shapes *spec.Element
	Block  block.Block
	slot   uint64
}

// Release gives the memory of the group back.
func (g *Group) Release() { arena.Release(g.slot) }

// Next returns the next group, io.EOF, or an error. The group is the caller's
// until Release.
func (it *Iterator) Next() (*Group, error) {
	if it.workers == 0 {
		it.Produce()
	}
	for {
		e, status := it.queue.Take(time.Second)
		switch {
		case status == 0:
			arena.Lend(e.Slot)
			return lentGroup(e, it.spec)
		case status == End:
			return nil, io.EOF
		case status == -int32(errs.Cancelled):
			return nil, errs.New(errs.Cancelled, "iterator", "it was closed")
		case status < 0:
			return nil, it.Err()
		}
	}
}

// lentGroup returns the elements of an entry whose slot is lent.
func lentGroup(e arena.Entry, elements *spec.Element) (*Group, error) {
	// The address is of memory outside the Go heap, which vet cannot know.
	memory := unsafe.Slice(*(**byte)(unsafe.Pointer(&e.Address)), e.Bytes)
	b, err := readGroup(memory, int64(e.MetaOffset), elements)
	return &Group{Start: e.Position, slot: e.Slot, Block: b, Shapes: b.Shapes}, err
}
