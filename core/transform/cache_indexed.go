package transform

import (
	"math"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

type indexedCache struct {
	in   dataset.Indexed
	kept *cachedRows
}

// cachedRows is the elements of an indexed dataset that were asked for.
type cachedRows struct {
	mu     sync.RWMutex
	pages  map[int64]*cachedPage
	blocks []block.Block
}

// cachedPage says where elements are: 0, or the row and, above it, 1 more than the
// number of the block.
type cachedPage [cachedPageRows]uint64

const cachedPageRows = 4096

// places looks up where elements are; neighbours are mostly on one page. The lock is
// held while it is used.
type places struct {
	*cachedRows
	page   *cachedPage
	number int64 // of the page, from 1
}

// of returns where an element is kept; 0: it is not.
func (p *places) of(number int64) uint64 {
	if n := number/cachedPageRows + 1; n != p.number {
		p.page, p.number = p.pages[n-1], n
	}
	if p.page == nil {
		return 0
	}
	return p.page[number%cachedPageRows]
}

func (c *indexedCache) Spec() *spec.Element { return c.in.Spec() }
func (c *indexedCache) Cardinality() int64  { return c.in.Cardinality() }

func (c *indexedCache) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(c, s, pass, from)
}

func (c *indexedCache) Open(s *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) {
	in, err := c.in.Open(s, cachedPass)
	return &cachePass{cachedRows: c.kept, in: in}, err
}

type cachePass struct {
	*cachedRows
	in dataset.RandomAccess
}

func (p *cachePass) Fetch(index []int64, dst dataset.Sink) error {
	missing := scratch.Get().(*[]int64)
	defer scratch.Put(missing)
	*missing = p.missing((*missing)[:0], index)
	if len(*missing) > 0 {
		if err := p.make(*missing); err != nil {
			return err
		}
	}
	for from := 0; from < len(index); {
		n, err := p.give(index[from:], dst)
		if err != nil {
			return err
		}
		from += n
	}
	return nil
}

// missing appends the numbers of elements that are not kept.
func (p *cachePass) missing(to, index []int64) []int64 {
	p.mu.RLock()
	defer p.mu.RUnlock()
	at := places{cachedRows: p.cachedRows}
	for _, number := range index {
		if at.of(number) == 0 {
			to = append(to, number)
		}
	}
	return to
}

// make makes elements and keeps them.
func (p *cachePass) make(numbers []int64) error {
	var buffer block.Buffer
	copied := scratch.Get().(*[]int64)
	defer scratch.Put(copied)
	*copied = append((*copied)[:0], numbers...)
	if err := p.in.Fetch(*copied, &buffer); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range buffer.Blocks() {
		p.blocks = append(p.blocks, b)
		numbers = p.note(numbers, b.Rows)
	}
	return nil
}

// note writes that the next rows are those of the last block.
func (p *cachePass) note(numbers []int64, rows int64) []int64 {
	for r := range rows {
		number := numbers[r]
		page := p.pages[number/cachedPageRows]
		if page == nil {
			page = &cachedPage{}
			p.pages[number/cachedPageRows] = page
		}
		page[number%cachedPageRows] = uint64(len(p.blocks))<<32 | uint64(r)
	}
	return numbers[rows:]
}

// give gives the first elements, as many as have equal shapes, and returns how many.
func (p *cachePass) give(index []int64, dst dataset.Sink) (int, error) {
	picks := picking.Get().(*[]pickedRow)
	defer picking.Put(picks)
	*picks = p.find((*picks)[:0], index)
	shapes := (*picks)[0].block.Shapes
	out, err := dst.Block(shapes, int64(len(*picks)))
	if err != nil {
		return 0, err
	}
	copyRows(out, *picks)
	return len(*picks), nil
}

// pickedRow is a row of a block.
type pickedRow struct {
	block *block.Block
	row   int64
}

// picking keeps memory for lists of rows.
var picking = sync.Pool{New: func() any { return new([]pickedRow) }}

// find appends where the first elements are, those of equal shapes.
func (p *cachePass) find(to []pickedRow, index []int64) []pickedRow {
	p.mu.RLock()
	defer p.mu.RUnlock()
	at := places{cachedRows: p.cachedRows}
	for _, number := range index {
		w := at.of(number)
		b := &p.blocks[w>>32-1]
		if len(to) > 0 && b.Shapes != to[0].block.Shapes && !b.Shapes.Same(to[0].block.Shapes) {
			break
		}
		to = append(to, pickedRow{b, int64(w & math.MaxUint32)})
	}
	return to
}

// copyRows makes the rows of out those that were picked, of equal shapes.
func copyRows(out block.Block, picks []pickedRow) {
	for i, c := range out.Columns {
		data := c.Data
		n := out.Shapes.Components[i].Count()
		for _, p := range picks {
			src := p.block.Columns[i]
			if c.Text != nil {
				c.Text.AppendRange(src.Text, int(p.row*n), int((p.row+1)*n))
			} else {
				data = data[copy(data, src.Data[p.row*c.RowBytes:(p.row+1)*c.RowBytes]):]
			}
		}
	}
}
