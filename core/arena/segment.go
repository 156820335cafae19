package arena

import (
	"os"
	"syscall"
	"unsafe"

	"infeed/core/errs"
)

const sysMemfdCreate = 319 // linux/amd64

// Segment is mapped memory cut into equal slots. File is its memfd, for handing to
// other processes; it is closed by Close, the memory may live longer. A private
// segment has none.
type Segment struct {
	File     *os.File
	SlotSize int64
	number   uint32
	first    uint32
	slots    int
	bytes    []byte
}

// NewSegment maps shared memory for the given number of slots of slotSize bytes.
// event is woken whenever a slot comes back.
func NewSegment(slots int, slotSize int64, event *Event) (*Segment, error) {
	file, err := NewFile(int64(slots) * slotSize)
	if err != nil {
		return nil, err
	}
	s, err := MapSegment(file, slots, slotSize, event)
	if err != nil {
		file.Close()
	}
	return s, err
}

// NewPrivateSegment is NewSegment for memory that no other process will need. It
// takes no descriptor, and a forked child keeps what was in it at the fork.
func NewPrivateSegment(slots int, slotSize int64, event *Event) (*Segment, error) {
	size := int64(slots) * slotSize
	b, err := syscall.Mmap(-1, 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON|syscall.MAP_NORESERVE)
	if err != nil {
		return nil, errs.Wrap(err, errs.ResourceExhausted, "arena", "cannot map %d bytes", size)
	}
	return cut(nil, b, slots, slotSize, event)
}

// MapSegment maps the memory behind file, which it then owns.
func MapSegment(file *os.File, slots int, slotSize int64, event *Event) (*Segment, error) {
	size := int64(slots) * slotSize
	b, err := syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, errs.Wrap(err, errs.ResourceExhausted, "arena", "cannot map %d bytes of shared memory", size)
	}
	return cut(file, b, slots, slotSize, event)
}

// cut makes a segment of mapped memory, which is unmapped when it fails.
func cut(file *os.File, b []byte, slots int, slotSize int64, event *Event) (*Segment, error) {
	number, first, err := claimSegment(b, slots)
	if err != nil {
		syscall.Munmap(b)
		return nil, err
	}
	s := &Segment{File: file, SlotSize: slotSize, number: number, first: first, slots: slots, bytes: b}
	r := table()
	for i := range slots {
		rec := &r.slots[first+uint32(i)]
		rec.address = r.segments[number].address + uint64(int64(i)*slotSize)
		rec.bytes, rec.segment = uint64(slotSize), number
		rec.event = eventNumber(event)
		rec.word.Store(nextGeneration(rec.word.Load(), Free))
	}
	return s, nil
}

// NewFile returns an anonymous file in memory.
func NewFile(size int64) (*os.File, error) {
	name := []byte("infeed\x00")
	fd, _, e := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(&name[0])), 1|2 /* CLOEXEC, ALLOW_SEALING */, 0)
	if e != 0 {
		return nil, errs.Wrap(e, errs.ResourceExhausted, "arena", "cannot make shared memory; too many open files?")
	}
	if err := syscall.Ftruncate(int(fd), size); err != nil {
		syscall.Close(int(fd))
		return nil, errs.Wrap(err, errs.ResourceExhausted, "arena", "cannot size shared memory to %d bytes", size)
	}
	return os.NewFile(fd, "infeed-memfd"), nil
}

const madviseHuge, madviseNoHuge = 14, 15 // linux

// Huge asks for large pages from some byte on, for memory that is used all over, and for
// small ones before it. The system may have none.
func (s *Segment) Huge(from int64) {
	_ = syscall.Madvise(s.bytes[:from], madviseNoHuge)
	_ = syscall.Madvise(s.bytes[from:], madviseHuge)
}

// Number names the segment among all of this process.
func (s *Segment) Number() uint32 { return s.number }

// Slots returns how many slots the segment has.
func (s *Segment) Slots() int { return s.slots }

// Bytes returns all its memory. It must not be used after Close.
func (s *Segment) Bytes() []byte { return s.bytes }

// TryAcquire takes a free slot of the segment for filling, the first one: what was
// in use lately is likely to be in the cache.
func (s *Segment) TryAcquire() (Slot, bool) {
	for i := range s.slots {
		if slot, ok := s.TryAcquireAt(i); ok {
			return slot, true
		}
	}
	return Slot{}, false
}

// TryAcquireAt takes the i-th slot for filling, if it is free.
func (s *Segment) TryAcquireAt(i int) (Slot, bool) {
	n := s.first + uint32(i)
	rec := &table().slots[n]
	w := rec.word.Load()
	next := nextGeneration(w, Filling)
	if uint32(w) != Free || !rec.word.CompareAndSwap(w, next) {
		return Slot{}, false
	}
	off := int64(i) * s.SlotSize
	return Slot{Ref: next&^0xffffffff | uint64(n), Index: i,
		Bytes: s.bytes[off : off+s.SlotSize : off+s.SlotSize], segment: s}, true
}

// Idle tells that none of its slots is being filled, waited for or lent.
func (s *Segment) Idle() bool { return s.count(Free) == s.slots }

// InUse returns how many of its slots are being filled, waited for or lent.
func (s *Segment) InUse() int { return s.slots - s.count(Free) }

func (s *Segment) count(state uint32) int {
	n := 0
	for i := range s.slots {
		if uint32(table().slots[s.first+uint32(i)].word.Load()) == state {
			n++
		}
	}
	return n
}

// Close gives the segment up. Slots that are ready or being filled are lost;
// memory that is lent stays mapped until it is given back. Nobody may be filling
// a slot any more, unless in another process.
func (s *Segment) Close() {
	for i := range s.slots {
		rec := &table().slots[s.first+uint32(i)]
		for {
			w := rec.word.Load()
			if uint32(w) == Lent || rec.word.CompareAndSwap(w, nextGeneration(w, Free)) {
				break
			}
		}
	}
	s.File.Close()
	s.bytes = nil
	unrefSegment(s.number)
}

func unrefSegment(number uint32) {
	g := &table().segments[number]
	if g.refs.Add(-1) != 0 {
		return
	}
	syscall.Syscall(syscall.SYS_MUNMAP, uintptr(g.address), uintptr(g.bytes), 0)
	g.refs.Store(segmentGone)
}
