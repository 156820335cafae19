package codec

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"infeed/core/errs"
)

// DefaultLevel leaves the choice of level to the compression.
const DefaultLevel = -1

// Writer compresses what is written to it. Flush passes on what was written so
// far, so that a reader of the incomplete stream gets it; Close ends the stream.
// Neither touches what is below but by writing.
type Writer interface {
	io.WriteCloser
	Flush() error
}

// NewWriter returns a writer that compresses to dst: with a level from 0 (store) to
// 9 for gzip and zlib, 1 to 22 for zstd, or DefaultLevel.
func NewWriter(dst io.Writer, kind Kind, level int) (Writer, error) {
	most := map[Kind]int{None: 0, Gzip: 9, Zlib: 9, Zstd: 22}
	if kind == Auto {
		return nil, errs.New(errs.InvalidArgument, "compress", "AUTO is for reading; say how to compress")
	}
	if level < DefaultLevel || level > most[kind] || kind == Zstd && level == 0 {
		return nil, errs.New(errs.InvalidArgument, "compress", "%v has no level %d", kind, level)
	}
	switch kind {
	case Gzip:
		return gzip.NewWriterLevel(dst, level)
	case Zlib:
		return zlib.NewWriterLevel(dst, level)
	case Zstd:
		o := []zstd.EOption{zstd.WithEncoderConcurrency(1)}
		if level != DefaultLevel {
			o = append(o, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
		}
		return zstd.NewWriter(dst, o...)
	}
	return plain{bufio.NewWriterSize(dst, bufferBytes)}, nil
}

// plain gathers writes and leaves the bytes as they are.
type plain struct{ *bufio.Writer }

func (p plain) Close() error { return p.Flush() }
