package pipeline

import (
	"fmt"
	"testing"
)

// BenchmarkShuffledBatches prints rows a second as they reach a consumer in Go,
// for the arrays of workload W2: rows of 256 bytes and of 3 KB, each with a label.
func BenchmarkShuffledBatches(b *testing.B) {
	for _, w := range []struct{ rows, row int64 }{{1_000_000, 256}, {60_000, 3072}} {
		source := &Slices{Rows: w.rows, Structure: numbers(1).Structure, Arrays: []Array{
			{DType: "|u1", Shape: []int64{w.row}, Data: make([]byte, w.rows*w.row)}, {DType: "<i8", Data: make([]byte, w.rows*8)}}}
		for i := range source.Arrays[0].Data {
			source.Arrays[0].Data[i] = byte(i)
		}
		d, err := New(Chain(source, &Shuffle{Seed: 1}, &Repeat{Count: -1}, &Batch{BatchSize: 256}))
		if err != nil {
			b.Fatal(err)
		}
		for _, workers := range []int{0, 1, 2} {
			b.Run(fmt.Sprintf("row=%d/workers=%d", w.row, workers), func(b *testing.B) {
				it, err := d.Iterate(Options{Workers: workers})
				if err != nil {
					b.Fatal(err)
				}
				defer it.Close()
				rows := int64(0)
				for b.Loop() {
					g, err := it.Next()
					if err != nil {
						b.Fatal(err)
					}
					rows += g.Block.Rows * 256
					g.Release()
				}
				b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
			})
		}
	}
}
