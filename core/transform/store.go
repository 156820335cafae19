package transform

import (
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// store keeps the elements of two windows at places: those of one are taken in any order
// while the others come, and then turn makes those the ones to take. Elements of the
// shapes of the first lie one after the other, all of an element side by side, since to
// read and to write one is to fetch it from memory; others, and errors, lie by themselves,
// at places below 0. Memory is that of the most elements that were stored at once, and as much again for text
// at most.
//
// As a dataset.Sink it puts elements at free places: begin, then calls of Block, then
// finish.
type store struct {
	// room is how many elements there will be at most: memory for them is mapped at once,
	// as far as it is not much.
	room    int64
	shapes  *spec.Element
	columns []storeColumn
	rows    vast[byte]
	stride  int64 // bytes from one row to the next
	count   int64 // places that there are
	unused  vast[int64]
	odd     map[int64]odd
	lastOdd int64
	side    int // where text is put; from the other it is taken

	into     *vast[int64] // places that finish adds to
	incoming block.Buffer
	shifted  []int64 // scratch memory
}

// storeColumn is a component: its numbers, or where its strings begin, then where they
// end, in one of two sides. There they lie one behind the other: those of elements that are
// being stored in one, while those in the other are taken.
type storeColumn struct {
	at, bytes int64          // in a row; of text, twice
	sides     *[2]vast[byte] // nil: numbers
}

type odd struct {
	block block.Block
	err   error
}

// turn ends a window, all of which was taken, and begins to take the one that came.
func (s *store) turn() {
	s.side = 1 - s.side
	for _, c := range s.columns {
		if c.sides != nil {
			c.sides[s.side].resize(0, 0)
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
		s.putOdd(odd{err: err})
		return
	}
	for _, b := range s.incoming.Blocks() {
		if s.shapes == nil {
			s.adopt(b.Shapes)
		}
		if b.Shapes.Same(s.shapes) {
			s.put(b, s.places(b.Rows))
			continue
		}
		for i := range b.Rows {
			var own block.Buffer
			row, err := own.Block(b.Shapes, 1)
			if err == nil {
				row.Copy(0, b.Slice(i, i+1))
			}
			s.putOdd(odd{row, err})
		}
	}
}

func (s *store) adopt(shapes *spec.Element) {
	s.shapes = shapes
	for _, c := range shapes.Components {
		col := storeColumn{at: s.stride}
		if c.IsText() {
			col.sides, col.bytes = &[2]vast[byte]{}, 8*c.Count()
			s.stride += col.bytes
		} else {
			col.bytes, _ = c.Bytes()
		}
		s.stride += col.bytes
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
	if len(s.odd) == 0 {
		copy(s.unused.items[left:], places)
		return
	}
	s.unused.items = s.unused.items[:left]
	for _, p := range places {
		if p < 0 {
			delete(s.odd, p)
		} else {
			s.unused.items = append(s.unused.items, p)
		}
	}
}

// putOdd stores what is no row.
func (s *store) putOdd(o odd) {
	if s.odd == nil {
		s.odd = map[int64]odd{}
	}
	s.lastOdd--
	s.odd[s.lastOdd] = o
	n := int64(len(s.into.items))
	s.into.resize(n+1, s.wanted(n+1, 8, 1))
	s.into.items[n] = s.lastOdd
}

// mostAtOnce is how much memory is mapped before it is needed: the system gives its pages
// as they are written, while to grow is to copy, and to have all of it twice meanwhile.
const mostAtOnce = 1 << 30

// wanted returns for how many values to take memory, of so many bytes each and so many
// of an element, when so many are needed now.
func (s *store) wanted(need, bytes, each int64) int64 {
	if each == 0 {
		return need
	}
	most := min(s.room, (1<<60)/(bytes*each)) * each
	return max(need, min(most, max(mostAtOnce/bytes, 2*need)))
}

// put stores the rows of a block at places.
func (s *store) put(b block.Block, places []int64) {
	need := s.count * s.stride
	s.rows.resize(need, s.wanted(need, 1, s.stride))
	for i, c := range s.columns {
		if c.sides != nil {
			s.putText(c, b.Columns[i].Text, places)
		} else {
			s.putAt(c.at, c.bytes, b.Columns[i].Data, places)
		}
	}
}

func (s *store) putAt(at, bytes int64, from []byte, places []int64) {
	if bytes > 0 {
		kernel.Scatter(s.rows.items[at:], from, int(bytes), int(s.stride), places)
	}
}

// putText adds strings to a side. Where that has to grow, it takes memory for a little
// more than elements had so far: to grow is to copy, and new pages cost more than that.
func (s *store) putText(c storeColumn, from *block.Text, places []int64) {
	side := &c.sides[s.side]
	at, run := int64(len(side.items)), from.Run()
	bytes := at + from.Bytes()
	side.resize(bytes, s.wanted(bytes, 1, bytes/max(int64(len(s.into.items)), 1)*21/20+1))
	shift := at
	if run && len(from.Starts) > 0 {
		first := from.Starts[0]
		copy(side.items[at:], from.Data[first:from.Ends[len(from.Ends)-1]])
		shift -= first
	}
	s.shifted = s.shifted[:0]
	for i, start := range from.Starts {
		if !run {
			shift = at - start
			at += int64(copy(side.items[at:], from.At(i)))
		}
		s.shifted = append(s.shifted, start+shift)
	}
	s.putAt(c.at, c.bytes, kernel.Bytes(s.shifted), places)
	for i, start := range from.Starts {
		s.shifted[i] += from.Ends[i] - start
	}
	s.putAt(c.at+c.bytes, c.bytes, kernel.Bytes(s.shifted), places)
}

// close unmaps what is mapped.
func (s *store) close() {
	s.unused.close()
	s.rows.close()
	for _, c := range s.columns {
		if c.sides != nil {
			c.sides[0].close()
			c.sides[1].close()
		}
	}
}

// give makes the elements at the first of the places in dst, as many as have equal
// shapes, and returns how many. Where an error is stored first, it is returned.
func (s *store) give(places []int64, dst dataset.Sink) (int64, error) {
	n := slices.IndexFunc(places, func(p int64) bool { return p < 0 })
	switch n {
	case 0:
		return s.giveOdd(s.odd[places[0]], dst)
	case -1:
		n = len(places)
	}
	out, err := dst.Block(s.shapes, int64(n))
	if err != nil {
		return 0, err
	}
	if err := s.copyTo(out, places[:n]); err != nil {
		return 0, err
	}
	return int64(n), nil
}

// copyTo copies the elements at places, all of which are rows.

func (s *store) copyTo(out block.Block, places []int64) error {
	for i, c := range s.columns {
		if c.sides == nil {
			if err := s.take(c.at, c.bytes, out.Columns[i].Data, places); err != nil {
				return err
			}
			continue
		}
		strings := len(places) * int(c.bytes/8)
		err := out.Columns[i].Text.AppendPlaced(c.sides[1-s.side].items, strings, func(starts, ends []byte) error {
			if err := s.take(c.at, c.bytes, starts, places); err != nil {
				return err
			}
			return s.take(c.at+c.bytes, c.bytes, ends, places)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *store) giveOdd(o odd, dst dataset.Sink) (int64, error) {
	if o.err != nil {
		return 0, o.err
	}
	out, err := dst.Block(o.block.Shapes, 1)
	if err != nil {
		return 0, err
	}
	out.Copy(0, o.block)
	return 1, nil
}

func (s *store) take(at, bytes int64, to []byte, places []int64) error {
	if bytes == 0 {
		return nil
	}
	return kernel.Gather(to, s.rows.items[at:], int(bytes), int(s.stride), places)
}
