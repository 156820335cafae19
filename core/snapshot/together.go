package snapshot

import (
	"sync"
	"sync/atomic"

	"infeed/core/block"
	"infeed/core/par"
)

// helpedBytes is from how many bytes on several goroutines make the elements of a Fetch,
// and partBytes how large their parts are where a block can be read in parts.
const (
	helpedBytes = 256 << 10
	partBytes   = 512 << 10
)

// fillAll makes the rows of out the elements of stretches, with the reader's helpers
// where there are any and it pays.
func (r *Reader) fillAll(out block.Block, list []stretch) error {
	if r.helpers < 1 || out.Bytes() < helpedBytes || len(r.layout.parts) > len(out.Columns) {
		for _, s := range list {
			if err := r.run(out, s); err != nil {
				return err
			}
		}
		return nil
	}
	list = r.parted(out, list)
	var next atomic.Int64
	var first sync.Once
	var failed error
	fail := func(err error) { first.Do(func() { failed = err }) }
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(list)); i = next.Add(1) - 1 {
			if err := r.run(out, list[i]); err != nil {
				fail(err)
			}
		}
	}
	group := par.NewGroup(fail)
	for range min(r.helpers, len(list)-1) {
		group.Go(work)
	}
	work()
	group.Wait()
	return failed
}

// parted cuts stretches that are stored as they are into parts.
func (r *Reader) parted(out block.Block, list []stretch) []stretch {
	n := max(partBytes/rowBytes(out), 1)
	parts := make([]stretch, 0, 2*len(list))
	for _, s := range list {
		for !r.packed(s.place) && s.n > n {
			parts = append(parts, stretch{s.place, s.to, n})
			s.row, s.to, s.n = s.row+n, s.to+n, s.n-n
		}
		parts = append(parts, s)
	}
	return parts
}

// packed tells whether any piece of a block has to be decompressed.
func (r *Reader) packed(p place) bool {
	for i := range p.at.pieces {
		if p.at.pieces[i].codec != None {
			return true
		}
	}
	return false
}
