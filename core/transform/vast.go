package transform

import (
	"unsafe"

	"infeed/core/arena"
)

// vast is a slice whose memory is mapped when it is not small, since the garbage
// collector would let as much again and more be used before it looks. T has no pointers.
type vast[T any] struct {
	items  []T
	mapped *arena.Segment // that items is in; nil: it is not mapped
}

// Sizes in bytes from which on memory is mapped, and in large pages; and that of one.
const (
	leastMapped = 256 << 10
	leastHuge   = 8 << 20
	hugePage    = 2 << 20
)

// resize makes the slice n long. Where it needs more memory, it takes that for room
// items, or for a quarter more than it had.
func (v *vast[T]) resize(n, room int64) {
	if n > int64(cap(v.items)) {
		v.move(max(n, room, int64(cap(v.items))*5/4))
	}
	v.items = v.items[:n]
}

func (v *vast[T]) move(room int64) {
	var zero T
	before, items, size := v.mapped, v.items, int64(unsafe.Sizeof(zero))
	v.items, v.mapped = nil, nil
	if bytes := room * size; bytes >= leastHuge {
		v.mapFor((bytes+hugePage-1)/hugePage*hugePage, hugePage)
	} else if bytes >= leastMapped {
		v.mapFor(bytes, 1)
	}
	if v.items == nil {
		v.items = make([]T, room)
	}
	v.items = v.items[:copy(v.items, items)]
	if before != nil {
		before.Close()
	}
}

// mapFor maps so many bytes that begin where a page of some size does. The system gives no
// large page for a part of one.
func (v *vast[T]) mapFor(bytes, page int64) {
	segment, err := arena.NewPrivateSegment(1, bytes+page-1, nil)
	if err != nil {
		return
	}
	if page == hugePage {
		segment.Huge()
	}
	first := unsafe.Pointer(unsafe.SliceData(segment.Bytes()))
	skip := -uintptr(first) % uintptr(page)
	var zero T
	v.mapped, v.items = segment, unsafe.Slice((*T)(unsafe.Add(first, skip)), bytes/int64(unsafe.Sizeof(zero)))
}

// close unmaps what is mapped.
func (v *vast[T]) close() {
	if v.mapped != nil {
		v.mapped.Close()
	}
	v.mapped, v.items = nil, nil
}
