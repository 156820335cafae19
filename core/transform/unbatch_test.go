package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

// heaps are batches of texts and numbers, of differing sizes; one has unequal
// components.
func heaps(n int64) made {
	e := element(leaf('i', 8, -1), leaf('O', 0, -1))
	return made{e, n, func(i int64) ([]value, error) {
		if i == 6 {
			return []value{vector(1, 2), texts("one")}, nil
		}
		words := []string{"zero", "one", "two", "three"}[:i%4]
		return []value{vector(upTo(100*i, 100*i+i%4, 1)...), texts(words...)}, nil
	}}
}

func TestUnbatchKeepsToTheContracts(t *testing.T) {
	r, endless := datasettest.Range(13), datasettest.Range(-1)
	for name, in := range map[string]dataset.Definition{
		"indexed":          must(Batch(r, 3, true)),
		"with a remainder": batched(r, 3),
		"stream":           batched(stream(r), 4),
		"endless":          batched(endless, 3),
		"endless stream":   batched(stream(endless), 3),
		"twice batched":    must(Batch(must(Batch(r, 2, true)), 3, true)),
		"heaps":            heaps(13),
		"heaps, stream":    stream(heaps(13)),
		"texts":            must(Batch(Enumerate(must(Take(must(Shard(mixed(60), 6, 2)), 9)), 0), 2, true)),
		"lame":             must(Batch(must(Shard(lame(73), 6, 0)), 2, true)),
		"shuffled":         shuffledBy(must(Batch(r, 3, true)), 1, 1),
		"empty":            must(Batch(datasettest.Range(0), 3, true)),
	} {
		d := must(Unbatch(in))
		t.Run(name, func(t *testing.T) { datasettest.Check(t, d, limit) })
		t.Run(name+", shuffled", func(t *testing.T) {
			datasettest.Check(t, must(Shuffle(d, ShuffleOptions{Seed: 1, Window: 50})), limit)
		})
	}
}

func TestUnbatch(t *testing.T) {
	r := datasettest.Range(7)
	d := must(Unbatch(must(Batch(r, 3, true))))
	require.Implements(t, (*dataset.Indexed)(nil), d)
	require.EqualValues(t, 6, d.Cardinality())
	require.Equal(t, "int64[]", d.Spec().String())
	require.Equal(t, upTo(0, 6, 1), firsts(t, d))
	d = must(Unbatch(batched(r, 3)))
	require.EqualValues(t, dataset.Unknown, d.Cardinality())
	require.Equal(t, upTo(0, 7, 1), firsts(t, d))
	require.EqualValues(t, dataset.Infinite, must(Unbatch(batched(datasettest.Range(-1), 3))).Cardinality())
	require.Equal(t, []int64{100, 200, 201, 300, 301, 302, 500, -1, 700, 701, 702}, firsts(t, must(Unbatch(heaps(8)))))

	for name, in := range map[string]dataset.Definition{
		"component is a scalar":                              r,
		"component[0] has 3 elements and component[1] has 2": zipped(must(Batch(r, 3, true)), must(Batch(r, 2, true))),
	} {
		_, err := Unbatch(in)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
		require.ErrorContains(t, err, name)
	}
}
