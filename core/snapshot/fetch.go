package snapshot

import (
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/spec"
)

// stretch is n elements that follow one another in a block; the first becomes row to of
// what is made.
type stretch struct {
	place
	to, n int64
}

var (
	placing    = sync.Pool{New: func() any { return new([]place) }}
	stretching = sync.Pool{New: func() any { return new([]stretch) }}
)

// Fetch implements dataset.RandomAccess.
func (r *Reader) Fetch(index []int64, dst dataset.Sink) error {
	if r.order != nil {
		return r.advice.to(r.inOrder(index, dst))
	}
	return r.advice.to(r.fetch(index, dst))
}

// fetch makes elements by their number in the order of chunks.
func (r *Reader) fetch(index []int64, dst dataset.Sink) error {
	if r.layout.fixed() && len(index) > 0 {
		return r.fetchFixed(index, dst)
	}
	places := placing.Get().(*[]place)
	defer func() {
		clear(*places)
		placing.Put(places)
	}()
	*places = (*places)[:0]
	near := place{}
	for _, number := range index {
		p, err := r.find(number, near)
		if err != nil {
			return err
		}
		*places = append(*places, p)
		near = p
	}
	for rest := *places; len(rest) > 0; {
		n, err := r.alike(rest, dst)
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return nil
}

// fetchFixed is Fetch where all elements have the same shapes.
func (r *Reader) fetchFixed(index []int64, dst dataset.Sink) error {
	list := stretching.Get().(*[]stretch)
	defer func() {
		clear(*list)
		stretching.Put(list)
	}()
	*list = (*list)[:0]
	near := place{}
	for at := 0; at < len(index); {
		p, err := r.find(index[at], near)
		if err != nil {
			return err
		}
		n := 1
		for most := min(int(p.at.rows-p.row), len(index)-at); n < most && index[at+n] == index[at]+int64(n); {
			n++
		}
		*list = append(*list, stretch{p, int64(at), int64(n)})
		near, at = p, at+n
	}
	out, err := dst.Block(r.layout.spec, int64(len(index)))
	if err != nil {
		return err
	}
	return r.fillAll(out, *list)
}

// alike makes the first elements, as many as have equal shapes.
func (r *Reader) alike(places []place, dst dataset.Sink) (int, error) {
	var shapes *spec.Element
	n := 0
	for ; n < len(places); n++ {
		w, err := r.where(places[n])
		if err != nil {
			return 0, err
		}
		if shapes == nil {
			shapes = r.layout.shapes(w, places[n].row)
		} else if !r.layout.shaped(w, places[n].row, shapes) {
			break
		}
	}
	out, err := dst.Block(shapes, int64(n))
	if err != nil {
		return 0, err
	}
	return n, r.fill(out, places[:n])
}

// fill makes the rows of out the elements at places.
func (r *Reader) fill(out block.Block, places []place) error {
	for from := 0; from < len(places); {
		to := from + 1
		for to < len(places) && places[to].same(places[from]) && places[to].row == places[to-1].row+1 {
			to++
		}
		if err := r.run(out, stretch{places[from], int64(from), int64(to - from)}); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// run makes rows of out a stretch.
func (r *Reader) run(out block.Block, s stretch) error {
	l, p := r.layout, s.place
	var w *where
	var err error
	for i, c := range out.Columns {
		if (c.Text != nil || l.free[i] > 0) && w == nil {
			if w, err = r.where(p); err != nil {
				return err
			}
		}
		if c.Text != nil {
			err = r.texts(c.Text, w, i, p, s.n)
		} else {
			from := p.row * c.RowBytes
			if l.free[i] > 0 {
				from = w.starts[i][p.row]
			}
			err = r.copyRange(p, l.values[i], from, c.Data[s.to*c.RowBytes:(s.to+s.n)*c.RowBytes])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// texts appends the strings of n elements.
func (r *Reader) texts(to *block.Text, w *where, i int, p place, n int64) error {
	first, last := p.row*r.layout.strings[i], (p.row+n)*r.layout.strings[i]
	if r.layout.free[i] > 0 {
		first, last = w.starts[i][p.row], w.starts[i][p.row+n]
	}
	if first == last {
		return nil
	}
	ends := w.ends[i]
	begin := int64(0)
	if first > 0 {
		begin = ends[first-1]
	}
	base := int64(len(to.Data))
	need := base + ends[last-1] - begin
	if int64(cap(to.Data)) < need {
		to.Data = append(make([]byte, 0, max(need, 2*base)), to.Data...)
	}
	to.Data = to.Data[:need]
	if err := r.copyRange(p, r.layout.values[i], begin, to.Data[base:]); err != nil {
		return err
	}
	at := begin
	for _, end := range ends[first:last] {
		to.Starts = append(to.Starts, base+at-begin)
		to.Ends = append(to.Ends, base+end-begin)
		at = end
	}
	return nil
}
