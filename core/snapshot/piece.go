package snapshot

import (
	"bytes"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"

	"infeed/core/errs"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// Compression is how the pieces of a snapshot are stored.
type Compression uint8

// The compressions. Auto chooses for each piece.
const (
	None Compression = iota
	Gzip
	Snappy
	Zstd
	Auto
)

var compressions = []string{"NONE", "GZIP", "SNAPPY", "ZSTD", "AUTO"}

// String returns the name that ParseCompression reads.
func (c Compression) String() string { return compressions[c] }

// ParseCompression reads the name of a compression; no name is None.
func ParseCompression(name string) (Compression, error) {
	if name == "" {
		return None, nil
	}
	for i, n := range compressions {
		if n == name {
			return Compression(i), nil
		}
	}
	return None, errs.New(errs.InvalidArgument, "snapshot", "compression is %q; it must be None, NONE, AUTO, GZIP, SNAPPY or ZSTD", name)
}

const (
	pageBytes  = 64 << 10 // of an uncompressed piece, for one checksum
	mostPacked = 64 << 20 // of raw data in a compressed piece
)

// codecs keep what compressors need; they are used by one goroutine at a time.
type codecs struct {
	gzip *gzip.Writer
	zstd *zstd.Encoder
	out  bytes.Buffer
	buf  []byte
	mix  []byte
}

// pack compresses raw, whose values have width bytes. The result is valid until the
// next call.
func (c *codecs) pack(codec Compression, raw []byte, width int) ([]byte, error) {
	if width > 1 {
		if cap(c.mix) < len(raw) {
			c.mix = make([]byte, len(raw))
		}
		kernel.Split(c.mix[:len(raw)], raw, width)
		raw = c.mix[:len(raw)]
	}
	switch codec {
	case Snappy:
		if n := s2.MaxEncodedLen(len(raw)); cap(c.buf) < n {
			c.buf = make([]byte, n)
		}
		return s2.Encode(c.buf[:cap(c.buf)], raw), nil
	case Zstd:
		if c.zstd == nil {
			z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
			if err != nil {
				return nil, err
			}
			c.zstd = z
		}
		c.buf = c.zstd.EncodeAll(raw, c.buf[:0])
		return c.buf, nil
	case Gzip:
		c.out.Reset()
		if c.gzip == nil {
			c.gzip, _ = gzip.NewWriterLevel(&c.out, gzip.BestSpeed)
		} else {
			c.gzip.Reset(&c.out)
		}
		if _, err := c.gzip.Write(raw); err != nil {
			return nil, err
		}
		err := c.gzip.Close()
		return c.out.Bytes(), err
	}
	return raw, nil
}

var unzstd = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostPacked+1))
})

// unpack decompresses stored to exactly len(dst) bytes.
func unpack(codec Compression, stored, dst []byte, width int) error {
	into := dst
	if width > 1 {
		scratch := borrow(len(dst))
		defer giveBack(scratch)
		into = *scratch
	}
	n, err := decompress(codec, stored, into)
	if err == nil && n != len(dst) {
		err = errs.New(errs.DataLoss, "snapshot", "%d bytes came out; %d were expected", n, len(dst))
	}
	if err == nil && width > 1 {
		kernel.Join(dst, into, width)
	}
	return err
}

func decompress(codec Compression, stored, dst []byte) (int, error) {
	switch codec {
	case Snappy:
		n, err := s2.DecodedLen(stored)
		if err != nil || n != len(dst) {
			return n, err
		}
		_, err = s2.Decode(dst, stored)
		return n, err
	case Zstd:
		z, err := unzstd()
		if err != nil {
			return 0, err
		}
		out, err := z.DecodeAll(stored, dst[:0:len(dst)])
		if len(out) > 0 && len(out) == len(dst) && &out[0] != &dst[0] {
			copy(dst, out)
		}
		return len(out), err
	}
	z, err := gzip.NewReader(bytes.NewReader(stored))
	if err != nil {
		return 0, err
	}
	n, err := io.ReadFull(z, dst)
	if err == nil {
		if more, _ := z.Read(make([]byte, 1)); more > 0 {
			n++
		}
	}
	return n, err
}

// widthOf is the byte shuffle for values of a dtype.
func widthOf(d spec.DType) int {
	switch d.Kind {
	case 'i', 'u', 'f', 'M', 'm':
		return int(d.Size)
	case 'c':
		return int(d.Size) / 2
	case 'U':
		return 4
	}
	return 1
}

// memory keeps buffers for stored pieces.
var memory = sync.Pool{New: func() any { return new([]byte) }}

func borrow(n int) *[]byte {
	p := memory.Get().(*[]byte)
	if cap(*p) < n {
		*p = make([]byte, n)
	}
	*p = (*p)[:n]
	return p
}

func giveBack(p *[]byte) { memory.Put(p) }
