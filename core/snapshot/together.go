package snapshot

import (
	"sync"
	"sync/atomic"

	"infeed/core/block"
	"infeed/core/par"
)

// helpedBytes is from how many bytes on several goroutines make the elements of a Fetch,
// and portionBytes how much of a piece that is stored as it is one of them reads at a time.
const (
	helpedBytes  = 256 << 10
	portionBytes = 256 << 10
)

// portion is bytes of a piece, from a place on, and where they go.
type portion struct {
	place
	part int
	from int64
	dst  []byte
}

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
	portions := r.portions(out, list)
	var next atomic.Int64
	var first sync.Once
	var failed error
	fail := func(err error) { first.Do(func() { failed = err }) }
	work := func() {
		for i := next.Add(1) - 1; i < int64(len(portions)); i = next.Add(1) - 1 {
			p := &portions[i]
			if err := r.copyRange(p.place, p.part, p.from, p.dst); err != nil {
				fail(err)
			}
		}
	}
	group := par.NewGroup(fail)
	for range min(r.helpers, len(portions)-1) {
		group.Go(work)
	}
	work()
	group.Wait()
	return failed
}

// portions cuts stretches into portions, which end where pages do.
func (r *Reader) portions(out block.Block, list []stretch) []portion {
	var all []portion
	for _, s := range list {
		for i, c := range out.Columns {
			p := portion{s.place, r.layout.values[i], s.row * c.RowBytes, c.Data[s.to*c.RowBytes : (s.to+s.n)*c.RowBytes]}
			for s.at.pieces[p.part].codec == None && len(p.dst) > portionBytes {
				n := portionBytes - p.from%pageBytes
				all = append(all, portion{p.place, p.part, p.from, p.dst[:n]})
				p.from, p.dst = p.from+n, p.dst[n:]
			}
			all = append(all, p)
		}
	}
	return all
}
