package snapshot

import (
	"path"

	"infeed/core/errs"
	"infeed/core/vfs"
)

// chunkWriter writes one chunk.
type chunkWriter struct {
	fs     vfs.FS
	folder string // of chunks
	name   string
	layout *layout
	codec  Compression
	packs  *codecs

	file   vfs.File
	at     int64
	rows   int64
	blocks []stored
	chosen []Compression // of each part; what AUTO settled on
}

var zeros [64]byte

func (c *chunkWriter) open() (err error) {
	if c.file, err = c.fs.Create(path.Join(c.folder, c.name+".tmp")); err != nil {
		return err
	}
	c.chosen = make([]Compression, len(c.layout.parts))
	for i := range c.chosen {
		c.chosen[i] = c.codec
	}
	return c.write(chunkHeader())
}

func (c *chunkWriter) write(b []byte) error {
	n, err := c.file.Write(b)
	c.at += int64(n)
	return err
}

// block writes a block.
func (c *chunkWriter) block(b *building) error {
	s := stored{first: c.rows, rows: b.rows, pieces: make([]piece, len(b.pieces))}
	for i, raw := range b.pieces {
		if err := c.piece(&s.pieces[i], i, raw); err != nil {
			return err
		}
	}
	c.rows += b.rows
	c.blocks = append(c.blocks, s)
	return nil
}

// piece writes a piece: data, and zeros up to where the next one begins.
func (c *chunkWriter) piece(p *piece, part int, raw []byte) error {
	data, err := c.packed(p, part, raw)
	if err != nil {
		return err
	}
	p.at, p.raw, p.stored = c.at, int64(len(raw)), int64(len(data))
	padding := zeros[:p.bytes()-p.stored]
	size := int64(pageBytes)
	if p.codec != None {
		size = max(p.stored, 1)
	}
	for i := range p.pages() {
		from, to := min(i*size, p.stored), min((i+1)*size, p.stored)
		sum := checksum(data[from:to])
		if i == p.pages()-1 {
			sum = extend(sum, padding)
		}
		p.sums = append(p.sums, sum)
	}
	if len(data) > 0 {
		if err := c.write(data); err != nil {
			return err
		}
	}
	if len(padding) > 0 {
		return c.write(padding)
	}
	return nil
}

// packed compresses a piece as it is to be, and says how in p.
func (c *chunkWriter) packed(p *piece, part int, raw []byte) ([]byte, error) {
	codec := c.chosen[part]
	if codec == None || len(raw) == 0 || len(raw) > mostPacked {
		return raw, nil
	}
	auto := codec == Auto
	if auto {
		codec = Snappy
	}
	width := c.layout.parts[part].width
	data, err := c.packs.pack(codec, raw, width)
	if err != nil {
		return nil, errs.Wrap(err, errs.Internal, "snapshot", "%v failed", codec)
	}
	if auto && len(data) > len(raw)-len(raw)/10 {
		c.chosen[part] = None
		return raw, nil
	}
	if auto && len(c.blocks) == 0 {
		c.chosen[part] = Snappy
	}
	p.codec = codec
	if width > 1 {
		p.width = uint8(width)
	}
	return data, nil
}

// finish completes the chunk, gives it its name, and returns what the journal says of it.
func (c *chunkWriter) finish() (ChunkInfo, error) {
	info := ChunkInfo{File: c.name, Elements: c.rows}
	text, err := encodeFooter(c.layout, c.blocks)
	if err != nil {
		return info, err
	}
	info.Footer = checksum(text)
	trailer := chunkTrailer(c.at, text)
	if err := c.write(text); err != nil {
		return info, err
	}
	if err := c.write(trailer); err != nil {
		return info, err
	}
	info.Bytes = c.at
	if err := c.file.Sync(); err != nil {
		return info, err
	}
	f := c.file
	c.file = nil
	if err := f.Close(); err != nil {
		return info, err
	}
	at := path.Join(c.folder, c.name)
	if err := c.fs.Rename(at+".tmp", at); err != nil {
		return info, err
	}
	return info, c.fs.SyncFolder(c.folder)
}

// drop throws away a chunk that was not finished.
func (c *chunkWriter) drop() {
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
	_ = c.fs.Remove(path.Join(c.folder, c.name+".tmp")) // one that stays is no harm
}
