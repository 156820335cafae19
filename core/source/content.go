package source

import (
	"errors"
	"io"
	"math"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// content is what a file holds, decompressed, read from a place to the end.
type content struct {
	path   string
	file   vfs.File
	size   int64         // of a file that is not compressed
	stream *codec.Reader // of one that is
	at     int64         // in the content: what comes next
}

// openContent opens a file at a place of what it holds.
func openContent(fs vfs.FS, path string, kind codec.Kind, at int64) (*content, error) {
	file, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	c := &content{path: path, file: file, at: at}
	if err := c.begin(kind); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *content) begin(kind codec.Kind) error {
	if kind == codec.Auto {
		head := make([]byte, 4096)
		n, err := c.file.ReadAt(head, 0)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		kind = codec.Detect(head[:n])
	}
	if kind == codec.None {
		info, err := c.file.Stat()
		if c.size = info.Size; err == nil && c.at > c.size {
			return c.outside(c.size)
		}
		return err
	}
	var err error
	if c.stream, err = codec.NewReader(io.NewSectionReader(c.file, 0, math.MaxInt64), c.path, kind); err != nil {
		return err
	}
	skipped, err := io.CopyN(io.Discard, c.stream, c.at)
	if errors.Is(err, io.EOF) {
		return c.outside(skipped)
	}
	return err
}

func (c *content) outside(end int64) error {
	return errs.New(errs.StateMismatch, "files", "the state is at byte %d of %s, which has %d: the file is another than when the state was saved", c.at, c.path, end)
}

// read reads on; last tells that nothing follows. Before an error there may be bytes.
func (c *content) read(p []byte) (n int, last bool, err error) {
	if c.stream != nil {
		n, err = io.ReadFull(c.stream, p)
		c.at += int64(n)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return n, true, nil
		}
		return n, false, err
	}
	n, err = c.file.ReadAt(p, c.at)
	c.at += int64(n)
	if !errors.Is(err, io.EOF) {
		return n, false, err
	}
	if c.at < c.size {
		return n, false, &errs.Error{Op: "read", Kind: errs.DataLoss, Path: c.path, Offset: c.at, Text: "the file was cut short while it was read; read it again once nobody writes it"}
	}
	return n, true, nil
}

func (c *content) close() {
	if c.stream != nil {
		c.stream.Close()
	}
	c.file.Close() // it was only read: nothing can be lost
}
