package arena

import (
	"sync"
	"syscall"
	"time"
	"unsafe"

	"infeed/core/errs"
)

// Queue hands finished batches to a consumer, in the order in which they are
// pushed. One goroutine at a time may push; the consumer may be the shim.
type Queue struct {
	head    *queueHeader
	entries []Entry
	space   *Event
	pages   []byte
}

// The memory of closed queues is kept for new ones, never unmapped: a consumer
// that is late by an instant still finds a closed queue there.
var spare = struct {
	sync.Mutex
	pages map[int][][]byte
}{pages: map[int][][]byte{}}

// NewQueue returns a queue for up to capacity entries. space is woken when an
// entry was taken and at most low are left.
func NewQueue(capacity, low int, space *Event) (*Queue, error) {
	size := 1
	for size < capacity {
		size *= 2
	}
	pages, err := queuePages(int(unsafe.Sizeof(queueHeader{})) + size*int(unsafe.Sizeof(Entry{})))
	if err != nil {
		return nil, err
	}
	clear(pages[:unsafe.Sizeof(queueHeader{})]) // entries are written before they are read
	q := &Queue{head: (*queueHeader)(unsafe.Pointer(&pages[0])), space: space, pages: pages}
	q.entries = unsafe.Slice((*Entry)(unsafe.Pointer(&pages[unsafe.Sizeof(queueHeader{})])), size)
	q.head.capacity = uint32(size)
	q.head.lowWater = uint32(low)
	q.head.space = eventNumber(space)
	return q, nil
}

func queuePages(bytes int) ([]byte, error) {
	size := 4096
	for size < bytes {
		size *= 2
	}
	spare.Lock()
	defer spare.Unlock()
	if n := len(spare.pages[size]); n > 0 {
		p := spare.pages[size][n-1]
		spare.pages[size] = spare.pages[size][:n-1]
		return p, nil
	}
	b, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, errs.Wrap(err, errs.ResourceExhausted, "arena", "cannot map %d bytes for a queue", size)
	}
	return b, nil
}

// Pointer returns where the queue begins, for the shim.
func (q *Queue) Pointer() unsafe.Pointer { return unsafe.Pointer(q.head) }

// Push adds an entry. It returns false when the queue is full.
func (q *Queue) Push(e Entry) bool {
	tail := q.head.tail.Load()
	if tail-q.head.head.Load() == uint64(len(q.entries)) {
		return false
	}
	q.entries[tail&uint64(len(q.entries)-1)] = e
	q.head.tail.Store(tail + 1)
	q.head.ready.Wake()
	return true
}

// Pushed and Taken count the entries that went in and out since the queue was made.
func (q *Queue) Pushed() uint64 { return q.head.tail.Load() }
func (q *Queue) Taken() uint64  { return q.head.head.Load() }

// Finish says that no entry will follow: once the queue is empty its consumer
// gets status, which is not 0.
func (q *Queue) Finish(status int32) {
	q.head.closed.Store(status)
	q.head.ready.Wake()
}

// Drop removes all entries that were not taken and gives each to drop. No
// consumer may be taking entries meanwhile.
func (q *Queue) Drop(drop func(Entry)) {
	for {
		e, ok := q.TryTake()
		if !ok {
			return
		}
		drop(e)
	}
}

// TryTake takes the oldest entry, as the shim does.
func (q *Queue) TryTake() (Entry, bool) {
	head := q.head.head.Load()
	tail := q.head.tail.Load()
	if head == tail {
		return Entry{}, false
	}
	e := q.entries[head&uint64(len(q.entries)-1)]
	q.head.head.Store(head + 1)
	if q.space != nil && tail-head-1 <= uint64(q.head.lowWater) {
		q.space.Wake()
	}
	return e, true
}

// Take waits for an entry. The status is that of Finish or Cancel, or 1 (see
// infeed.h, TIMEOUT) after the timeout; 0 comes with an entry.
func (q *Queue) Take(timeout time.Duration) (Entry, int32) {
	deadline := time.Now().Add(timeout)
	for {
		key := q.head.ready.Key()
		if s := q.head.cancelled.Load(); s != 0 {
			return Entry{}, s
		}
		closed := q.head.closed.Load()
		if e, ok := q.TryTake(); ok {
			return e, 0
		}
		if closed != 0 {
			return Entry{}, closed
		}
		left := time.Until(deadline)
		if left <= 0 {
			return Entry{}, 1
		}
		q.head.ready.Wait(key, left)
	}
}

// Cancel makes every consumer return status at once, entries or not.
func (q *Queue) Cancel(status int32) {
	q.head.cancelled.Store(status)
	q.head.ready.Wake()
}

// Free gives the memory of the queue back. No consumer may be in it.
func (q *Queue) Free() {
	spare.Lock()
	defer spare.Unlock()
	spare.pages[len(q.pages)] = append(spare.pages[len(q.pages)], q.pages)
	q.head, q.entries = nil, nil
}
