package transform

import (
	"sort"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// stored is the dataset of elements in memory.
type stored struct {
	spec   *spec.Element
	blocks []block.Block
	ends   []int64 // number after the last element of each block
}

// Stored returns the dataset of the rows of blocks, which have to stay as they are
// as long as it is used: the elements of a window or of a group.
func Stored(elements *spec.Element, blocks []block.Block) dataset.Indexed {
	s := &stored{spec: elements, blocks: blocks, ends: make([]int64, len(blocks))}
	n := int64(0)
	for i, b := range blocks {
		n += b.Rows
		s.ends[i] = n
	}
	return s
}

func (s *stored) Spec() *spec.Element { return s.spec }

func (s *stored) Cardinality() int64 {
	if len(s.ends) == 0 {
		return 0
	}
	return s.ends[len(s.ends)-1]
}

func (s *stored) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(s, scope, pass, from)
}

func (s *stored) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return s, nil }

func (s *stored) Fetch(index []int64, dst dataset.Sink) error {
	for from := 0; from < len(index); {
		i := sort.Search(len(s.ends), func(i int) bool { return s.ends[i] > index[from] })
		if i == len(s.ends) || index[from] < 0 {
			return errs.New(errs.Internal, "stored", "element %d of %d", index[from], s.Cardinality())
		}
		b := s.blocks[i]
		first := s.ends[i] - b.Rows
		to := from
		for ; to < len(index) && index[to] >= first && index[to] < s.ends[i]; to++ {
			index[to] -= first
		}
		out, err := dst.Block(b.Shapes, int64(to-from))
		if err != nil {
			return err
		}
		if err := out.Gather(0, b, index[from:to]); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// kept is elements that are gathered one by one. Those of equal shapes that follow
// one another share a block.
type kept struct {
	blocks []block.Block
	rows   int64
}

// add adds a row of a block.
func (k *kept) add(b block.Block, row int64) {
	last := len(k.blocks) - 1
	if last < 0 || !k.blocks[last].Shapes.Same(b.Shapes) {
		empty := block.Block{Shapes: b.Shapes, Columns: make([]block.Column, len(b.Columns))}
		for i, c := range b.Columns {
			empty.Columns[i].RowBytes = c.RowBytes
			if c.Text != nil {
				empty.Columns[i].Text = &block.Text{}
			}
		}
		k.blocks = append(k.blocks, empty)
		last++
	}
	into := &k.blocks[last]
	for i := range into.Columns {
		c, src := &into.Columns[i], b.Columns[i]
		if c.Text != nil {
			n := b.Shapes.Components[i].Count()
			c.Text.AppendRange(src.Text, int(row*n), int((row+1)*n))
		} else {
			c.Data = append(c.Data, src.Data[row*c.RowBytes:(row+1)*c.RowBytes]...)
		}
	}
	into.Rows++
	k.rows++
}

// last returns the last n elements only.
func (k *kept) last(n int64) kept {
	out := kept{rows: n}
	skip := k.rows - n
	for _, b := range k.blocks {
		gone := min(skip, b.Rows)
		skip -= gone
		for row := gone; row < b.Rows; row++ {
			out.add(b, row)
		}
	}
	out.rows = n
	return out
}
