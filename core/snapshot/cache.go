package snapshot

import "sync"

// mostCached bounds, in bytes, what a reader keeps of decompressed pieces and of where
// elements of different shapes lie.
const mostCached = 64 << 20

// cache keeps the values that were used last. They do not change.
type cache struct {
	mu    sync.Mutex
	items map[cacheKey]*cached
	bytes int64
	clock int64
}

type cacheKey struct{ chunk, block, part int }

type cached struct {
	value any
	bytes int64
	used  int64
}

// get returns what is kept for a key, or makes it. Two goroutines may make it at once.
func (c *cache) get(key cacheKey, make func() (any, int64, error)) (any, error) {
	c.mu.Lock()
	c.clock++
	if v := c.items[key]; v != nil {
		v.used = c.clock
		c.mu.Unlock()
		return v.value, nil
	}
	c.mu.Unlock()
	value, bytes, err := make()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.items == nil {
		c.items = map[cacheKey]*cached{}
	}
	if old := c.items[key]; old != nil {
		return old.value, nil
	}
	c.items[key] = &cached{value, bytes, c.clock}
	c.bytes += bytes
	for c.bytes > mostCached && len(c.items) > 1 {
		c.evict()
	}
	return value, nil
}

// peek returns what is kept for a key; nil: nothing.
func (c *cache) peek(key cacheKey) any {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v := c.items[key]; v != nil {
		c.clock++
		v.used = c.clock
		return v.value
	}
	return nil
}

func (c *cache) evict() {
	var oldest cacheKey
	at := c.clock + 1
	for k, v := range c.items {
		if v.used < at {
			oldest, at = k, v.used
		}
	}
	c.bytes -= c.items[oldest].bytes
	delete(c.items, oldest)
}
