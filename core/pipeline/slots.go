package pipeline

import (
	"math"
	"sync"

	"infeed/core/arena"
	"infeed/core/errs"
	"infeed/core/invariant"
)

const (
	pageBytes = 4096
	// slotsAtOnce is how many slots of a size are mapped together where sizes are not
	// known beforehand. Memory that nobody writes to takes no room.
	slotsAtOnce = 4
	// hugeBytes is from where on segments have large pages: fewer have to be made when they
	// are written to first.
	hugeBytes = 8 << 20
	// mostSegments is how many sizes are kept for use again.
	mostSegments = 12
	// smallBytes is up to where single results are made in memory that stays.
	smallBytes = 64 << 10
)

// lasting is memory for single small results, one after the other: to map some for each, and
// to write to new pages, took as long as most results.
var lasting slots

// LastingBytes returns how much memory is mapped for single results whether or not there are any.
func LastingBytes() int64 {
	lasting.mu.Lock()
	defer lasting.mu.Unlock()
	n := int64(0)
	for _, segment := range lasting.mu.segments {
		n += int64(len(segment.Bytes()))
	}
	return n
}

// ofOne returns slots for a single result. What is lent of them stays when they are closed.
func ofOne() *slots { return &slots{small: &lasting} }

// slots is the memory that groups are made in: segments of slots of some size each.
// Which slots are free, the arena knows.
type slots struct {
	event *arena.Event // woken when one comes back
	most  int64        // bytes that are mapped, as far as those in use allow; 0: any number
	small *slots       // where slots of up to smallBytes come from; nil: they are as others
	mu    struct {
		sync.Mutex
		segments []*arena.Segment
		closed   bool
	}
}

func pages(n int64) int64 { return (n + pageBytes - 1) &^ (pageBytes - 1) }

// add maps count slots of a size.
func (s *slots) add(count int, bytes int64) (*arena.Segment, error) {
	bytes = max(pages(bytes), pageBytes)
	if bytes > math.MaxInt64/int64(count) {
		return nil, errs.New(errs.InvalidArgument, "iterator", "%d slots of %d bytes are more than can be addressed", count, bytes)
	}
	segment, err := arena.NewPrivateSegment(count, bytes, s.event)
	if err != nil {
		return nil, err
	}
	if int64(count)*bytes >= hugeBytes {
		segment.Huge(0)
	}
	s.mu.segments = append(s.mu.segments, segment)
	return segment, nil
}

// take returns a slot of at least so many bytes, and not many more.
func (s *slots) take(bytes int64) (arena.Slot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.closed {
		return arena.Slot{}, errs.New(errs.Cancelled, "iterator", "it was closed")
	}
	if s.small != nil && bytes <= smallBytes {
		return s.small.take(bytes)
	}
	for _, segment := range s.mu.segments {
		if segment.SlotSize < bytes || segment.SlotSize > 4*bytes+64*pageBytes && segment.SlotSize > groupBytes*2 {
			continue
		}
		if slot, ok := segment.TryAcquire(); ok {
			return scribbled(slot), nil
		}
	}
	bytes += bytes / 4
	count := int64(slotsAtOnce)
	if s.most > 0 {
		count = max(min(count, s.most/(2*bytes)), 1)
	}
	s.drop(count * bytes)
	segment, err := s.add(int(count), bytes)
	if err != nil {
		return arena.Slot{}, err
	}
	slot, _ := segment.TryAcquire()
	return scribbled(slot), nil
}

// scribbled makes whoever still reads a group that was released see it.
func scribbled(slot arena.Slot) arena.Slot {
	if invariant.Enabled {
		invariant.Scribble(slot.Bytes)
	}
	return slot
}

// drop unmaps idle segments when there are many, or no room for so many bytes more.
func (s *slots) drop(more int64) {
	for _, segment := range s.mu.segments {
		more += int64(len(segment.Bytes()))
	}
	kept := s.mu.segments[:0]
	for i, segment := range s.mu.segments {
		if (len(s.mu.segments)-i > mostSegments-len(kept) || s.most > 0 && more > s.most) && segment.Idle() {
			more -= int64(len(segment.Bytes()))
			segment.Close()
		} else {
			kept = append(kept, segment)
		}
	}
	s.mu.segments = kept
}

// inUse returns how many bytes the slots have in which something is made, waits or is lent.
func (s *slots) inUse() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := int64(0)
	for _, segment := range s.mu.segments {
		n += int64(segment.InUse()) * segment.SlotSize
	}
	return n
}

// close unmaps all but what is lent.
func (s *slots) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.closed = true
	for _, segment := range s.mu.segments {
		segment.Close()
	}
	s.mu.segments = nil
}
