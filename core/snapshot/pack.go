package snapshot

import (
	"infeed/core/errs"
)

// choice is how the pieces of a chunk are stored. With AUTO its first block decides, and
// the packing of the others waits for that.
type choice struct {
	codecs []Compression // of each part of the layout
	made   chan struct{} // closed when codecs do not change any more
}

func newChoice(l *layout, c Compression) *choice {
	out := &choice{codecs: make([]Compression, len(l.parts)), made: make(chan struct{})}
	for i := range out.codecs {
		out.codecs[i] = c
	}
	if c != Auto {
		close(out.made)
	}
	return out
}

// packed packs a block unless the writer has failed.
func (w *Writer) packed(b *building, c *codecs) error {
	err := w.guarded(func() error { return b.pack(c) })
	if b.decides {
		close(b.choice.made)
	}
	return err
}

// pack makes the pieces of a block as they are stored.
func (b *building) pack(c *codecs) error {
	if !b.decides {
		<-b.choice.made
	}
	b.out = make([]piece, len(b.pieces)) // the footer keeps it
	for i := range b.pieces {
		if err := b.packPiece(i, b.layout.parts[i].width, c); err != nil {
			return err
		}
	}
	return nil
}

func (b *building) packPiece(i, width int, c *codecs) error {
	p, raw := &b.out[i], b.pieces[i]
	p.raw = int64(len(raw))
	codec := b.choice.codecs[i]
	auto := codec == Auto
	if auto {
		codec = Snappy
	}
	if codec != None && len(raw) > 0 && len(raw) <= mostPacked {
		packed, err := c.pack(b.packed[i], codec, raw, width)
		if err != nil {
			return errs.Wrap(err, errs.Internal, "snapshot", "%v failed", codec)
		}
		b.packed[i] = packed
		if auto && len(packed) > len(raw)-len(raw)/10 {
			codec = None
		}
		if b.decides {
			b.choice.codecs[i] = codec
		}
	} else {
		codec = None
	}
	if codec == None {
		b.pieces[i] = b.fill(p, i, raw)
		return nil
	}
	p.codec = codec
	if width > 1 {
		p.width = uint8(width)
	}
	b.packed[i] = b.fill(p, i, b.packed[i])
	return nil
}

// fill completes a piece: zeros up to where the next one begins, and checksums. It
// returns data, whose memory may be another then.
func (b *building) fill(p *piece, i int, data []byte) []byte {
	p.stored = int64(len(data))
	all := append(data, zeros[:p.bytes()-p.stored]...)
	size := int64(pageBytes)
	if p.codec != None {
		size = max(p.bytes(), 1)
	}
	for k := range p.pages() {
		end := min((k+1)*size, p.stored)
		if k == p.pages()-1 {
			end = p.bytes()
		}
		p.sums = append(p.sums, checksum(all[k*size:end]))
	}
	b.data[i] = all
	return all[:len(data)]
}
