package rng

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireBijection walks the whole order and its inverse.
func requireBijection(t *testing.T, n int64, key Key) {
	t.Helper()
	p := NewPermutation(n, key)
	order := make([]int64, n)
	p.Fill(order, 0)
	seen := make([]bool, n)
	for i, x := range order {
		if x < 0 || x >= n || seen[x] || p.Inverse(x) != int64(i) {
			t.Fatalf("n=%d: place %d holds %d, twice or outside, or its inverse is %d", n, i, x, p.Inverse(x))
		}
		seen[x] = true
	}
}

func TestBijectionForEverySmallN(t *testing.T) {
	for n := int64(1); n <= 4096; n++ {
		requireBijection(t, n, NewKey(7, uint64(n)))
	}
}

func TestBijectionAroundPowersOfTwo(t *testing.T) {
	for k := 13; k <= 20; k++ {
		for _, n := range []int64{1<<k - 1, 1 << k, 1<<k + 1} {
			requireBijection(t, n, NewKey(8, uint64(n)))
		}
	}
}

// Above 2^20 the order is sampled: an element that the inverse finds again is in
// one place only.
func TestBijectionOfLargeNThroughTheInverse(t *testing.T) {
	for k := 21; k <= 40; k++ {
		for _, n := range []int64{1<<k - 1, 1 << k, 1<<k + 1} {
			p := NewPermutation(n, NewKey(9, uint64(n)))
			pick := NewKey(10, uint64(n))
			for i := range uint64(1000) {
				x := int64(pick.Uint64(i) % uint64(n))
				y := p.At(x)
				require.True(t, 0 <= y && y < n, "n=%d: place %d holds %d", n, x, y)
				require.Equal(t, x, p.Inverse(y), "n=%d", n)
				require.Equal(t, x, p.At(p.Inverse(x)), "n=%d", n)
			}
		}
	}
}

func TestLargestN(t *testing.T) {
	const n = 1<<63 - 1
	p := NewPermutation(n, NewKey(1))
	for _, i := range []int64{0, 1, n / 2, n - 1} {
		require.Equal(t, i, p.Inverse(p.At(i)))
	}
}

// Fill is a kernel for many numbers at once.
func TestFillAgreesWithAt(t *testing.T) {
	for _, n := range []int64{1, 2, 1000, 65536, 65537, 131071, 1 << 17, 131073, 1<<32 + 1, 1<<33 + 1, 1<<63 - 1} {
		p := NewPermutation(n, NewKey(11, uint64(n)))
		for _, length := range []int64{0, 1, 2, 3, 4, 5, 31, 32, 33, 63, 255, 256, 257, 1000} {
			for _, start := range []int64{0, 1, n / 3, n - length} {
				if start < 0 || start+length > n {
					continue
				}
				dst := make([]int64, length+1)
				p.Fill(dst[:length], start)
				for i, x := range dst[:length] {
					require.Equal(t, p.At(start+int64(i)), x, "n=%d start=%d place %d", n, start, i)
				}
				require.Zero(t, dst[length], "wrote past the end")
			}
		}
	}
}

func TestOutsideIsRefused(t *testing.T) {
	for _, n := range []int64{0, 10, 70_000} {
		p := NewPermutation(n, NewKey(1))
		require.Panics(t, func() { p.At(-1) })
		require.Panics(t, func() { p.At(n) })
		require.Panics(t, func() { p.Inverse(n) })
		require.Panics(t, func() { p.Fill(make([]int64, 2), n-1) })
		require.NotPanics(t, func() { p.Fill(nil, n) })
	}
	require.Panics(t, func() { NewPermutation(-1, NewKey(1)) })
}

func TestOnePermutationServesManyGoroutines(t *testing.T) {
	for _, n := range []int64{1000, 70_000} {
		p := NewPermutation(n, NewKey(3))
		var wg sync.WaitGroup
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for i := range n {
					if p.Inverse(p.At(i)) != i {
						panic(fmt.Sprintf("n=%d i=%d", n, i))
					}
				}
			}()
		}
		wg.Wait()
	}
}
