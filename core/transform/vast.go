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
	leastMapped = 64 << 10
	leastHuge   = 8 << 20
	hugePage    = 2 << 20
)

// resize makes the slice n long. Where it needs more memory, it takes that for a quarter
// more than it had, or, once it is not small, for room items.
func (v *vast[T]) resize(n, room int64) {
	if n > int64(cap(v.items)) {
		enough := max(n, int64(cap(v.items))*5/4)
		if bytesOf[T](n) < leastMapped {
			room = enough
		}
		v.move(max(enough, room), enough, n)
	}
	v.items = v.items[:n]
}

// move takes memory for the first of some numbers of items for which the system gives it.
// It panics where it gives none and that is much: Go would end the process.
func (v *vast[T]) move(rooms ...int64) {
	var to vast[T]
	var err error
	for _, room := range rooms {
		if to, err = takeVast[T](room); err == nil {
			break
		}
	}
	if err != nil {
		panic(errs.Wrap(err, errs.ResourceExhausted, "shuffle", "there is no memory for its window; give a smaller buffer_size"))
	}
	to.items = to.items[:copy(to.items, v.items)]
	v.close()
	*v = to
}

// takeVast returns memory for room items. Large pages begin where a page of their size does,
// since the system gives none for a part of one, and behind the first: a window may turn out
// to be small, as those of datasets that a function makes are.
func takeVast[T any](room int64) (vast[T], error) {
	bytes, page := bytesOf[T](room), int64(1)
	if bytes < leastMapped {
		return vast[T]{items: make([]T, room)}, nil
	}
	if bytes >= leastHuge {
		page = hugePage
		bytes = (bytes + page - 1) / page * page
	}
	segment, err := arena.NewPrivateSegment(1, bytes+page-1, nil)
	if err != nil && bytes < leastHuge { // there are many segments, perhaps
		return vast[T]{items: make([]T, room)}, nil
	}
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
