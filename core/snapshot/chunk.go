package snapshot

import (
	"encoding/binary"
	"encoding/json"
	"io"
	"sync/atomic"

	"infeed/core/block"
	"infeed/core/spec"
	"infeed/core/vfs"
)

const (
	headerBytes  = 64
	trailerBytes = 32
	headerMagic  = "\x89IFCHNK\n"
	trailerMagic = "\x89IFFOOT\n"

	mostRows       = 1 << 17 // of a block
	mostBlocks     = 1 << 20 // of a chunk
	mostComponents = 1024
	pieceHead      = 20 // bytes of a piece in the footer, without checksums
)

var le = binary.LittleEndian

// chunkHeader returns what a chunk begins with.
func chunkHeader() []byte {
	b := make([]byte, headerBytes)
	copy(b, headerMagic)
	le.PutUint32(b[8:], version)
	le.PutUint32(b[headerBytes-4:], checksum(b[:headerBytes-4]))
	return b
}

// chunkTrailer returns what a chunk ends with.
func chunkTrailer(at int64, footer []byte) []byte {
	b := make([]byte, trailerBytes)
	le.PutUint64(b, uint64(at))
	le.PutUint32(b[8:], uint32(len(footer)))
	le.PutUint32(b[12:], checksum(footer))
	le.PutUint32(b[16:], version)
	le.PutUint32(b[20:], checksum(b[:20]))
	copy(b[24:], trailerMagic)
	return b
}

// piece is where a part of a block lies, and how.
type piece struct {
	at, raw, stored int64
	codec           Compression
	width           uint8
	sums            []uint32
	seen            []atomic.Uint64 // pages whose checksum was right, a bit each; none: all unread
}

// bytes is the room of a piece in the file.
func (p *piece) bytes() int64 { return block.AlignUp(p.stored) }

// pages is how many checksums a piece has.
func (p *piece) pages() int64 {
	if p.codec == None {
		return (p.bytes() + pageBytes - 1) / pageBytes
	}
	return 1
}

// kindOfPiece says what a piece of a component holds.
type kindOfPiece uint8

const (
	valuesPiece kindOfPiece = iota
	dimsPiece
	endsPiece
)

// part is a piece of each block: what it is of.
type part struct {
	component int
	kind      kindOfPiece
	width     int // of the byte shuffle that suits it
}

// layout says which pieces the blocks of elements with a spec have.
type layout struct {
	spec  *spec.Element
	parts []part
	// values, dims and ends say for each component which part that is; -1: none.
	values, dims, ends []int
	free               []int   // how many dimensions differ between elements
	rowBytes           []int64 // where none does and it is no text
	strings            []int64 // of an element, where none does and it is text
}

func newLayout(e *spec.Element) *layout {
	n := len(e.Components)
	l := &layout{spec: e, values: make([]int, n), dims: make([]int, n), ends: make([]int, n), free: make([]int, n), rowBytes: make([]int64, n), strings: make([]int64, n)}
	for i, c := range e.Components {
		l.dims[i], l.ends[i] = -1, -1
		for _, d := range c.Shape {
			if d < 0 {
				l.free[i]++
			}
		}
		if l.free[i] > 0 {
			l.dims[i] = len(l.parts)
			l.parts = append(l.parts, part{i, dimsPiece, 8})
		} else if c.IsText() {
			l.strings[i] = c.Count()
		} else {
			l.rowBytes[i], _ = c.Bytes()
		}
		width := widthOf(c.DType)
		if c.IsText() {
			l.ends[i] = len(l.parts)
			l.parts = append(l.parts, part{i, endsPiece, 8})
			width = 1
		}
		l.values[i] = len(l.parts)
		l.parts = append(l.parts, part{i, valuesPiece, width})
	}
	return l
}

// fixed tells whether all elements have the same shapes.
func (l *layout) fixed() bool {
	for _, n := range l.free {
		if n > 0 {
			return false
		}
	}
	return true
}

// bytes returns the size of an element without its strings, where all have the same shapes.
func (l *layout) bytes() (n int64, fixed bool) {
	for _, b := range l.rowBytes {
		n += b
	}
	return n, l.fixed()
}

// rawBytes returns the size that a piece must have for so many rows; -1: any.
func (l *layout) rawBytes(part int, rows int64) int64 {
	p := l.parts[part]
	switch {
	case p.kind == dimsPiece:
		return 8 * rows * int64(l.free[p.component])
	case l.free[p.component] > 0:
		return -1
	case p.kind == endsPiece:
		return 8 * rows * l.strings[p.component]
	case l.ends[p.component] >= 0:
		return -1
	}
	return rows * l.rowBytes[p.component]
}

// stored is a block as the footer describes it.
type stored struct {
	first  int64 // number of its first element in the chunk
	rows   int64
	pieces []piece
}

// encodeFooter returns the footer of a chunk.
func encodeFooter(l *layout, blocks []stored) ([]byte, error) {
	text, err := json.Marshal(l.spec)
	if err != nil {
		return nil, err
	}
	b := le.AppendUint32(nil, uint32(len(text)))
	b = append(b, text...)
	b = le.AppendUint32(b, uint32(len(blocks)))
	b = le.AppendUint32(b, uint32(len(l.parts)))
	for i := range blocks {
		b = le.AppendUint32(b, uint32(blocks[i].rows))
		for k := range blocks[i].pieces {
			p := &blocks[i].pieces[k]
			b = le.AppendUint64(b, uint64(p.raw))
			b = le.AppendUint64(b, uint64(p.stored))
			b = append(b, byte(p.codec), p.width, 0, 0)
			for _, s := range p.sums {
				b = le.AppendUint32(b, s)
			}
		}
	}
	return b, nil
}

