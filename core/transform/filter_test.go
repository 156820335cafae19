package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

// odds is true of odd numbers and fails at 8.
func odds() byRow {
	return isTrue(func(x int64) (bool, error) {
		if x == 8 {
			return false, errs.New(errs.InvalidArgument, "filter", "what is 8?")
		}
		return x%2 == 1, nil
	})
}

func TestFilterKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition { return must(Filter(in, odds(), 1)) })
}

func TestFilter(t *testing.T) {
	for name, in := range map[string]dataset.Definition{"indexed": datasettest.Range(12), "stream": stream(datasettest.Range(12))} {
		require.Equal(t, []int64{1, 3, 5, 7, -1, 9, 11}, firsts(t, must(Filter(in, odds(), 1))), name)
	}
	none := must(Filter(datasettest.Range(500), isTrue(func(int64) (bool, error) { return false, nil }), 1))
	require.Empty(t, firsts(t, none))
	require.EqualValues(t, dataset.Unknown, none.Cardinality())
	require.Equal(t, []int64{-1, 1, 3, -1, -1, 7, -1, 9, 11, -1}, firsts(t, must(Filter(lame(13), odds(), 1))))

	_, err := Filter(datasettest.Range(3), changing(), 1)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.ErrorContains(t, err, "must return a bool scalar; it returns (int64[]")
	for _, p := range []byRow{{spec: element(leaf('b', 1, 1))}, {spec: element(leaf('i', 8))}} {
		_, err := Filter(datasettest.Range(3), p, 1)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
}

func TestTakeWhileKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition {
		return must(TakeWhile(in, isTrue(func(x int64) (bool, error) {
			if x == 3 {
				return false, errs.New(errs.InvalidArgument, "take_while", "what is 3?")
			}
			return x < 10, nil
		}), 1))
	})
}

func TestTakeWhile(t *testing.T) {
	below := func(n int64) byRow { return isTrue(func(x int64) (bool, error) { return x < n, nil }) }
	r := datasettest.Range(12)
	require.Equal(t, upTo(0, 5, 1), firsts(t, must(TakeWhile(r, below(5), 1))))
	require.Equal(t, upTo(0, 12, 1), firsts(t, must(TakeWhile(r, below(50), 1))))
	require.Empty(t, firsts(t, must(TakeWhile(r, below(0), 1))))
	require.Equal(t, []int64{-1, 1, 2, 3, 4, -1, -1}, firsts(t, must(TakeWhile(lame(13), below(7), 1))))
	require.EqualValues(t, dataset.Unknown, must(TakeWhile(r, below(5), 1)).Cardinality())
	_, err := TakeWhile(r, changing(), 1)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}
