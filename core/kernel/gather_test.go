package kernel

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func TestGatherTwinsAgree(t *testing.T) {
	for _, row := range []int{1, 2, 3, 4, 5, 7, 8, 12, 16, 24, 63, 64, 65, 256, 1000, 3072, 5000} {
		for _, apart := range []int{0, 1, 24, 300} {
			for _, count := range []int{0, 1, 2, 31, 32, 33, 100} {
				const rows = 50
				stride := row + apart
				src := randomBytes(stride*rows - apart)
				if apart == 0 {
					src = append(src, make([]byte, row/2)...) // what is left after the last row is not one
				}
				index := make([]int64, count)
				for i := range index {
					index[i] = int64(rand.IntN(rows))
				}
				want, got := make([]byte, row*count+9), make([]byte, row*count+9)
				gatherGo(want, src, row, stride, index)
				require.NoError(t, Gather(got, src, row, stride, index))
				require.Equal(t, want, got, "row=%d stride=%d count=%d", row, stride, count)
				require.Equal(t, make([]byte, 9), got[row*count:], "wrote past the end")
				for i, r := range index {
					require.Equal(t, src[int(r)*stride:][:row], got[i*row:][:row])
				}
			}
		}
	}
}

func TestScatterTwinsAgree(t *testing.T) {
	for _, row := range []int{1, 3, 8, 16, 63, 64, 65, 256, 1000, 5000} {
		for _, apart := range []int{0, 1, 24, 300} {
			for _, count := range []int{0, 1, 2, 31, 32, 33, 50} {
				const rows = 50
				stride := row + apart
				src, index := randomBytes(row*count), make([]int64, 0, rows)
				for _, i := range rand.Perm(rows)[:count] {
					index = append(index, int64(i))
				}
				want, got := make([]byte, stride*rows-apart), make([]byte, stride*rows-apart)
				scatterGo(want, src, row, stride, index)
				Scatter(got, src, row, stride, index)
				require.Equal(t, want, got, "row=%d stride=%d count=%d", row, stride, count)
				for i, r := range index {
					require.Equal(t, src[i*row:][:row], got[int(r)*stride:][:row])
				}
			}
		}
	}
	for name, index := range map[string][]int64{"negative": {0, -1}, "past the end": {0, 5}, "more than there are": {0, 1, 2}} {
		require.Panics(t, func() { Scatter(make([]byte, 40), make([]byte, 16), 8, 8, index) }, name)
	}
	require.Panics(t, func() { Scatter(make([]byte, 39), make([]byte, 8), 8, 16, []int64{2}) }, "half of a row")
}

func TestCopyTextTwinsAgree(t *testing.T) {
	data := randomBytes(5000)
	for _, count := range []int{0, 1, 2, 31, 32, 33, 100} {
		var starts, ends []int64
		for range count {
			from := rand.IntN(len(data))
			starts, ends = append(starts, int64(from)), append(ends, int64(from+rand.IntN(min(200, len(data)-from+1))))
		}
		n := textBytesGo(data, starts, ends)
		require.Equal(t, n, TextBytes(data, starts, ends))
		want, got := make([]byte, n+16), make([]byte, n+16)
		wantStarts, wantEnds, gotStarts, gotEnds := slices.Clone(starts), slices.Clone(ends), slices.Clone(starts), slices.Clone(ends)
		copyTextGo(want[7:], 7, wantStarts, wantEnds, data)
		CopyText(got, 7, gotStarts, gotEnds, data)
		require.Equal(t, want, got)
		require.Equal(t, wantStarts, gotStarts)
		require.Equal(t, wantEnds, gotEnds)
		for i, start := range starts {
			require.Equal(t, data[start:ends[i]], got[gotStarts[i]:gotEnds[i]])
		}
	}
}

func TestTextStaysInside(t *testing.T) {
	data := make([]byte, 10)
	for name, bad := range map[string][2]int64{"before the data": {-1, 3}, "behind the data": {0, 11}, "backwards": {5, 4}} {
		starts, ends := []int64{0, bad[0]}, []int64{10, bad[1]}
		require.Equal(t, int64(-1), textBytesGo(data, starts, ends), name)
		require.Panics(t, func() { TextBytes(data, starts, ends) }, name)
	}
	require.Panics(t, func() { TextBytes(data, []int64{0, 1}, []int64{1}) }, "fewer ends")
}

func TestGatherStaysInside(t *testing.T) {
	src, dst := make([]byte, 40), make([]byte, 16)
	for name, index := range map[string][]int64{"negative": {0, -1}, "past the end": {0, 5}, "huge": {1 << 62}} {
		require.ErrorContains(t, Gather(dst, src, 8, 8, index), "of 5", name)
	}
	require.ErrorContains(t, Gather(dst, src[:39], 8, 16, []int64{2}), "of 2", "half of a row")
	require.ErrorContains(t, Gather(dst, src[:7], 8, 16, []int64{0}), "of 0", "half of a row")
	require.ErrorContains(t, Gather(dst, src, 8, 8, []int64{0, 1, 2}), "do not fit")
	require.NoError(t, Gather(nil, src, 0, 0, []int64{1, 2}))
}

// BenchmarkGather reads rows all over an array of 256 MB.
func BenchmarkGather(b *testing.B) {
	src := make([]byte, 256<<20)
	for i := range src {
		src[i] = byte(i)
	}
	for _, row := range []int{8, 64, 256, 3072} {
		count := 1 << 20 / row
		index, dst := make([]int64, count), make([]byte, count*row)
		for name, f := range map[string]func(dst, src []byte, row, stride int, index []int64){"go": gatherGo, "used": gather} {
			b.Run(fmt.Sprintf("row=%d/%s", row, name), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					b.StopTimer()
					for i := range index {
						index[i] = int64(r.Uint64N(uint64(len(src) / row)))
					}
					b.StartTimer()
					f(dst, src, row, row, index)
				}
			})
		}
	}
}
