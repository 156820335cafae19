package snapshot

import (
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/s2"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
)

// snappyBlock is how much a block of Snappy data holds: TensorFlow's readers refuse what
// is larger.
const snappyBlock = 256 << 10

// snappyWriter writes TensorFlow's Snappy blocks, which snappyFS reads.
type snappyWriter struct {
	to     io.Writer
	held   []byte
	packed []byte
}

func newSnappyWriter(to io.Writer) *snappyWriter {
	return &snappyWriter{to, make([]byte, 0, snappyBlock), make([]byte, 4+s2.MaxEncodedLen(snappyBlock))}
}

// Write implements codec.Writer.
func (w *snappyWriter) Write(p []byte) (int, error) {
	done := 0
	for done < len(p) {
		n := copy(w.held[len(w.held):snappyBlock], p[done:])
		w.held = w.held[:len(w.held)+n]
		done += n
		if len(w.held) == snappyBlock {
			if err := w.Flush(); err != nil {
				return done, err
			}
		}
	}
	return done, nil
}

// Flush implements codec.Writer: it ends a block.
func (w *snappyWriter) Flush() error {
	if len(w.held) == 0 {
		return nil
	}
	block := s2.EncodeSnappy(w.packed[4:], w.held)
	w.held = w.held[:0]
	binary.BigEndian.PutUint32(w.packed, uint32(len(block)))
	_, err := w.to.Write(w.packed[:4+len(block)])
	return err
}

// Close implements codec.Writer.
func (w *snappyWriter) Close() error { return w.Flush() }

// tfCodec returns a writer that compresses to a file as tf.data does.
func tfCodec(f vfs.File, c Compression) (codec.Writer, error) {
	switch c {
	case None:
		return codec.NewWriter(f, codec.None, codec.DefaultLevel)
	case Gzip:
		return codec.NewWriter(f, codec.Gzip, codec.DefaultLevel)
	case Snappy, Auto:
		return newSnappyWriter(f), nil
	}
	return nil, errs.New(errs.InvalidArgument, "save", "compression is %v, which TensorFlow does not read; it must be None, NONE, GZIP or SNAPPY for format=\"tf\"", c)
}
