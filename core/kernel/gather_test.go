package kernel

import (
	"fmt"
	"math/rand/v2"
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
		for _, count := range []int{0, 1, 2, 31, 32, 33, 100} {
			const rows = 50
			src := randomBytes(row*rows + row/2) // what is left after the last row is not one
			index := make([]int64, count)
			for i := range index {
				index[i] = int64(rand.IntN(rows))
			}
			want, got := make([]byte, row*count+9), make([]byte, row*count+9)
			gatherGo(want, src, row, index)
			require.NoError(t, Gather(got, src, row, index))
			require.Equal(t, want, got, "row=%d count=%d", row, count)
			require.Equal(t, make([]byte, 9), got[row*count:], "wrote past the end")
		}
	}
}

func TestScatterTwinsAgree(t *testing.T) {
	for _, row := range []int{1, 3, 8, 16, 63, 64, 65, 256, 1000, 5000} {
		for _, count := range []int{0, 1, 2, 31, 32, 33, 50} {
			const rows = 50
			src, index := randomBytes(row*count), make([]int64, 0, rows)
			for _, i := range rand.Perm(rows)[:count] {
				index = append(index, int64(i))
			}
			want, got := make([]byte, row*rows+row/2), make([]byte, row*rows+row/2)
			scatterGo(want, src, row, index)
			Scatter(got, src, row, index)
			require.Equal(t, want, got, "row=%d count=%d", row, count)
		}
	}
	for name, index := range map[string][]int64{"negative": {0, -1}, "past the end": {0, 5}, "more than there are": {0, 1, 2}} {
		require.Panics(t, func() { Scatter(make([]byte, 40), make([]byte, 16), 8, index) }, name)
	}
}

func TestGatherTextTwinsAgree(t *testing.T) {
	data := randomBytes(5000)
	for _, count := range []int{0, 1, 2, 31, 32, 33, 100} {
		var starts, ends, index []int64
		for range 50 {
			from := rand.IntN(len(data))
			starts, ends = append(starts, int64(from)), append(ends, int64(from+rand.IntN(min(200, len(data)-from+1))))
		}
		for range count {
			index = append(index, int64(rand.IntN(len(starts))))
		}
		n := textBytesGo(data, starts, ends, index)
		require.Equal(t, n, TextBytes(data, starts, ends, index))
		want, got := make([]byte, n+16), make([]byte, n+16)
		wantStarts, wantEnds, gotStarts, gotEnds := make([]int64, count), make([]int64, count), make([]int64, count), make([]int64, count)
		gatherTextGo(want[7:], 7, wantStarts, wantEnds, data, starts, ends, index)
		GatherText(got, 7, gotStarts, gotEnds, data, starts, ends, index)
		require.Equal(t, want, got)
		require.Equal(t, wantStarts, gotStarts)
		require.Equal(t, wantEnds, gotEnds)
		for i, k := range index {
			require.Equal(t, data[starts[k]:ends[k]], got[gotStarts[i]:gotEnds[i]])
		}
	}
}

func TestGatherTextStaysInside(t *testing.T) {
	data := make([]byte, 10)
	for name, bad := range map[string][3][]int64{ // starts, ends, index
		"no such string": {{0}, {10}, {1}}, "negative number": {{0}, {10}, {-1}}, "before the data": {{-1}, {3}, {0}},
		"behind the data": {{0}, {11}, {0}}, "backwards": {{5}, {4}, {0}},
	} {
		require.Equal(t, int64(-1), textBytesGo(data, bad[0], bad[1], bad[2]), name)
		require.Panics(t, func() { TextBytes(data, bad[0], bad[1], bad[2]) }, name)
	}
}

func TestGatherStaysInside(t *testing.T) {
	src, dst := make([]byte, 40), make([]byte, 16)
	for name, index := range map[string][]int64{"negative": {0, -1}, "past the end": {0, 5}, "huge": {1 << 62}} {
		require.ErrorContains(t, Gather(dst, src, 8, index), "of 5", name)
	}
	require.ErrorContains(t, Gather(dst, src, 8, []int64{0, 1, 2}), "do not fit")
	require.NoError(t, Gather(nil, src, 0, []int64{1, 2}))
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
		for name, f := range map[string]func(dst, src []byte, row int, index []int64){"go": gatherGo, "used": gather} {
			b.Run(fmt.Sprintf("row=%d/%s", row, name), func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 1))
				b.SetBytes(int64(len(dst)))
				for b.Loop() {
					b.StopTimer()
					for i := range index {
						index[i] = int64(r.Uint64N(uint64(len(src) / row)))
					}
					b.StartTimer()
					f(dst, src, row, index)
				}
			})
		}
	}
}
