package transform

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

func TestRebatchKeepsToTheContracts(t *testing.T) {
	r := datasettest.Range(13)
	for name, in := range map[string]dataset.Definition{
		"indexed":          must(Batch(r, 3, true)),
		"with a remainder": batched(r, 3),
		"endless":          must(Batch(datasettest.Range(-1), 4, true)),
		"stream":           batched(stream(r), 4),
		"heaps":            heaps(13),
		"nothing":          batched(datasettest.Range(0), 4),
		"lame":             must(Batch(must(Shard(lame(73), 6, 0)), 2, true)),
	} {
		for _, sizes := range [][]int64{{2}, {5, 1, 3}, {1, 4}} {
			for _, drop := range []bool{false, true} {
				d := must(Rebatch(in, sizes, drop))
				t.Run(fmt.Sprint(name, sizes, drop), func(t *testing.T) { datasettest.Check(t, d, 25) })
			}
		}
	}
}

func TestRebatch(t *testing.T) {
	in := must(Batch(datasettest.Range(15), 3, true))
	for name, c := range map[string]struct {
		in    dataset.Definition
		sizes []int64
		drop  bool
		want  []int
		spec  string
	}{
		"smaller":        {in, []int64{2}, false, []int{2, 2, 2, 2, 2, 2, 2, 1}, "int64[-1]"},
		"dropped":        {in, []int64{2}, true, []int{2, 2, 2, 2, 2, 2, 2}, "int64[2]"},
		"larger":         {in, []int64{6}, false, []int{6, 6, 3}, "int64[-1]"},
		"it divides":     {in, []int64{3}, false, []int{3, 3, 3, 3, 3}, "int64[3]"},
		"all equal":      {in, []int64{1, 1}, false, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, "int64[1]"},
		"in turn":        {in, []int64{4, 1, 2}, false, []int{4, 1, 2, 4, 1, 2, 1}, "int64[-1]"},
		"turn, dropped":  {in, []int64{4, 1, 2}, true, []int{4, 1, 2, 4, 1, 2}, "int64[-1]"},
		"turn fits":      {in, []int64{7, 1, 7}, true, []int{7, 1, 7}, "int64[-1]"},
		"turn of stream": {batched(stream(datasettest.Range(15)), 4), []int64{4, 1, 2}, true, []int{4, 1, 2, 4, 1, 2}, "int64[-1]"},
	} {
		d := must(Rebatch(c.in, c.sizes, c.drop))
		require.Equal(t, c.want, sizes(t, d), name)
		require.Equal(t, c.spec, d.Spec().String(), name)
		if d.Cardinality() >= 0 {
			require.EqualValues(t, len(c.want), d.Cardinality(), name)
		}
		require.Equal(t, upTo(0, 14, 1), values(t, d, 0)[:14], name)
	}
	require.Equal(t, []int{4, 11}, sizes(t, must(Rebatch(in, []int64{4, 1 << 60}, false))))
	require.Equal(t, []int{4}, sizes(t, must(Rebatch(in, []int64{4, 1 << 60}, true))))
	require.Empty(t, sizes(t, must(Rebatch(in, []int64{1 << 60, 4}, true))))
	for _, sizes := range [][]int64{nil, {0}, {2, -1}, {1 << 60, 1 << 62}} {
		_, err := Rebatch(must(Repeat(in, -1)), sizes, false)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%v", sizes)
	}
	_, err := Rebatch(datasettest.Range(3), []int64{2}, false)
	require.ErrorContains(t, err, "is a scalar")
}
