package snapshot

import (
	"container/list"
	"sync"

	"infeed/core/errs"
)

// mostCached bounds, in bytes, what a reader keeps of decompressed pieces and of where
// elements of different shapes lie.
const mostCached = 64 << 20

// cache keeps the values that were used last. They do not change.
type cache struct {
	mu    sync.Mutex
	items map[cacheKey]*cached
	order list.List // of cached; the front was used last
	bytes int64
}

type cacheKey struct{ chunk, block, part int }

// cached is a value of the cache. Whoever gets one gives it back with done.
type cached struct {
	key   cacheKey
	at    *list.Element
	made  chan struct{} // closed when value, bytes and err are there
	value any
	bytes int64
	err   error
	free  func() // takes the memory of the value back; nil: the collector does

	users   int
	served  int64
	counted bool // in the bytes of the cache
	gone    bool // from the cache
}

// get returns what is kept for a key, or has it made. Others who want it wait.
func (c *cache) get(key cacheKey, make func(*cached) error) (*cached, error) {
	c.mu.Lock()
	if v := c.items[key]; v != nil {
		v.users++
		c.order.MoveToFront(v.at)
		c.mu.Unlock()
		<-v.made
		if v.err != nil {
			c.done(v, 0)
		}
		return v, v.err
	}
	v := c.add(key)
	c.mu.Unlock()
	c.make(v, make)
	if v.err != nil {
		c.done(v, 0)
	}
	return v, v.err
}

// add is called with mu locked.
func (c *cache) add(key cacheKey) *cached {
	v := &cached{key: key, made: make(chan struct{}), users: 1}
	if c.items == nil {
		c.items = map[cacheKey]*cached{}
	}
	c.items[key] = v
	v.at = c.order.PushFront(v)
	return v
}

// make makes a value, and drops those that were not used for longest.
func (c *cache) make(v *cached, make func(*cached) error) {
	v.err = errs.New(errs.Internal, "snapshot", "another goroutine failed to read it") // where make panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		close(v.made)
		if v.err != nil {
			c.drop(v)
			return
		}
		v.counted = true
		c.bytes += v.bytes
		for last := c.oldest(); c.bytes > mostCached && last != v && last.counted; last = c.oldest() {
			c.drop(last)
		}
	}()
	v.err = make(v)
}

func (c *cache) oldest() *cached { return c.order.Back().Value.(*cached) }

// drop takes a value out of the cache. It is called with mu locked.
func (c *cache) drop(v *cached) {
	if v.gone {
		return
	}
	v.gone = true
	delete(c.items, v.key)
	c.order.Remove(v.at)
	if v.counted {
		c.bytes -= v.bytes
	}
	v.recycle()
}

// done gives a value back of which so many bytes were used. What was used once in all
// its parts, as a walk does, is not kept.
func (c *cache) done(v *cached, served int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v.users--
	if v.served += served; v.free != nil && v.served >= v.bytes {
		c.drop(v)
	}
	v.recycle()
}

func (v *cached) recycle() {
	if v.gone && v.users == 0 && v.free != nil {
		v.free()
		v.free = nil
	}
}