// footer reads integers and runs out of bytes without harm.
type footer struct {
	b    []byte
	at   int64 // in the file
	path string
}

func (f *footer) take(n int64) ([]byte, error) {
	if n < 0 || n > int64(len(f.b)) {
		return nil, lost(f.path, f.at, "its footer ends too early")
	}
	out := f.b[:n]
	f.b, f.at = f.b[n:], f.at+n
	return out, nil
}

func (f *footer) u32() (int64, error) {
	b, err := f.take(4)
	if err != nil {
		return 0, err
	}
	return int64(le.Uint32(b)), nil
}

// readChunk reads where the blocks of a chunk lie. want is what its snapshot says of it.
func readChunk(f vfs.File, path string, l *layout, want ChunkInfo) ([]stored, error) {
	text, at, err := readFooter(f, path, want)
	if err != nil {
		return nil, err
	}
	in := &footer{text, at, path}
	n, err := in.u32()
	if err != nil {
		return nil, err
	}
	specText, err := in.take(n)
	if err != nil {
		return nil, err
	}
	var e spec.Element
	if err := json.Unmarshal(specText, &e); err != nil || !e.Equal(l.spec) {
		return nil, lost(path, at, "it has elements of another kind than its snapshot says")
	}
	blocks, err := in.u32()
	if err != nil {
		return nil, err
	}
	parts, err := in.u32()
	if err != nil {
		return nil, err
	}
	if parts != int64(len(l.parts)) || blocks > mostBlocks || blocks*(4+parts*pieceHead) > int64(len(in.b)) {
		return nil, lost(path, at, "its footer is of %d blocks of %d pieces, which cannot be", blocks, parts)
	}
	out := make([]stored, blocks)
	place, rows := int64(headerBytes), int64(0)
	for i := range out {
		b := &out[i]
		b.first = rows
		if place, err = in.block(b, l, place, at); err != nil {
			return nil, err
		}
		rows += b.rows
	}
	if len(in.b) != 0 || place != at || rows != want.Elements {
		return nil, lost(path, at, "its footer does not fit: %d elements (%d were committed), data up to %d", rows, want.Elements, place)
	}
	return out, nil
}

// readFooter returns the footer of a chunk and where it begins.
func readFooter(f vfs.File, path string, want ChunkInfo) ([]byte, int64, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if info.Size != want.Bytes || info.Size < headerBytes+trailerBytes {
		return nil, 0, lost(path, min(info.Size, want.Bytes), "it has %d bytes; %d were committed", info.Size, want.Bytes)
	}
	head, tail := make([]byte, headerBytes), make([]byte, trailerBytes)
	if err := readFull(f, path, head, 0); err != nil {
		return nil, 0, err
	}
	if string(head) != string(chunkHeader()) {
		return nil, 0, lost(path, 0, "its header is not that of a chunk of version %d", version)
	}
	end := info.Size - trailerBytes
	if err := readFull(f, path, tail, end); err != nil {
		return nil, 0, err
	}
	at, n := int64(le.Uint64(tail)), int64(le.Uint32(tail[8:]))
	if le.Uint32(tail[20:]) != checksum(tail[:20]) || string(tail[24:]) != trailerMagic || le.Uint32(tail[16:]) != version ||
		at < headerBytes || n != end-at || le.Uint32(tail[12:]) != want.Footer {
		return nil, 0, lost(path, end, "its trailer is damaged or of another chunk")
	}
	text := make([]byte, n)
	if err := readFull(f, path, text, at); err != nil {
		return nil, 0, err
	}
	if checksum(text) != want.Footer {
		return nil, 0, lost(path, at, "its footer is damaged")
	}
	return text, at, nil
}

// block reads a block of the footer, whose pieces begin at a place and end before limit.
func (f *footer) block(b *stored, l *layout, place, limit int64) (int64, error) {
	rows, err := f.u32()
	if err != nil {
		return 0, err
	}
	if rows < 1 || rows > mostRows {
		return 0, lost(f.path, f.at-4, "a block of %d elements cannot be", rows)
	}
	b.rows, b.pieces = rows, make([]piece, len(l.parts))
	for k := range b.pieces {
		p := &b.pieces[k]
		head, err := f.take(pieceHead)
		if err != nil {
			return 0, err
		}
		p.at, p.raw, p.stored = place, int64(le.Uint64(head)), int64(le.Uint64(head[8:]))
		p.codec, p.width = Compression(head[16]), head[17]
		exact := l.rawBytes(k, rows)
		switch {
		case p.raw < 0, p.stored < 0, p.stored > limit-place, p.bytes() > limit-place,
			p.codec >= Auto, head[18] != 0, head[19] != 0, exact >= 0 && p.raw != exact,
			p.codec == None && p.raw != p.stored, p.codec != None && p.raw > mostPacked:
			return 0, lost(f.path, f.at-pieceHead, "a piece of %d bytes, stored as %d, cannot be", p.raw, p.stored)
		}
		place += p.bytes()
		pages := p.pages()
		sums, err := f.take(4 * pages)
		if err != nil {
			return 0, err
		}
		p.sums, p.seen = make([]uint32, pages), make([]atomic.Uint64, (pages+63)/64)
		for i := range p.sums {
			p.sums[i] = le.Uint32(sums[4*i:])
		}
	}
	return place, nil
}

// readFull reads exactly len(b) bytes; a file that ends before is damaged.
func readFull(f vfs.File, path string, b []byte, at int64) error {
	n, err := f.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if err == nil || err == io.EOF {
		return lost(path, at+int64(n), "it was cut: %d bytes are missing", len(b)-n)
	}
	return err
}
