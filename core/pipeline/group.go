package pipeline

import (
	"encoding/binary"
	"sync"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

// A group is consecutive elements of equal shapes in one slot: the columns of
// numbers, then a description, then the columns of text. The description is int64
// numbers: how many elements there are, and for each component the offset of its
// column and the dimensions of one element. How many numbers these are depends on
// the element spec only, since ranks do not differ between elements. A column of n
// strings is n+1 int64 numbers, where the strings begin and end, counted from the
// first, and behind them the strings.
//
// A slot of a job for Python may have several groups: all their columns of numbers, then
// their descriptions, each from a multiple of block.Align on, then their texts.

func metaBytes(e *spec.Element) int64 {
	n := int64(1)
	for _, c := range e.Components {
		n += 1 + int64(len(c.Shape))
	}
	return block.AlignUp(8 * n)
}

// groups is the sink that makes groups in slots. What is made after void or finish
// is of the next run of elements.
type groups struct {
	slots *slots
	made  []made
	texts []*block.Text // memory for all texts of made
	used  int
	// textBytes is how large the texts of an element were lately.
	textBytes int64
	index     []int64 // scratch memory
}

// sinks keeps groups for those who make elements. It is no sync.Pool: those are known to the runtime for two collections
// after their last use, and with them the iterator, so that memory would grow with each short pass.
type sinks struct {
	mutex sync.Mutex
	free  []*groups
}

func (s *sinks) get(slots *slots) *groups {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if len(s.free) == 0 {
		return &groups{slots: slots}
	}
	g := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return g
}

func (s *sinks) put(g *groups) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.free = append(s.free, g)
}

// numbers returns count numbers from start on.
func (g *groups) numbers(start, count int64) []int64 {
	g.index = g.index[:0]
	for i := range count {
		g.index = append(g.index, start+i)
	}
	return g.index
}

type made struct {
	slot   arena.Slot
	layout block.Layout
	block  block.Block
}

// Block implements dataset.Sink.
func (g *groups) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	l, err := block.NewLayout(shapes, rows)
	if err != nil {
		return block.Block{}, err
	}
	if err := block.Fits(l.Bytes); err != nil {
		return block.Block{}, errs.Wrap(err, errs.ResourceExhausted, "iterator", "%d elements with %s", rows, shapes.Shapes())
	}
	slot, err := g.slots.take(l.Bytes + metaBytes(shapes) + rows*g.textBytes)
	if err != nil {
		return block.Block{}, err
	}
	b := l.Over(slot.Bytes, g.newTexts(shapes))
	g.made = append(g.made, made{slot, l, b})
	return b, nil
}

func (g *groups) newTexts(shapes *spec.Element) []*block.Text {
	first := g.used
	for _, c := range shapes.Components {
		if !c.IsText() {
			continue
		}
		if g.used == len(g.texts) {
			g.texts = append(g.texts, &block.Text{})
		}
		g.texts[g.used].Reset()
		g.used++
	}
	return g.texts[first:g.used]
}

// void gives up what was made.
func (g *groups) void() {
	for _, m := range g.made {
		arena.Release(m.slot.Ref)
	}
	g.made, g.used = g.made[:0], 0
}

// finish completes what was made, elements from number start on, and adds an entry
// for each group to out.
func (g *groups) finish(start int64, out []arena.Entry) ([]arena.Entry, error) {
	for i := range g.made {
		e, err := g.complete(&g.made[i])
		if err != nil {
			for _, e := range out {
				arena.Release(e.Slot)
			}
			g.void()
			return nil, err
		}
		e.Position, e.Index = start, g.made[i].layout.Rows
		start += e.Index
		out = append(out, e)
	}
	g.made, g.used = g.made[:0], 0
	return out, nil
}

// complete writes description and texts behind the numbers of a group.
func (g *groups) complete(m *made) (arena.Entry, error) {
	meta := metaBytes(m.layout.Shapes)
	at := m.layout.Bytes + meta
	texts := textRoom(m.block)
	size := at + texts
	if size > int64(len(m.slot.Bytes)) {
		larger, err := g.slots.take(size)
		if err != nil {
			return arena.Entry{}, err
		}
		copy(larger.Bytes, m.slot.Bytes[:m.layout.Bytes])
		arena.Release(m.slot.Ref)
		m.slot = larger
	}
	if texts > 0 {
		g.textBytes = texts/max(m.layout.Rows, 1) + 1
	}
	describe(m.slot.Bytes, m.layout.Bytes, &m.layout, m.block, at)
	return ready(m.slot, m.layout.Bytes, meta), nil
}

