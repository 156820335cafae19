package dataset

import (
	"math"
	"sync"
)

// Budget bounds the bytes that the stages of an iterator which work ahead hold together.
// A stage that holds nothing takes one piece all the same, however large, so that none
// waits for another. A nil Budget has no bound.
type Budget struct {
	limit int64
	mu    struct {
		sync.Mutex
		held int64
		room chan struct{} // closed when something was given back; nil: nobody waits
	}
}

// NewBudget returns a budget of so many bytes.
func NewBudget(limit int64) *Budget { return &Budget{limit: limit} }

// Limit returns how many bytes there are.
func (b *Budget) Limit() int64 {
	if b == nil {
		return math.MaxInt64
	}
	return b.limit
}

// Hold says that a stage holds so many more bytes.
func (b *Budget) Hold(bytes int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mu.held += bytes
}

// GiveBack says that a stage holds so many fewer bytes.
func (b *Budget) GiveBack(bytes int64) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.held -= bytes; b.mu.room != nil {
		close(b.mu.room)
		b.mu.room = nil
	}
}

// Room tells whether there is any. If not, changed is closed when something was given
// back.
func (b *Budget) Room() (yes bool, changed <-chan struct{}) {
	if b == nil {
		return true, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mu.held < b.limit {
		return true, nil
	}
	if b.mu.room == nil {
		b.mu.room = make(chan struct{})
	}
	return false, b.mu.room
}
