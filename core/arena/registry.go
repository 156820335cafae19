package arena

import (
	"sync"
	"syscall"
	"unsafe"

	"infeed/core/errs"
)

// table is made once and never unmapped; untouched pages of it cost nothing.
var table = sync.OnceValue(func() *registry {
	size := int(unsafe.Sizeof(registry{}))
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		panic(errs.Wrap(err, errs.ResourceExhausted, "arena", "cannot map %d bytes", size))
	}
	return (*registry)(unsafe.Pointer(&b[0]))
})

// RegistryPointer returns where the registry begins, for the shim.
func RegistryPointer() unsafe.Pointer { return unsafe.Pointer(table()) }

// claims says which records of the registry are in use. Runs of slots that were
// given back are kept by length, since arenas ask for the same few lengths.
var claims = claimsType{nextSlot: 1, freeRuns: map[int][]uint32{}}

type claimsType struct {
	sync.Mutex
	nextSlot    uint32
	freeRuns    map[int][]uint32
	nextSegment uint32
	segments    []claimedSegment // in use, or gone and not yet noticed
	freeSegment []uint32
	nextEvent   uint32
	freeEvent   []uint32
}

type claimedSegment struct {
	segment, firstSlot uint32
	slots              int
}

// claimSegment returns the numbers of a segment for mapped memory, to which it then
// has a reference, and of its first slot.
func claimSegment(b []byte, slots int) (segment, first uint32, err error) {
	c := &claims
	c.Lock()
	defer c.Unlock()
	c.reclaim()
	if n := len(c.freeSegment); n > 0 {
		segment, c.freeSegment = c.freeSegment[n-1], c.freeSegment[:n-1]
	} else if c.nextSegment < maxSegments {
		segment = c.nextSegment
		c.nextSegment++
	} else {
		return 0, 0, errs.New(errs.ResourceExhausted, "arena", "%d segments are in use; close datasets or drop batches", maxSegments)
	}
	if runs := c.freeRuns[slots]; len(runs) > 0 {
		first, c.freeRuns[slots] = runs[len(runs)-1], runs[:len(runs)-1]
	} else if int(c.nextSlot)+slots <= maxSlots {
		first = c.nextSlot
		c.nextSlot += uint32(slots)
	} else {
		c.freeSegment = append(c.freeSegment, segment)
		return 0, 0, errs.New(errs.ResourceExhausted, "arena", "%d batches are in use; close datasets or drop batches", maxSlots)
	}
	c.segments = append(c.segments, claimedSegment{segment, first, slots})
	// Before the lock is given up: until it has a reference, it looks as if it were gone.
	g := &table().segments[segment]
	g.address, g.bytes = uint64(uintptr(unsafe.Pointer(&b[0]))), uint64(len(b))
	g.refs.Store(1)
	return segment, first, nil
}

// reclaim takes back the numbers of segments that were unmapped.
func (c *claimsType) reclaim() {
	kept := c.segments[:0]
	for _, s := range c.segments {
		if table().segments[s.segment].refs.Load() != segmentGone {
			kept = append(kept, s)
			continue
		}
		c.freeSegment = append(c.freeSegment, s.segment)
		c.freeRuns[s.slots] = append(c.freeRuns[s.slots], s.firstSlot)
	}
	c.segments = kept
}

// NewEvent returns an event that the shim can wake. Give it back with FreeEvent.
func NewEvent() *Event {
	c := &claims
	c.Lock()
	defer c.Unlock()
	if n := len(c.freeEvent); n > 0 {
		i := c.freeEvent[n-1]
		c.freeEvent = c.freeEvent[:n-1]
		return &table().events[i]
	}
	if c.nextEvent == maxEvents {
		panic(errs.New(errs.ResourceExhausted, "arena", "%d datasets are open; close some", maxEvents))
	}
	c.nextEvent++
	return &table().events[c.nextEvent-1]
}

// FreeEvent gives e back. A late Wake of it is harmless.
func FreeEvent(e *Event) {
	c := &claims
	c.Lock()
	defer c.Unlock()
	c.freeEvent = append(c.freeEvent, eventNumber(e)-1)
}

// eventNumber returns the number of e in the registry, plus one; 0 for nil.
func eventNumber(e *Event) uint32 {
	if e == nil {
		return 0
	}
	base := uintptr(unsafe.Pointer(&table().events[0]))
	return uint32((uintptr(unsafe.Pointer(e))-base)/unsafe.Sizeof(Event{})) + 1
}

// MappedBytes returns how much segment memory is mapped, lent slots included.
func MappedBytes() int64 {
	c := &claims
	c.Lock()
	defer c.Unlock()
	c.reclaim()
	var sum int64
	for _, s := range c.segments {
		sum += int64(table().segments[s.segment].bytes)
	}
	return sum
}
