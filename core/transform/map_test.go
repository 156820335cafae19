package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
)

// changing makes x times ten, as many fours as x says, and a number drawn by chance.
// It fails at 4.
func changing() byRow {
	e := element(leaf('i', 8), leaf('i', 8, -1), leaf('i', 8))
	return byRow{e, func(row block.Block, n int64, key rng.Key) ([]value, error) {
		x := at(row, 0, 0)
		if x == 4 {
			return nil, errs.New(errs.InvalidArgument, "map", "4 is too much")
		}
		fours := vector(upTo(0, x%3, 1)...)
		return []value{number(10 * x), fours, number(int64(key.Uint64(uint64(n)) >> 1))}, nil
	}}
}

func TestMapKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition { return Map(in, changing(), 3) })
}

func TestMap(t *testing.T) {
	d := Map(datasettest.Range(6), changing(), 1)
	require.Equal(t, []int64{0, 10, 20, 30, -1, 50}, firsts(t, d))
	require.EqualValues(t, 6, d.Cardinality())
	require.Implements(t, (*dataset.Indexed)(nil), d)
	require.Equal(t, "(int64[], int64[-1], int64[])", d.Spec().String())

	streamed := Map(stream(datasettest.Range(6)), changing(), 1)
	_, indexed := streamed.(dataset.Indexed)
	require.False(t, indexed)
	for pass := range int64(2) {
		key := dataset.PassKey(pass)
		require.Equal(t, datasettest.ReadAll(t, d, key, limit), datasettest.ReadAll(t, streamed, key, limit))
		require.Equal(t, datasettest.ReadAll(t, Map(lame(13), changing(), 1), key, limit), datasettest.ReadAll(t, Map(stream(lame(13)), changing(), 1), key, limit))
	}
}

// What is drawn depends on the pass, the height and the element, and on nothing else.
func TestChanceInMaps(t *testing.T) {
	drawn := func(d dataset.Definition, pass int64) []int64 {
		var out []int64
		for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(pass), limit) {
			if e.Err == "" {
				out = append(out, datasettest.Element{Data: e.Data[2:]}.Int64s()[0])
			}
		}
		return out
	}
	r := datasettest.Range(9)
	first := drawn(Map(r, changing(), 1), 0)
	seen := map[int64]bool{}
	for _, x := range first {
		seen[x] = true
	}
	require.Len(t, seen, len(first))
	require.NotEqual(t, first, drawn(Map(r, changing(), 1), 1))
	require.NotEqual(t, first, drawn(Map(r, changing(), 2), 0))
	again := drawn(must(Repeat(Map(r, changing(), 1), 2)), 0)
	require.NotEqual(t, again[:8], again[8:])
}
