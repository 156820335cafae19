package transform

import (
	lru "container/list"
	"sort"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// pagedShuffle shuffles pages of consecutive elements, and then the elements of a few
// pages together, so that the input is read a page at a time.
type pagedShuffle struct {
	in dataset.Indexed
	o  ShuffleOptions
}

func newPagedShuffle(in dataset.Definition, o ShuffleOptions) (dataset.Definition, error) {
	indexed, ok := in.(dataset.Indexed)
	if !ok || in.Cardinality() < 0 {
		return nil, errs.New(errs.InvalidArgument, "shuffle",
			"page_size is for finite data with random access; explain() says which operation is in the way")
	}
	if o.Window == 0 {
		return nil, errs.New(errs.InvalidArgument, "shuffle", "with page_size, buffer_size must say how many elements are shuffled together")
	}
	return &pagedShuffle{in: indexed, o: o}, nil
}

func (s *pagedShuffle) Spec() *spec.Element { return s.in.Spec() }
func (s *pagedShuffle) Cardinality() int64  { return s.in.Cardinality() }

func (s *pagedShuffle) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(s, scope, pass, from)
}

func (s *pagedShuffle) Open(scope *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := s.in.Open(scope, pass)
	if err != nil {
		return nil, err
	}
	p := &pagedPass{in: in, order: newPagedOrder(s.in.Cardinality(), s.o, s.o.key(pass))}
	p.pages.most = 2 * int(min(p.order.together, p.order.pages.Len()))
	return p, nil
}

// pagedOrder is the order of a pass. Pages are at places: in the order of a permutation,
// so many at a time together. One page may be short, wherever its place is.
type pagedOrder struct {
	n, page  int64 // elements, and elements of a page
	together int64 // pages
	pages    *rng.Permutation
	short    int64 // the place of the page that may be short
	missing  int64 // elements that it lacks
	orders   *recent[*rng.Permutation]
}

func newPagedOrder(n int64, o ShuffleOptions, key rng.Key) *pagedOrder {
	p := &pagedOrder{n: n, page: o.Page, together: max(o.Window/o.Page, 1)}
	count := n / p.page
	if n%p.page > 0 {
		count++
	}
	p.pages = rng.NewPermutation(count, key.Derive(0))
	if p.missing = count*p.page - n; count > 0 {
		p.short = p.pages.Inverse(count - 1)
	}
	p.orders = newRecent(func(w int64) *rng.Permutation {
		from, to := p.window(w)
		return rng.NewPermutation(to-from, key.Derive(1, uint64(w)))
	})
	return p
}

// start returns how many elements are before a place.
func (p *pagedOrder) start(place int64) int64 {
	if place > p.short {
		return place*p.page - p.missing
	}
	return place * p.page
}

// place returns at which place the page is that has an element in order.
func (p *pagedOrder) place(i int64) int64 {
	if i >= p.start(p.short+1) {
		return (i + p.missing) / p.page
	}
	return i / p.page
}

// window returns the elements of the w-th pages that are shuffled together.
func (p *pagedOrder) window(w int64) (from, to int64) {
	return p.start(w * p.together), p.start(min((w+1)*p.together, p.pages.Len()))
}

// elements makes places in the order the numbers of the elements there.
func (p *pagedOrder) elements(index []int64) {
	for len(index) > 0 {
		w := p.place(index[0]) / p.together
		from, to := p.window(w)
		n := 1
		for n < len(index) && index[n] >= from && index[n] < to {
			n++
		}
		part, order := index[:n], p.orders.get(w)
		if dataset.Consecutive(part) {
			order.Fill(part, part[0]-from)
		} else {
			for i, x := range part {
				part[i] = order.At(x - from)
			}
		}
		for i, x := range part {
			place := p.place(from + x)
			part[i] = p.pages.At(place)*p.page + from + x - p.start(place)
		}
		index = index[n:]
	}
}

// pagedPass is the elements of one pass.
type pagedPass struct {
	in    dataset.RandomAccess
	order *pagedOrder
	pages pages
}

func (p *pagedPass) Fetch(index []int64, dst dataset.Sink) error {
	p.order.elements(index)
	held := p.pages.get(index, p.order.page)
	for _, h := range held {
		if h.once.Do(func() { p.read(h) }); h.err != nil { // which element fails is the input's to say
			return p.in.Fetch(index, dst)
		}
	}
	picks := picking.Get().(*[]pickedRow)
	defer picking.Put(picks)
	for len(index) > 0 {
		*picks = (*picks)[:0]
		for i, x := range index {
			pick := held[i].row(x % p.order.page)
			if i > 0 && !pick.block.Shapes.Same((*picks)[0].block.Shapes) {
				break
			}
			*picks = append(*picks, pick)
		}
		out, err := dst.Block((*picks)[0].block.Shapes, int64(len(*picks)))
		if err != nil {
			return err
		}
		copyRows(out, *picks)
		index, held = index[len(*picks):], held[len(*picks):]
	}
	return nil
}

// read reads a page.
func (p *pagedPass) read(h *heldPage) {
	first := h.number * p.order.page
	index := make([]int64, min(p.order.page, p.order.n-first))
	for i := range index {
		index[i] = first + int64(i)
	}
	h.err = errs.New(errs.Internal, "shuffle", "another goroutine failed to read page %d", h.number) // where Fetch panics
	h.err = p.in.Fetch(index, &h.elements)
	n := int64(0)
	for _, b := range h.elements.Blocks() {
		n += b.Rows
		h.ends = append(h.ends, n)
	}
}

// heldPage is a page in memory.
type heldPage struct {
	number   int64
	once     sync.Once
	err      error
	elements block.Buffer
	ends     []int64 // behind the last row of each block
	at       *lru.Element
}

// row returns where a row of the page is.
func (h *heldPage) row(row int64) pickedRow {
	i := 0
	if len(h.ends) > 1 {
		i = sort.Search(len(h.ends), func(i int) bool { return h.ends[i] > row })
	}
	b := &h.elements.Blocks()[i]
	return pickedRow{b, row - h.ends[i] + b.Rows}
}

// pages is the pages that were used last.
type pages struct {
	most int

	mu     sync.Mutex
	held   map[int64]*heldPage
	recent lru.List // of heldPage; the front was used last
}

// get returns the page of each element.
func (p *pages) get(index []int64, size int64) []*heldPage {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]*heldPage, len(index))
	for i, x := range index {
		h := p.held[x/size]
		if h == nil {
			if p.held == nil {
				p.held = map[int64]*heldPage{}
			}
			h = &heldPage{number: x / size}
			p.held[h.number], h.at = h, p.recent.PushFront(h)
		} else {
			p.recent.MoveToFront(h.at)
		}
		out[i] = h
	}
	for p.recent.Len() > p.most {
		delete(p.held, p.recent.Remove(p.recent.Back()).(*heldPage).number)
	}
	return out
}
