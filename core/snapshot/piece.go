package snapshot

import (
	"bytes"
	"io"
	"math/bits"
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

// mostPacked bounds the raw data of a compressed piece.
const mostPacked = 64 << 20

// codecs keep what compressors need; they are used by one goroutine at a time.
type codecs struct {
	gzip *gzip.Writer
	zstd *zstd.Encoder
	mix  []byte
}

// pack compresses raw, whose values have width bytes, into the memory of dst, or other
// memory if that is too small.
func (c *codecs) pack(dst []byte, codec Compression, raw []byte, width int) ([]byte, error) {
	if width > 1 {
		if cap(c.mix) < len(raw) {
			c.mix = make([]byte, len(raw))
		}
		kernel.Split(c.mix[:len(raw)], raw, width)
		raw = c.mix[:len(raw)]
	}
	switch codec {
	case Snappy:
		return packPlanes(dst, raw, width), nil
	case Zstd:
		if c.zstd == nil {
			z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderCRC(false))
			if err != nil {
				return nil, err
			}
			c.zstd = z
		}
		return c.zstd.EncodeAll(raw, dst[:0]), nil
	}
	out := bytes.NewBuffer(dst[:0])
	if c.gzip == nil {
		c.gzip, _ = gzip.NewWriterLevel(out, gzip.BestSpeed)
	} else {
		c.gzip.Reset(out)
	}
	if _, err := c.gzip.Write(raw); err != nil {
		return nil, err
	}
	err := c.gzip.Close()
	return out.Bytes(), err
}

var unzstd = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mostPacked+1))
})

// decompress makes stored exactly len(dst) bytes.
func decompress(codec Compression, stored, dst []byte) error {
	n, err := decompressTo(codec, stored, dst)
	if err == nil && n != len(dst) {
		err = errs.New(errs.DataLoss, "snapshot", "%d bytes came out; %d were expected", n, len(dst))
	}
	return err
}

func decompressTo(codec Compression, stored, dst []byte) (int, error) {
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
		out, err := z.DecodeAll(stored, dst[:0]) // is faster with some room behind
		if len(out) > 0 && len(out) == len(dst) && &out[0] != &dst[0] {
			copy(dst, out)
		}
		return len(out), err
	}
	z := gunzip.Get().(*gzip.Reader)
	defer gunzip.Put(z)
	if err := z.Reset(bytes.NewReader(stored)); err != nil {
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

var gunzip = sync.Pool{New: func() any { return new(gzip.Reader) }}

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

// memory keeps buffers, those of a size class together: there are four in each power of
// two, so that a buffer has at most a quarter more than was asked for.
var memory [4 * 48]sync.Pool

// slack is how much room a buffer has behind what was asked for: decompressors like to
// write a little further than they have to.
const slack = 64

// classOf returns the size class for n bytes, and the bytes of that class.
func classOf(n int64) (int, int64) {
	n = max(n+slack, 4096) - 1
	shift := bits.Len64(uint64(n)) - 3
	quarter := n >> shift // 4 to 7
	return 4*shift + int(quarter) - 4, (quarter + 1) << shift
}

// borrow returns n bytes that may hold anything.
func borrow(n int64) *[]byte {
	class, size := classOf(n)
	p, _ := memory[class].Get().(*[]byte)
	if p == nil {
		p = new([]byte)
		*p = make([]byte, size)
	}
	*p = (*p)[:n]
	return p
}

func giveBack(p *[]byte) {
	class, _ := classOf(int64(cap(*p)) - slack)
	memory[class].Put(p)
}
