package pipeline_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"infeed/core/pipeline"
)

// A dataset of ten numbers, shuffled, in batches of four, read by two workers.
func Example() {
	numbers := make([]byte, 80)
	for i := range 10 {
		binary.LittleEndian.PutUint64(numbers[8*i:], uint64(i))
	}
	ds, err := pipeline.New(pipeline.Chain(
		&pipeline.Slices{Rows: 10, Arrays: []pipeline.Array{{DType: "<i8", Data: numbers}}},
		&pipeline.Shuffle{Seed: 1},
		&pipeline.Batch{BatchSize: 4},
	))
	if err != nil {
		panic(err)
	}
	it, err := ds.Iterate(pipeline.Options{Pass: 0, Workers: 2})
	if err != nil {
		panic(err)
	}
	defer it.Close()
	for {
		group, err := it.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			panic(err)
		}
		for i := range group.Block.Rows {
			batch := group.Block.Slice(i, i+1).Columns[0].Data
			fmt.Println("batch", group.Start+i, "has", len(batch)/8, "elements, the first is", binary.LittleEndian.Uint64(batch))
		}
		group.Release()
	}
	// Output:
	// batch 0 has 4 elements, the first is 2
	// batch 1 has 4 elements, the first is 4
	// batch 2 has 2 elements, the first is 1
}
