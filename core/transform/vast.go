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

// Sizes in bytes from which on memory is mapped, and in large pages.
const (
	leastMapped = 256 << 10
	leastHuge   = 8 << 20
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
	if bytes := room * size; bytes >= leastMapped {
		if segment, err := arena.NewPrivateSegment(1, bytes, nil); err == nil {
			if bytes >= leastHuge {
				segment.Huge()
			}
			v.mapped, v.items = segment, unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(segment.Bytes()))), room)
		}
	}
	if v.items == nil {
		v.items = make([]T, room)
	}
	v.items = v.items[:copy(v.items, items)]
	if before != nil {
		before.Close()
	}
}

// close unmaps what is mapped.
func (v *vast[T]) close() {
	if v.mapped != nil {
		v.mapped.Close()
	}
	v.mapped, v.items = nil, nil
}
