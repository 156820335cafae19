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
	"infeed/core/transform"
)

// Options says which pass an iterator walks over, and how.
type Options struct {
	Pass  int64     `json:"pass"`
	Shard *[2]int64 `json:"shard"` // how many readers, which of them
	State *State    `json:"state"` // instead of Pass
	// Workers is how many goroutines make elements; 0: the consumer itself does.
	Workers int `json:"workers"`
	// RAMBudget bounds the memory of slots, in bytes, as far as one element at a
	// time for each worker allows; 0: 256 MiB.
	RAMBudget int64 `json:"ram_budget"`
	// GroupBytes is how large groups grow; 0: about a mebibyte.
	GroupBytes int64 `json:"group_bytes"`
}

// Iterator walks over one pass of a dataset. Its methods are for one goroutine at
// a time.
type Iterator struct {
	dataset *Dataset
	spec    *spec.Element
	pass    int64
	shard   *[2]int64
	sizes   sizes

	workers  int
	segment  *arena.Segment
	event    *arena.Event // a slot came back, or groups were taken
	queue    *arena.Queue
	group    *par.Group
	stopped  atomic.Bool
	stop     sync.Once
	close    sync.Once
	claims   claims
	delivery delivery
}

// End is the status with which the queue of an iterator ends (see infeed.h).
const End int32 = 3

// Iterate starts an iterator. It must be closed.
func (d *Dataset) Iterate(o Options) (*Iterator, error) {
	it := &Iterator{dataset: d, pass: o.Pass, shard: o.Shard, workers: o.Workers}
	var from dataset.Token
	if o.State != nil {
		resumed, err := d.resumed(o.State, o.Shard)
		if err != nil {
			return nil, err
		}
		it.dataset, it.pass, from.Position = resumed, o.State.Pass, o.State.Position
	}
	if it.pass < 0 || o.Workers < 0 || o.RAMBudget < 0 {
		return nil, errs.New(errs.InvalidArgument, "iterator", "pass %d, %d workers, %d bytes; none may be negative", it.pass, o.Workers, o.RAMBudget)
	}
	def, err := it.dataset.share(o.Shard)
	if err != nil {
		return nil, err
	}
	it.spec = def.Spec()
	if it.claims.walk, err = dataset.NewIterator(def.Open(dataset.PassKey(it.pass)), def.Cardinality(), from); err != nil {
		return nil, err
	}
	if it.sizes, err = newSizes(def.Bound(), o); err != nil {
		return nil, err
	}
	return it, it.start()
}

// share returns what one of several readers reads.
func (d *Dataset) share(shard *[2]int64) (dataset.Definition, error) {
	if shard == nil {
		return d.def, nil
	}
	return transform.Shard(d.def, shard[0], shard[1])
}

func (it *Iterator) start() (err error) {
	it.event = arena.NewEvent()
	if it.segment, err = arena.NewPrivateSegment(it.sizes.slots, it.sizes.slotBytes, it.event); err != nil {
		arena.FreeEvent(it.event)
		return err
	}
	if it.queue, err = arena.NewQueue(it.sizes.ahead, it.event); err != nil {
		it.segment.Close()
		arena.FreeEvent(it.event)
		return err
	}
	it.delivery.init(it.queue, it.sizes.ahead)
	it.group = par.NewGroup(func(err error) {
		it.delivery.abort(err)
		it.halt()
	})
	for range it.workers {
		it.group.Go(it.work)
	}
	return nil
}

// Queue returns where finished groups come out, in order. An entry's Position is
// the number of its first element, its Index how many elements it has.
func (it *Iterator) Queue() *arena.Queue { return it.queue }

// MayLend returns how many slots a consumer may keep without stopping the pipeline.
func (it *Iterator) MayLend() int { return it.sizes.lent }

// State returns the state before the element of the given number.
func (it *Iterator) State(position int64) State {
	return it.dataset.State(it.pass, position, it.shard)
}

// Err returns what ended the queue early, or nil.
func (it *Iterator) Err() error { return it.delivery.err() }

// Produce makes the next group on the calling goroutine, for iterators without
// workers. While a group waits, and after the last, it does nothing.
func (it *Iterator) Produce() error {
	if it.queue.Pushed() != it.queue.Taken() {
		return nil
	}
	it.claims.Lock()
	t, state := it.tryClaim()
	it.claims.Unlock()
	switch state {
	case claimed:
		it.perform(t)
	case full:
		return errs.New(errs.ResourceExhausted, "iterator", "the consumer keeps all %d groups; release some", it.sizes.slots)
	}
	return nil
}

// Stop makes workers and consumer return soon. It may be called from anywhere.
func (it *Iterator) Stop() {
	it.stop.Do(func() {
		it.queue.Cancel(-int32(errs.Cancelled))
		it.halt()
	})
}

// halt makes workers end; what was delivered can still be taken.
func (it *Iterator) halt() {
	it.stopped.Store(true)
	it.event.Wake()
}

// Close stops the iterator and waits for its workers. Groups that are lent stay
// valid until they are released. Nobody may be waiting on the queue any more.
func (it *Iterator) Close() {
	it.Stop()
	it.close.Do(func() {
		it.group.Wait()
		it.segment.Close()
		it.queue.Free()
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
		if err := it.Produce(); err != nil {
			return nil, err
		}
	}
	for {
		e, status := it.queue.Take(time.Second)
		switch {
		case status == 0:
			arena.Lend(e.Slot)
			g := &Group{Start: e.Position, slot: e.Slot}
			g.Block, g.Shapes = readGroup(it.segment.Bytes()[it.offset(e):], int64(e.MetaOffset), it.spec)
			return g, nil
		case status == End:
			return nil, io.EOF
		case status == -int32(errs.Cancelled):
			return nil, errs.New(errs.Cancelled, "iterator", "it was closed")
		case status < 0:
			return nil, it.Err()
		}
	}
}

// offset returns where in the segment the slot of an entry begins.
func (it *Iterator) offset(e arena.Entry) int64 {
	return int64(e.Address) - int64(uintptr(unsafe.Pointer(unsafe.SliceData(it.segment.Bytes()))))
}
