package transform

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
)

// A stream ends behind what breaks it off, such as a file that is cut: operations that go
// past its last element tell of that, once, and of nothing that they go past before.
func TestWhatBreaksAStreamOff(t *testing.T) {
	const n = 9 // elements, of which 0, 5, 6 and the last one fail
	for name, c := range map[string]struct {
		on    func(d dataset.Definition) dataset.Definition
		tells bool
	}{
		"skip to it":          {func(d dataset.Definition) dataset.Definition { return must(Skip(d, n-1)) }, true},
		"skip it":             {func(d dataset.Definition) dataset.Definition { return must(Skip(d, n)) }, true},
		"skip more":           {func(d dataset.Definition) dataset.Definition { return must(Skip(d, 2*n)) }, true},
		"take before it":      {func(d dataset.Definition) dataset.Definition { return must(Skip(must(Take(d, 8)), 7)) }, false},
		"its shard":           {func(d dataset.Definition) dataset.Definition { return must(Shard(d, 2, 0)) }, true},
		"another shard":       {func(d dataset.Definition) dataset.Definition { return must(Shard(d, 2, 1)) }, true},
		"a shard of nothing":  {func(d dataset.Definition) dataset.Definition { return must(Shard(d, 20, 19)) }, true},
		"a full batch":        {func(d dataset.Definition) dataset.Definition { return must(Batch(first(d), 2, true)) }, true},
		"a full padded batch": {func(d dataset.Definition) dataset.Definition { return must(PaddedBatch(first(d), 2, Padding{}, true)) }, true},
		"full batches of sizes": {func(d dataset.Definition) dataset.Definition {
			return must(Rebatch(must(Batch(first(d), 1, false)), []int64{2, 5}, true))
		}, true},
	} {
		d := c.on(stream(lame(n)))
		all := datasettest.ReadAll(t, d, dataset.PassKey(0), limit)
		require.Equal(t, c.tells, len(all) > 0 && all[len(all)-1].Err != "", name)
		datasettest.Check(t, d, limit)
	}
}

// Windows tell of it where it is in none of them.
func TestWindowsOfAStreamThatIsBrokenOff(t *testing.T) {
	for _, o := range []WindowOptions{{2, 2, 1, true}, {1, 3, 1, false}, {1, 7, 1, false}, {2, 2, 2, false}, {2, 1, 2, true}, {5, 2, 3, true}, {3, 1, 1, false}, {20, 1, 1, true}} {
		for n := int64(3); n < 10; n++ {
			d := windowed(first(stream(lame(n))), o)
			in := false // some window
			for k := range o.windows(n) {
				in = in || slices.Contains(o.of(nil, k, n), n-1)
			}
			all := datasettest.ReadAll(t, d, dataset.PassKey(0), limit)
			want := int(o.windows(n))
			if !in {
				want++
				require.Contains(t, all[len(all)-1].Err, fmt.Sprintf("element %d is lame", n-1))
			}
			require.Len(t, all, want, "%v of %d", o, n)
			datasettest.Check(t, d, limit)
		}
	}
}
