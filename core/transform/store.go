package transform

import (
	"slices"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// store keeps the elements of two windows at places: those of one are taken in any order
// while the others come, and then turn makes those the ones to take. Elements of the
// shapes of the first lie in columns, one place after the other; others, and errors, by
// themselves. Memory is that of the most elements that were stored at once, and as
// much again for text at most; columns that are not small are mapped, since the garbage
// collector would let as much again and more be used before it looks.
//
// As a dataset.Sink it puts elements at free places: begin, then calls of Block, then
// finish.
type store struct {
	// room is how many elements there will be at most, if that is known: memory for them
	// is taken at once, as far as it is not much.
	room    int64
	shapes  *spec.Element
	columns []storeColumn
	count   int64 // places that there are
	unused  []int64
	odd     map[int64]odd
	side    int // where text is put; from the other it is taken

	into     []int64 // places that finish adds to
	incoming block.Buffer
}

type storeColumn struct {
	data     []byte
	mapped   *arena.Segment // that data is in; nil: it is not mapped
	rowBytes int64
	text     *storedText
	strings  int64 // of each element
}

type odd struct {
	block block.Block
	err   error
}

// turn ends a window, all of which was taken, and begins to take the one that came.
func (s *store) turn() {
	s.side = 1 - s.side
	for _, c := range s.columns {
		if c.text != nil {
			c.text.sides[s.side] = c.text.sides[s.side][:0]
		}
	}
}

func (s *store) begin(into []int64) {
	s.into = into
	s.incoming.Reset()
}

// Block implements dataset.Sink.
func (s *store) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	return s.incoming.Block(shapes, rows)
}

// TakeOver implements dataset.Taker.
func (s *store) TakeOver(from *block.Buffer, i int) bool {
	s.incoming.TakeOver(from, i)
	return true
}

// finish stores the elements that came, or the error that came instead, and returns
// the places since begin.
func (s *store) finish(err error) []int64 {
	if err != nil {
		s.into = append(s.into, s.place())
		s.setOdd(s.into[len(s.into)-1], odd{err: err})
		return s.into
	}
	for _, b := range s.incoming.Blocks() {
		if s.shapes == nil {
			s.adopt(b.Shapes)
		}
		first := len(s.into)
		for range b.Rows {
			s.into = append(s.into, s.place())
		}
		places := s.into[first:]
		if b.Shapes.Same(s.shapes) {
			s.put(b, places)
			continue
		}
		for i, p := range places {
			var own block.Buffer
			row, err := own.Block(b.Shapes, 1)
			if err == nil {
				row.Copy(0, b.Slice(int64(i), int64(i)+1))
			}
			s.setOdd(p, odd{row, err})
		}
	}
	return s.into
}

func (s *store) adopt(shapes *spec.Element) {
	s.shapes = shapes
	for _, c := range shapes.Components {
		col := storeColumn{}
		if c.IsText() {
			n := s.wanted(0, 16*c.Count()) / 16
			col.text, col.strings = &storedText{starts: make([]int64, 0, n), ends: make([]int64, 0, n)}, c.Count()
		} else {
			col.rowBytes, _ = c.Bytes()
		}
		s.columns = append(s.columns, col)
	}
}

// place returns a free place.
func (s *store) place() int64 {
	if n := len(s.unused); n > 0 {
		p := s.unused[n-1]
		s.unused = s.unused[:n-1]
		return p
	}
	s.count++
	return s.count - 1
}

// free makes places free.
func (s *store) free(places []int64) {
	s.unused = append(s.unused, places...)
	for _, p := range places {
		if len(s.odd) > 0 {
			delete(s.odd, p)
		}
	}
}

func (s *store) setOdd(p int64, o odd) {
	if s.odd == nil {
		s.odd = map[int64]odd{}
	}
	s.odd[p] = o
}

// mostAtOnce is how much memory is taken before it is needed.
const mostAtOnce = 32 << 20

// wanted returns how many bytes to take for values of each bytes that an element has,
// when so many are needed now.
func (s *store) wanted(need, each int64) int64 {
	if each == 0 || s.room > (1<<60)/each {
		return need
	}
	return max(need, min(s.room*each, max(mostAtOnce, 2*need)))
}

