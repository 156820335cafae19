package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSplitTwinsAgree(t *testing.T) {
	for _, width := range []int{1, 2, 3, 4, 8, 16} {
		for _, n := range []int{0, 1, 2, 7, 8, 15, 16, 63, 64, 65, 127, 1000, 4096, 5003} {
			src := randomBytes(n)
			want, got, back := make([]byte, n), make([]byte, n), make([]byte, n)
			splitGo(want, src, width, n/width)
			copy(want[n/width*width:], src[n/width*width:])
			Split(got, src, width)
			require.Equal(t, want, got, "%d values of %d bytes", n/width, width)
			Join(back, got, width)
			require.Equal(t, src, back, "%d values of %d bytes", n/width, width)
			joinGo(back, got, width, n/width, n/width)
			require.Equal(t, src, back)
		}
	}
}

func TestPartsAreJoined(t *testing.T) {
	for _, width := range []int{1, 2, 3, 4, 8} {
		for _, n := range []int{0, 1, 7, 64, 1003} {
			src, apart := randomBytes(n), make([]byte, n)
			Split(apart, src, width)
			for first := 0; first <= n; first += width * (1 + n/50) {
				for _, size := range []int{0, 1, width, 3*width + 1, 40 * width, n - first} {
					if size > n-first {
						continue
					}
					got := make([]byte, size)
					JoinPart(got, apart, width, first)
					require.Equal(t, src[first:first+size], got, "%d bytes from %d on of %d, of values of %d", size, first, n, width)
				}
			}
		}
	}
}

func TestSplitPanicsOutside(t *testing.T) {
	require.Panics(t, func() { Split(make([]byte, 3), make([]byte, 4), 2) })
	require.Panics(t, func() { Join(make([]byte, 4), make([]byte, 4), 0) })
	require.Panics(t, func() { Join(make([]byte, 4), make([]byte, 5), 1) })
	for _, first := range []int{-4, 2, 8, 1 << 62} { // of eight bytes, four of which are wanted
		require.Panics(t, func() { JoinPart(make([]byte, 4), make([]byte, 8), 4, first) }, "%d", first)
	}
}
