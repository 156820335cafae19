package transform

import (
	"sync"
	"time"

	"infeed/core/block"
)

// pace finds how many elements of a dataset are read at a time.
type pace struct {
	bytes int64 // aim
	mu    struct {
		sync.Mutex
		limit int64
		last  int64 // bytes of what was read last
	}
}

// expected is how many bytes the next elements of a lane will have, as far as is known.
func (p *pace) expected() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.last
}

const (
	paceTime  = time.Millisecond
	paceLimit = 4096
)

// read reads the next elements of a lane.
func (p *pace) read(l *lane, b *block.Buffer) error {
	p.mu.Lock()
	limit := max(p.mu.limit, 1)
	p.mu.Unlock()
	start := time.Now()
	n := int64(0)
	for n == 0 {
		var err error
		if n, err = l.it.Next(limit, b); err != nil {
			b.Reset()
			return err
		}
		if n == 0 {
			b.Reset()
		}
	}
	took, bytes := time.Since(start), b.Bytes()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.last = bytes
	switch {
	case took > 2*paceTime || bytes > p.bytes:
		p.mu.limit = max(limit/2, 1)
	case n == limit && took < paceTime && 2*bytes <= p.bytes && limit < paceLimit:
		p.mu.limit = max(p.mu.limit, 2*limit)
	}
	return nil
}
