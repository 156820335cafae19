package pipeline

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
)

// The cost of one inner dataset of three elements.
func BenchmarkFlatMap(b *testing.B) {
	for name, text := range map[string]string{
		"rows":  on("flat_map", returning(on("slices_of_values", `"structure": null, "values": [0]`), itself, int64Spec), on("batch", `"batch_size": 3, "drop_remainder": true`, rangeTo("1000000000"))),
		"range": on("flat_map", returning(rangeTo(`{"$value": 0}`), itself, int64Spec), on("map", `"map_func": {"name": "g", "program": `+remainder+`}`, rangeTo("1000000000"))),
	} {
		b.Run(name, func(b *testing.B) {
			d, err := definitionOf(b, text, nil)
			require.NoError(b, err)
			s := datasettest.Scope(0)
			defer s.Close()
			it, err := d.def.Iterate(s, dataset.PassKey(0), nil)
			require.NoError(b, err)
			var buffer block.Buffer
			b.ReportAllocs()
			for b.Loop() {
				buffer.Reset()
				if _, err := it.Next(64, &buffer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
