package transform

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// store keeps the elements of two windows at places: those of one are taken in any order
// while the others come, and then turn makes those the ones to take. Elements of the
// shapes of the first lie in columns, one place after the other; others, and errors, by
// themselves. Memory is that of the most elements that were stored at once, and as
// much again for text at most.
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
	unused  vast[int64]
	odd     map[int64]odd
	side    int // where text is put; from the other it is taken

	into     *vast[int64] // places that finish adds to
	incoming block.Buffer
}

type storeColumn struct {
	data     vast[byte]
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
			c.text.sides[s.side].resize(0, 0)
		}
	}
}

func (s *store) begin(into *vast[int64]) {
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

// finish stores the elements that came, or the error that came instead, and adds their
// places to those of begin.
func (s *store) finish(err error) {
	if err != nil {
		s.setOdd(s.places(1)[0], odd{err: err})
		return
	}
	for _, b := range s.incoming.Blocks() {
		if s.shapes == nil {
			s.adopt(b.Shapes)
		}
		places := s.places(b.Rows)
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
}

func (s *store) adopt(shapes *spec.Element) {
	s.shapes = shapes
	for _, c := range shapes.Components {
		col := storeColumn{}
		if c.IsText() {
			col.text, col.strings = &storedText{}, c.Count()
		} else {
			col.rowBytes, _ = c.Bytes()
		}
		s.columns = append(s.columns, col)
	}
}

// places returns n free places, which are added to those of begin.
func (s *store) places(n int64) []int64 {
	first := int64(len(s.into.items))
	s.into.resize(first+n, s.wanted(first+n, 8, 1))
	places := s.into.items[first:]
	left := int64(len(s.unused.items))
	used := copy(places, s.unused.items[max(left-n, 0):])
	s.unused.items = s.unused.items[:left-int64(used)]
	for i := used; i < len(places); i++ {
		places[i] = s.count
		s.count++
	}
	return places
}

// free makes places free.
func (s *store) free(places []int64) {
	left := int64(len(s.unused.items))
	s.unused.resize(left+int64(len(places)), s.wanted(left, 8, 1))
	copy(s.unused.items[left:], places)
	if len(s.odd) > 0 {
		for _, p := range places {
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

// wanted returns for how many values to take memory, of so many bytes each and so many
// of an element, when so many are needed now.
func (s *store) wanted(need, bytes, each int64) int64 {
	if each == 0 || s.room > (1<<60)/(bytes*each) {
		return need
	}
	return max(need, min(s.room*each, max(mostAtOnce/bytes, 2*need)))
}

// put stores the rows of a block at places.
func (s *store) put(b block.Block, places []int64) {
	for i := range s.columns {
		c := &s.columns[i]
		if c.text != nil {
			strings := s.count * c.strings
			c.text.upTo(strings, s.wanted(strings, 8, c.strings))
			text := b.Columns[i].Text
			bytes := int64(len(c.text.sides[s.side].items)) + text.Bytes()
			each := bytes/max(int64(len(s.into.items)), 1)*21/20 + 1 // a little more than elements had so far
			c.text.put(text, places, c.strings, s.side, bytes, s.wanted(bytes, 1, each))
			continue
		}
		need := s.count * c.rowBytes
		c.data.resize(need, s.wanted(need, 1, c.rowBytes))
		kernel.Scatter(c.data.items, b.Columns[i].Data, int(c.rowBytes), places)
	}
}

// close unmaps what is mapped.
func (s *store) close() {
	s.unused.close()
	for i := range s.columns {
		c := &s.columns[i]
		if c.data.close(); c.text != nil {
			c.text.close()
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
			c.text.upTo(s.count*c.strings, 0) // those of a row without strings too
			b.Columns[i].Text = &block.Text{Data: c.text.sides[1-s.side].items, Starts: c.text.starts.items, Ends: c.text.ends.items}
		} else {
			b.Columns[i] = block.Column{Data: c.data.items, RowBytes: c.rowBytes}
		}
	}
	return b
}

// storedText is strings at places. Those of the elements that are being stored go to one
// of two sides, one behind the other, while those on the other side are taken.
type storedText struct {
	starts, ends vast[int64] // in the side of each
	sides        [2]vast[byte]
	shifted      []int64 // scratch memory
}

// upTo makes room for strings at n places.
func (t *storedText) upTo(n, room int64) {
	t.starts.resize(n, room)
	t.ends.resize(n, room)
}

// put stores the strings of rows, each strings a row, at places. Their side has so many bytes
// then. Where it has to grow, it takes memory for room of them: to grow is to copy, and new
// pages cost more than that.
func (t *storedText) put(from *block.Text, places []int64, each int64, side int, bytes, room int64) {
	at, run := int64(len(t.sides[side].items)), from.Run()
	t.sides[side].resize(bytes, room)
	data := t.sides[side].items
	shift := at
	if run && len(from.Starts) > 0 {
		first := from.Starts[0]
		copy(data[at:], from.Data[first:from.Ends[len(from.Ends)-1]])
		shift -= first
	}
	t.shifted = t.shifted[:0]
	for i, start := range from.Starts {
		if !run {
			shift = at - start
			at += int64(copy(data[at:], from.At(i)))
		}
		t.shifted = append(t.shifted, start+shift)
	}
	kernel.Scatter(bytesOf(t.starts.items), bytesOf(t.shifted), int(8*each), places)
	for i, start := range from.Starts {
		t.shifted[i] += from.Ends[i] - start
	}
	kernel.Scatter(bytesOf(t.ends.items), bytesOf(t.shifted), int(8*each), places)
}

func (t *storedText) close() {
	t.starts.close()
	t.ends.close()
	t.sides[0].close()
	t.sides[1].close()
}
