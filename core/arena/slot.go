package arena

import "unsafe"

// Slot is a slot that its holder is filling.
type Slot struct {
	Ref     uint64 // generation<<32 | number
	Index   int    // place in its segment
	Bytes   []byte
	segment *Segment
}

// Segment returns the segment that the slot belongs to; nil for the zero Slot.
func (s Slot) Segment() *Segment { return s.segment }

func nextGeneration(word uint64, state uint32) uint64 {
	if state == Filling || state == Free {
		return (word>>32+1)<<32 | uint64(state)
	}
	return word&^0xffffffff | uint64(state)
}

func record(ref uint64) *slotRecord {
	n := uint32(ref)
	if n == 0 || n >= maxSlots {
		return nil
	}
	return &table().slots[n]
}

// MarkReady ends the filling of a slot. It returns false for a stale reference.
func MarkReady(ref uint64) bool {
	rec := record(ref)
	g := ref &^ 0xffffffff
	return rec != nil && rec.word.CompareAndSwap(g|uint64(Filling), g|uint64(Ready))
}

// Lend gives a ready slot to a consumer, who must Release it. It returns false
// for a stale reference.
func Lend(ref uint64) bool {
	rec := record(ref)
	if rec == nil {
		return false
	}
	g := ref &^ 0xffffffff
	table().segments[rec.segment].refs.Add(1)
	if rec.word.CompareAndSwap(g|uint64(Ready), g|uint64(Lent)) {
		return true
	}
	unrefSegment(rec.segment)
	return false
}

// Release frees a slot in whatever state it is, and wakes the event of its
// segment. A stale reference is ignored: it returns false.
func Release(ref uint64) bool {
	rec := record(ref)
	if rec == nil {
		return false
	}
	for {
		w := rec.word.Load()
		if w>>32 != ref>>32 || uint32(w) == Free {
			return false
		}
		// Whom to wake is read first: afterwards the slot may belong to others.
		event, segment, lent := rec.event, rec.segment, uint32(w) == Lent
		if !rec.word.CompareAndSwap(w, nextGeneration(w, Free)) {
			continue
		}
		if lent {
			unrefSegment(segment)
		}
		if event != 0 {
			table().events[event-1].Wake()
		}
		return true
	}
}

// Memory returns the memory of a slot that the caller was lent, until Release.
func Memory(ref uint64) []byte {
	rec := record(ref)
	if rec == nil {
		return nil
	}
	// The address is of mapped memory, which the collector does not move.
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&rec.address)), rec.bytes)
}

// Address returns where a slot lies in this process and how large it is.
func Address(ref uint64) (address, bytes uint64) {
	rec := record(ref)
	if rec == nil {
		return 0, 0
	}
	return rec.address, rec.bytes
}

// Private returns an entry whose slot, in memory of its own, is lent and holds b.
func Private(b []byte) (Entry, error) {
	segment, err := NewPrivateSegment(1, int64(len(b)), nil)
	if err != nil {
		return Entry{}, err
	}
	defer segment.Close()
	slot, _ := segment.TryAcquire()
	copy(slot.Bytes, b)
	MarkReady(slot.Ref)
	Lend(slot.Ref)
	address, bytes := Address(slot.Ref)
	return Entry{Slot: slot.Ref, Address: address, Bytes: bytes}, nil
}