// describe writes the description of a block, whose numbers lie in memory as the layout
// says, and its texts from an offset on. It returns where these end.
func describe(memory []byte, meta int64, l *block.Layout, b block.Block, at int64) int64 {
	numbers := memory[meta:meta]
	number := func(x int64) { numbers = binary.LittleEndian.AppendUint64(numbers, uint64(x)) }
	number(l.Rows)
	for i, c := range l.Shapes.Components {
		if t := b.Columns[i].Text; t != nil {
			number(at)
			at = block.AlignUp(writeText(memory, at, t))
		} else {
			number(l.Offsets[i])
		}
		for _, d := range c.Shape {
			number(d)
		}
	}
	return at
}

// ready returns the entry of a slot that is filled.
func ready(slot arena.Slot, metaOffset, metaBytes int64) arena.Entry {
	arena.MarkReady(slot.Ref)
	address, bytes := arena.Address(slot.Ref)
	return arena.Entry{Slot: slot.Ref, Address: address, Bytes: bytes, MetaOffset: uint64(metaOffset), MetaBytes: uint32(metaBytes)}
}

// textRoom returns how many bytes the columns of text take behind a description.
func textRoom(b block.Block) int64 {
	n := int64(0)
	for _, c := range b.Columns {
		if c.Text != nil {
			n += block.AlignUp(8*int64(c.Text.Len()+1) + c.Text.Bytes())
		}
	}
	return n
}

// groupOf puts blocks, whose elements are of one spec, into one slot: the columns of all,
// then the description of each, then the texts.
func groupOf(slots *slots, in []block.Block) (arena.Entry, error) {
	bytes, texts, rows := int64(0), int64(0), int64(0)
	layouts := make([]block.Layout, len(in))
	for i, b := range in {
		l, err := block.NewLayout(b.Shapes, b.Rows)
		if err != nil {
			return arena.Entry{}, err
		}
		for k := range l.Offsets {
			l.Offsets[k] += bytes
		}
		layouts[i] = l
		bytes, texts, rows = bytes+l.Bytes, texts+textRoom(b), rows+b.Rows
	}
	meta := metaBytes(in[0].Shapes)
	at := bytes + meta*int64(len(in))
	slot, err := slots.take(at + texts)
	if err != nil {
		return arena.Entry{}, err
	}
	for i, b := range in {
		for k, c := range b.Columns {
			if c.Text == nil {
				copy(slot.Bytes[layouts[i].Offsets[k]:][:b.Rows*c.RowBytes], c.Data)
			}
		}
		at = describe(slot.Bytes, bytes+meta*int64(i), &layouts[i], b, at)
	}
	e := ready(slot, bytes, meta*int64(len(in)))
	e.Index = rows
	return e, nil
}

// writeText writes a column of text at an offset and returns where it ends.
func writeText(memory []byte, at int64, t *block.Text) int64 {
	offsets := memory[at:]
	bytes := memory[at+8*int64(t.Len()+1):]
	n, run := int64(0), t.Run()
	binary.LittleEndian.PutUint64(offsets, 0)
	for i, from := range t.Starts {
		if run {
			n += t.Ends[i] - from
		} else {
			n += int64(copy(bytes[n:], t.Data[from:t.Ends[i]]))
		}
		binary.LittleEndian.PutUint64(offsets[8*(i+1):], uint64(n))
	}
	if run && n > 0 {
		copy(bytes, t.Data[t.Starts[0]:t.Ends[t.Len()-1]])
	}
	return at + 8*int64(t.Len()+1) + n
}

// readGroup returns the elements that memory holds, from their description; e is
// their spec. Texts refer to the same memory.
func readGroup(memory []byte, metaOffset int64, e *spec.Element) (block.Block, error) {
	bad := errs.New(errs.Internal, "group", "a description does not fit its memory")
	meta := memory[metaOffset:]
	next := func() int64 {
		if len(meta) < 8 {
			return -1
		}
		x := int64(binary.LittleEndian.Uint64(meta))
		meta = meta[8:]
		return x
	}
	shapes := &spec.Element{Structure: e.Structure}
	b := block.Block{Rows: next(), Shapes: shapes}
	for _, c := range e.Components {
		off := next()
		out := spec.Component{DType: c.DType}
		for range c.Shape {
			out.Shape = append(out.Shape, next())
		}
		n, ok := out.Bytes()
		if !ok || b.Rows < 0 || off < 0 || off+n*b.Rows > int64(len(memory)) {
			return b, bad
		}
		shapes.Components = append(shapes.Components, out)
		if c.IsText() {
			b.Columns = append(b.Columns, block.Column{Text: readText(memory[off:], b.Rows*out.Count())})
			continue
		}
		b.Columns = append(b.Columns, block.Column{Data: memory[off : off+n*b.Rows], RowBytes: n})
	}
	return b, nil
}

func readText(memory []byte, n int64) *block.Text {
	t := &block.Text{Data: memory[8*(n+1):]}
	at := func(i int64) int64 { return int64(binary.LittleEndian.Uint64(memory[8*i:])) }
	for i := range n {
		t.Starts, t.Ends = append(t.Starts, at(i)), append(t.Ends, at(i+1))
	}
	return t
}