// put stores the rows of a block at places.
func (s *store) put(b block.Block, places []int64) {
	for i := range s.columns {
		c := &s.columns[i]
		if c.text != nil {
			c.text.put(b.Columns[i].Text, places, c.strings, s.side)
			continue
		}
		if need := s.count * c.rowBytes; need > int64(cap(c.data)) {
			c.grow(s.wanted(max(need, int64(cap(c.data))*5/4), c.rowBytes))
		}
		c.data = c.data[:s.count*c.rowBytes]
		kernel.Scatter(c.data, b.Columns[i].Data, int(c.rowBytes), places)
	}
}

// leastMapped is the size from which on columns are mapped.
const leastMapped = 1 << 20

// grow gives a column memory of so many bytes, with what it holds.
func (c *storeColumn) grow(bytes int64) {
	before, data := c.mapped, c.data
	c.mapped = nil
	if bytes >= leastMapped {
		if segment, err := arena.NewPrivateSegment(1, bytes, nil); err == nil {
			segment.Huge()
			c.mapped, c.data = segment, segment.Bytes()
		}
	}
	if c.mapped == nil {
		c.data = make([]byte, bytes)
	}
	c.data = c.data[:copy(c.data, data)]
	if before != nil {
		before.Close()
	}
}

// close unmaps what is mapped.
func (s *store) close() {
	for i := range s.columns {
		if c := &s.columns[i]; c.mapped != nil {
			c.mapped.Close()
			c.mapped, c.data = nil, nil
		}
	}
}

// give makes the elements at the first of the places in dst, as many as have equal
// shapes, and returns how many. Where an error is stored first, it is returned with
// 0; an error of dst with -1.
func (s *store) give(places []int64, dst dataset.Sink) (int64, error) {
	n := len(places)
	if len(s.odd) > 0 {
		if o, ok := s.odd[places[0]]; ok {
			if o.err != nil {
				return 0, o.err
			}
			out, err := dst.Block(o.block.Shapes, 1)
			if err != nil {
				return -1, err
			}
			out.Copy(0, o.block)
			return 1, nil
		}
		for i, p := range places {
			if _, ok := s.odd[p]; ok {
				n = i
				break
			}
		}
	}
	out, err := dst.Block(s.shapes, int64(n))
	if err != nil {
		return -1, err
	}
	return int64(n), out.Gather(0, s.stored(), places[:n])
}

// stored is all places as a block.
func (s *store) stored() block.Block {
	b := block.Block{Rows: s.count, Shapes: s.shapes, Columns: make([]block.Column, len(s.columns))}
	for i, c := range s.columns {
		if c.text != nil {
			c.text.upTo(s.count * c.strings)
			b.Columns[i].Text = &block.Text{Data: c.text.sides[1-s.side], Starts: c.text.starts, Ends: c.text.ends}
		} else {
			b.Columns[i] = block.Column{Data: c.data, RowBytes: c.rowBytes}
		}
	}
	return b
}

// storedText is strings at places. Those of the elements that are being stored go to one
// of two sides, one behind the other, while those on the other side are taken.
type storedText struct {
	starts, ends []int64 // in the side of each
	sides        [2][]byte
}

func (t *storedText) upTo(n int64) {
	for int64(len(t.starts)) < n {
		t.starts, t.ends = append(t.starts, 0), append(t.ends, 0)
	}
}

// put stores the strings of rows, each strings a row, at places.
func (t *storedText) put(from *block.Text, places []int64, each int64, side int) {
	t.upTo((slices.Max(places) + 1) * each)
	data, run := t.sides[side], from.Run()
	shift := int64(len(data))
	if run && len(from.Starts) > 0 {
		first := from.Starts[0]
		data = append(data, from.Data[first:from.Ends[len(from.Ends)-1]]...)
		shift -= first
	}
	for r, p := range places {
		for k := range each {
			i := int64(r)*each + k
			if !run {
				shift = int64(len(data)) - from.Starts[i]
				data = append(data, from.At(int(i))...)
			}
			t.starts[p*each+k], t.ends[p*each+k] = from.Starts[i]+shift, from.Ends[i]+shift
		}
	}
	t.sides[side] = data
}
