package snapshot

import (
	"math"
	"math/rand/v2"
	"testing"

	"infeed/core/kernel"
)

// floats is a block of pictures as float32 between 0 and 1, of 256 levels.
func floats() []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, blockBytes)
	for i := 0; i < len(b); i += 4 {
		le.PutUint32(b[i:], math.Float32bits(float32(r.IntN(256))/255))
	}
	return b
}

func BenchmarkBytesApart(b *testing.B) {
	src, dst, back := floats(), make([]byte, blockBytes), make([]byte, blockBytes)
	for _, width := range []int{2, 4, 8} {
		b.Run(string(rune('0'+width))+"/split", func(b *testing.B) {
			b.SetBytes(blockBytes)
			for range b.N {
				kernel.Split(dst, src, width)
			}
		})
		b.Run(string(rune('0'+width))+"/join", func(b *testing.B) {
			b.SetBytes(blockBytes)
			for range b.N {
				kernel.Join(back, dst, width)
			}
		})
	}
}

func BenchmarkPieces(b *testing.B) {
	raw := floats()
	for _, codec := range []Compression{Snappy, Zstd, Gzip} {
		var c codecs
		packed, err := c.pack(nil, codec, raw, 4)
		if err != nil {
			b.Fatal(err)
		}
		stored := append([]byte{}, packed...)
		b.Run(codec.String()+"/pack", func(b *testing.B) {
			b.SetBytes(blockBytes)
			for range b.N {
				if packed, err = c.pack(packed, codec, raw, 4); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(raw))/float64(len(stored)), "ratio")
		})
		b.Run(codec.String()+"/unpack", func(b *testing.B) {
			b.SetBytes(blockBytes)
			apart, dst := borrow(blockBytes), make([]byte, blockBytes)
			for range b.N {
				if err := decompress(codec, stored, *apart); err != nil {
					b.Fatal(err)
				}
				together(dst, *apart, 4, 0)
			}
		})
	}
}
