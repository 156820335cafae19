package kernel

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// checked writes texts of the given lengths with their checksums behind them.
func checked(lengths ...int) (data []byte, starts, ends []int64) {
	for _, n := range lengths {
		text := randomBytes(n)
		starts = append(starts, int64(len(data)))
		data = append(data, text...)
		ends = append(ends, int64(len(data)))
		data = binary.LittleEndian.AppendUint32(data, Masked(text))
	}
	return data, starts, ends
}

// The value is that of the format's definition for nine digits: e3069283, masked.
func TestMasked(t *testing.T) {
	c := uint32(0xe3069283)
	require.Equal(t, (c>>15|c<<17)+0xa282ead8, Masked([]byte("123456789")))
}

func TestChecksumTwinsAgree(t *testing.T) {
	b := randomBytes(6*wide + 99)
	for first := range 9 {
		for _, n := range []int{0, 1, 100, wide - 1, wide, wide + 1, wide + 15, 2 * wide, 3*wide + 8, 6*wide + 90} {
			part := b[first : first+n]
			want := crc32.Checksum(part, castagnoli)
			require.Equal(t, want, Checksum(part), "%d bytes", n)
			if got, ok := wideChecksum(part); ok {
				require.Equal(t, want, got, "%d bytes", n)
			}
		}
	}
}

func TestCorruptTwinsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for count := range 12 {
		for round := range 20 {
			lengths := make([]int, count)
			for i := range lengths {
				lengths[i] = r.IntN(1 << (round/2 + 1))
			}
			data, starts, ends := checked(lengths...)
			require.Equal(t, count, corrupt(data, starts, ends), "%v", lengths)
			require.Equal(t, count, corruptGo(data, starts, ends))
			for i := range starts {
				for _, at := range []int64{starts[i], (starts[i] + ends[i]) / 2, ends[i] - 1, ends[i], ends[i] + 3} {
					if at < starts[i] {
						continue
					}
					data[at] ^= 16
					require.Equal(t, i, corruptGo(data, starts, ends), "%v", lengths)
					require.Equal(t, i, corrupt(data, starts, ends), "%v", lengths)
					require.Equal(t, i, Corrupt(data, starts, ends), "%v", lengths)
					data[at] ^= 16
				}
			}
		}
	}
}

func TestCorruptStaysInside(t *testing.T) {
	data := make([]byte, 10)
	for _, c := range [][2]int64{{-1, 3}, {4, 3}, {0, 7}, {0, 1 << 62}, {1 << 62, 1 << 62}} {
		require.Panics(t, func() { Corrupt(data, []int64{c[0]}, []int64{c[1]}) }, "%v", c)
	}
	require.Equal(t, 0, Corrupt(nil, nil, nil))
}

func BenchmarkCorrupt(b *testing.B) {
	for _, n := range []int{32, 330, 1000, 3000} {
		lengths := make([]int, 256<<10/n)
		for i := range lengths {
			lengths[i] = n + i%16
		}
		data, starts, ends := checked(lengths...)
		for name, f := range map[string]func([]byte, []int64, []int64) int{"go": corruptGo, "used": corrupt} {
			b.Run(fmt.Sprintf("bytes=%d/%s", n, name), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					require.Equal(b, len(starts), f(data, starts, ends))
				}
			})
		}
	}
}

func BenchmarkChecksum(b *testing.B) {
	data := randomBytes(1 << 20)
	for _, n := range []int{wide, 1 << 16, 1 << 20} {
		b.Run(fmt.Sprintf("bytes=%d/go", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				crc32.Checksum(data[:n], castagnoli)
			}
		})
		b.Run(fmt.Sprintf("bytes=%d/used", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				Checksum(data[:n])
			}
		})
	}
}
