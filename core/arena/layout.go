package arena

import (
	"sync/atomic"
	"unsafe"
)

// States of a slot.
const (
	Free    uint32 = 0
	Filling uint32 = 1
	Ready   uint32 = 2
	Lent    uint32 = 3
)

// Event is a word to wait on. Key is read before the condition is checked and
// given to Wait, so that a Wake in between is not missed.
type Event struct {
	seq     atomic.Uint32
	waiters atomic.Uint32
	_       [56]byte // a cache line of its own
}

// Entry is one finished batch as the consumer sees it.
type Entry struct {
	Position   int64  // place in the order of delivery
	Index      int64  // which batch it is
	Job        uint64 // names the result where the batch is a Python object
	Slot       uint64 // reference to the slot it lies in; 0 none
	Address    uint64 // where the slot begins in this process
	Bytes      uint64 // size of the slot
	MetaOffset uint64 // where in the slot the description of the arrays begins
	MetaBytes  uint32
	Status     int32 // 0 a batch; negative the kind of an error
}

// queueHeader precedes the entries of a queue. head is written by the consumer,
// tail by the producer.
type queueHeader struct {
	ready     Event
	head      atomic.Uint64
	_         [56]byte
	tail      atomic.Uint64
	capacity  uint32 // a power of two
	lowWater  uint32 // with more entries than this left, taking one wakes nobody
	space     uint32 // number+1 of the Event that is woken when an entry was taken
	closed    atomic.Int32
	cancelled atomic.Int32
	_         [36]byte
}

// slotWord is generation<<32 | state.
type slotRecord struct {
	word    atomic.Uint64
	address uint64
	bytes   uint64
	segment uint32
	event   uint32 // number+1 of the Event that is woken when the slot comes back; 0 none
}

// segmentRecord counts who needs a segment: its arena, and each lent slot. The
// last to leave unmaps it and sets refs to segmentGone.
type segmentRecord struct {
	refs    atomic.Int32
	_       uint32
	address uint64
	bytes   uint64
}

const (
	maxSlots    = 1 << 16
	maxSegments = 1 << 14
	maxEvents   = 1 << 12

	segmentGone = -1
)

// registry is the one table of slots, segments and events of this process.
type registry struct {
	slots    [maxSlots]slotRecord
	segments [maxSegments]segmentRecord
	events   [maxEvents]Event
}

// Layout tells sizes and offsets, in bytes, for comparison with capi/infeed.h.
func Layout() map[string]uintptr {
	var h queueHeader
	var s slotRecord
	var g segmentRecord
	var r registry
	var e Entry
	return map[string]uintptr{
		"event":            unsafe.Sizeof(Event{}),
		"entry":            unsafe.Sizeof(Entry{}),
		"entry.status":     unsafe.Offsetof(e.Status),
		"entry.slot":       unsafe.Offsetof(e.Slot),
		"queue":            unsafe.Sizeof(h),
		"queue.head":       unsafe.Offsetof(h.head),
		"queue.tail":       unsafe.Offsetof(h.tail),
		"queue.space":      unsafe.Offsetof(h.space),
		"queue.capacity":   unsafe.Offsetof(h.capacity),
		"queue.low_water":  unsafe.Offsetof(h.lowWater),
		"queue.closed":     unsafe.Offsetof(h.closed),
		"queue.cancelled":  unsafe.Offsetof(h.cancelled),
		"slot":             unsafe.Sizeof(s),
		"slot.segment":     unsafe.Offsetof(s.segment),
		"slot.event":       unsafe.Offsetof(s.event),
		"segment":          unsafe.Sizeof(g),
		"segment.address":  unsafe.Offsetof(g.address),
		"registry.slots":   unsafe.Offsetof(r.slots),
		"registry.segment": unsafe.Offsetof(r.segments),
		"registry.events":  unsafe.Offsetof(r.events),
	}
}
