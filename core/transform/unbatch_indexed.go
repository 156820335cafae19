package transform

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

func (u *indexedUnbatch) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(u, s, pass, from)
}

func (u *indexedUnbatch) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := u.in.Open(s, pass)
	return &unbatchPass{in: in, size: u.size, parts: u.parts}, err
}

type unbatchPass struct {
	in    dataset.RandomAccess
	size  int64
	parts []raggedPart
}

// Fetch makes each batch once for a run of its elements. Whole batches are made in
// their place.
func (p *unbatchPass) Fetch(index []int64, dst dataset.Sink) error {
	n := int64(len(index))
	if n > 0 && p.parts == nil && index[0]%p.size == 0 && n%p.size == 0 && dataset.Consecutive(index) {
		first := index[0] / p.size
		index = index[:n/p.size]
		for i := range index {
			index[i] = first + int64(i)
		}
		return p.in.Fetch(index, &splitting{dst: dst, size: p.size})
	}
	wanted := scratch.Get().(*[]int64)
	defer scratch.Put(wanted)
	*wanted = (*wanted)[:0]
	batches := index[:0] // never longer than what was read of index
	last := int64(-1)
	for _, x := range index {
		if x/p.size != last {
			last = x / p.size
			batches = append(batches, last)
		}
		*wanted = append(*wanted, int64(len(batches)-1)*p.size+x%p.size)
	}
	in := borrow()
	defer giveBack(in)
	if err := p.in.Fetch(batches, in); err != nil {
		return err
	}
	if p.parts != nil {
		return p.pickRagged(in.Blocks(), *wanted, dst)
	}
	return p.pick(in.Blocks(), *wanted, dst)
}

// pick makes rows of consecutive blocks of batches; wanted counts up, batch by batch.
func (p *unbatchPass) pick(blocks []block.Block, wanted []int64, dst dataset.Sink) error {
	before := int64(0)
	for _, b := range blocks {
		size, each, err := unbatched("unbatch", b.Shapes, nil)
		if err != nil {
			return err
		}
		rows := b.Split(size, each)
		n := 0
		for ; n < len(wanted) && wanted[n] < before+rows.Rows; n++ {
			wanted[n] -= before
		}
		if n > 0 {
			if err := choose(rows, wanted[:n], dst); err != nil {
				return err
			}
		}
		wanted = wanted[n:]
		before += rows.Rows
	}
	return nil
}

// pickRagged is pick for ragged batches.
func (p *unbatchPass) pickRagged(blocks []block.Block, wanted []int64, dst dataset.Sink) error {
	rows := &raggedRows{parts: p.parts}
	before := int64(0)
	for _, b := range blocks {
		for k := int64(0); k < b.Rows; k, before = k+1, before+p.size {
			if len(wanted) == 0 || wanted[0] >= before+p.size {
				continue
			}
			if err := rows.open("unbatch", b.Slice(k, k+1)); err != nil {
				return err
			}
			for len(wanted) > 0 && wanted[0] < before+p.size {
				n := 1
				for n < len(wanted) && wanted[n] == wanted[n-1]+1 && wanted[n] < before+p.size {
					n++
				}
				from := wanted[0] - before
				if err := rows.hand(from, from+int64(n), dst); err != nil {
					return err
				}
				wanted = wanted[n:]
			}
		}
	}
	return nil
}

// splitting is a sink for batches of size each, whose elements go to another.
type splitting struct {
	dst  dataset.Sink
	size int64
}

// Block implements dataset.Sink.
func (s *splitting) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	size, each, err := unbatched("unbatch", shapes, nil)
	if err != nil {
		return block.Block{}, err
	}
	out, err := s.dst.Block(each, rows*size)
	if err != nil {
		return out, err
	}
	batches := block.Block{Rows: rows, Shapes: shapes, Columns: make([]block.Column, len(out.Columns))}
	for i, c := range out.Columns {
		batches.Columns[i] = block.Column{Data: c.Data, RowBytes: c.RowBytes * size, Text: c.Text}
	}
	return batches, nil
}
