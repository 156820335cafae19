package rng

import (
	"fmt"
	"testing"
)

// BenchmarkFill prints the time of an index in bulk; worst is 2^k+1, where every
// second number falls outside.
func BenchmarkFill(b *testing.B) {
	dst := make([]int64, 4096)
	for _, n := range []int64{1e3, 65536, 65537, 1e5, 1e6, 1e7, 1e8, 1e9, 1<<30 + 1, 1 << 30} {
		p := NewPermutation(n, NewKey(1, uint64(n)))
		size := min(n, int64(len(dst)))
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			var start, count int64
			for b.Loop() {
				p.Fill(dst[:size], start)
				count += size
				if start += size; start > n-size {
					start = 0
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(count), "ns/index")
		})
	}
}

// BenchmarkTable prints what making the order of a small dataset costs an element.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		NewPermutation(tableMax, NewKey(uint64(b.N)))
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tableMax, "ns/element")
}
