package transform

import (
	"unsafe"

	"infeed/core/arena"
	"infeed/core/errs"
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
		v.move(n, max(n, room, int64(cap(v.items))*5/4))
	}
	v.items = v.items[:n]
}

// move takes memory for room items, or for n where the system does not give that. It
// panics where it does not even give that: Go would end the process.
func (v *vast[T]) move(n, room int64) {
	var to vast[T]
	var err error
	if bytesOf[T](room) >= leastMapped {
		if to, err = mapVast[T](room); err != nil && room > n {
			room = n
			to, err = mapVast[T](room)
		}
	}
	if err != nil && bytesOf[T](n) >= leastHuge {
		panic(errs.Wrap(err, errs.ResourceExhausted, "shuffle", "there is no memory for its window; give a smaller buffer_size"))
	}
	if to.items == nil {
		to.items = make([]T, room)
	}
	to.items = to.items[:copy(to.items, v.items)]
	v.close()
	*v = to
}

// mapVast maps memory for room items. Large pages begin where a page of their size does,
// since the system gives none for a part of one, and behind the first: a window may turn out
// to be small, as those of datasets that a function makes are.
func mapVast[T any](room int64) (vast[T], error) {
	bytes, page := bytesOf[T](room), int64(1)
	if bytes >= leastHuge {
		page = hugePage
		bytes = (bytes + page - 1) / page * page
	}
	segment, err := arena.NewPrivateSegment(1, bytes+page-1, nil)
	if err != nil {
		return vast[T]{}, err
	}
	first := unsafe.Pointer(unsafe.SliceData(segment.Bytes()))
	skip := -uintptr(first) % uintptr(page)
	if page == hugePage {
		segment.Huge(int64(skip) + page)
	}
	return vast[T]{unsafe.Slice((*T)(unsafe.Add(first, skip)), bytes/bytesOf[T](1)), segment}, nil
}

func bytesOf[T any](items int64) int64 {
	var zero T
	return items * int64(unsafe.Sizeof(zero))
}

// close unmaps what is mapped.
func (v *vast[T]) close() {
	if v.mapped != nil {
		v.mapped.Close()
	}
	v.mapped, v.items = nil, nil
}
