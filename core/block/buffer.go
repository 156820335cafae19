package block

import (
	"infeed/core/errs"
	"infeed/core/invariant"
	"infeed/core/spec"
)

// Buffer is memory of its own for blocks. It can be filled over and over: Reset
// forgets the blocks and keeps the memory for the next ones. The zero Buffer is
// empty.
type Buffer struct {
	blocks []Block
	parts  []part
}

// part is the memory of the i-th block, whichever that is.
type part struct {
	memory []byte
	texts  []*Text
}

// Block adds a block for rows elements of the given shapes and returns it.
func (b *Buffer) Block(shapes *spec.Element, rows int64) (Block, error) {
	l, err := NewLayout(shapes, rows)
	if err != nil {
		return Block{}, err
	}
	if err := Fits(l.Bytes); err != nil {
		return Block{}, errs.Wrap(err, errs.ResourceExhausted, "buffer", "%d elements with %s", rows, shapes.Shapes())
	}
	if len(b.blocks) == len(b.parts) {
		b.parts = append(b.parts, part{})
	}
	out := b.parts[len(b.blocks)].over(l)
	b.blocks = append(b.blocks, out)
	return out, nil
}

func (p *part) over(l Layout) Block {
	if int64(cap(p.memory)) < l.Bytes {
		p.memory = make([]byte, l.Bytes)
	}
	p.memory = p.memory[:l.Bytes]
	if invariant.Enabled {
		invariant.Scribble(p.memory)
	}
	texts := 0
	for _, c := range l.Shapes.Components {
		if c.IsText() {
			texts++
		}
	}
	for len(p.texts) < texts {
		p.texts = append(p.texts, &Text{})
	}
	for _, t := range p.texts {
		t.Reset()
	}
	return l.Over(p.memory, p.texts)
}

// TakeOver adds block i of another buffer, without copying: their memory is exchanged,
// and the block is void there.
func (b *Buffer) TakeOver(from *Buffer, i int) {
	at := len(b.blocks)
	if at == len(b.parts) {
		b.parts = append(b.parts, part{})
	}
	b.parts[at], from.parts[i] = from.parts[i], b.parts[at]
	b.blocks = append(b.blocks, from.blocks[i])
	from.blocks[i].Columns = nil
}

// Blocks returns the blocks since the last Reset.
func (b *Buffer) Blocks() []Block { return b.blocks }

// Rows returns how many elements they have.
func (b *Buffer) Rows() int64 {
	n := int64(0)
	for _, x := range b.blocks {
		n += x.Rows
	}
	return n
}

// Bytes returns the size of the elements.
func (b *Buffer) Bytes() int64 {
	n := int64(0)
	for _, x := range b.blocks {
		n += x.Bytes()
	}
	return n
}

// Cut forgets all but the first n blocks.
func (b *Buffer) Cut(n int) { b.blocks = b.blocks[:n] }

// Reset forgets all blocks. Their memory is used again.
func (b *Buffer) Reset() { b.blocks = b.blocks[:0] }
