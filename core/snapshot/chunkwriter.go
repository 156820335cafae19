package snapshot

import (
	"path"

	"infeed/core/vfs"
)

// chunkWriter writes one chunk.
type chunkWriter struct {
	fs     vfs.FS
	folder string // of chunks
	name   string
	layout *layout

	file   vfs.File
	at     int64
	rows   int64
	blocks []stored
}

var zeros [64]byte

func (c *chunkWriter) open() (err error) {
	if c.file, err = c.fs.Create(path.Join(c.folder, c.name+".tmp")); err != nil {
		return err
	}
	return c.write(chunkHeader())
}

func (c *chunkWriter) write(b []byte) error {
	n, err := c.file.Write(b)
	c.at += int64(n)
	return err
}

// block writes a block that was packed.
func (c *chunkWriter) block(b *building) error {
	s := stored{first: c.rows, rows: b.rows, pieces: b.out}
	for i := range s.pieces {
		s.pieces[i].at = c.at
		if len(b.data[i]) == 0 {
			continue
		}
		if err := c.write(b.data[i]); err != nil {
			return err
		}
	}
	c.rows += b.rows
	c.blocks = append(c.blocks, s)
	return nil
}

// finish completes the chunk, gives it its name, and returns what the journal says of it.
// The name lasts once the folder is synced.
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
	return info, c.fs.Rename(at+".tmp", at)
}

// drop throws away a chunk that was not finished.
func (c *chunkWriter) drop() {
	if c.file != nil {
		c.file.Close()
		c.file = nil
	}
	_ = c.fs.Remove(path.Join(c.folder, c.name+".tmp")) // one that stays is no harm
}
