package dataset_test

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

func TestIteratorStopsAtTheEnd(t *testing.T) {
	r := datasettest.Range(5)
	it, err := dataset.NewIterator(r, 5, dataset.Token{Position: 3})
	require.NoError(t, err)
	run, err := it.Next(100)
	require.NoError(t, err)
	require.Equal(t, []int64{3, 2}, []int64{run.Start, run.Count})
	require.Equal(t, dataset.Token{Position: 5}, it.Token())
	for range 2 {
		_, err = it.Next(1)
		require.Equal(t, io.EOF, err)
	}
}

func TestIteratorRefusesStatesOfAnotherLength(t *testing.T) {
	for _, position := range []int64{-1, 6, 1 << 62} {
		_, err := dataset.NewIterator(datasettest.Range(5), 5, dataset.Token{Position: position})
		require.Equal(t, errs.StateMismatch, errs.KindOf(err))
	}
	endless := datasettest.Range(dataset.Infinite)
	_, err := dataset.NewIterator(endless, dataset.Infinite, dataset.Token{Position: 1 << 62})
	require.Equal(t, errs.StateMismatch, errs.KindOf(err))
}

func TestConsecutive(t *testing.T) {
	for _, yes := range [][]int64{{0}, {5}, {3, 4, 5}} {
		require.True(t, dataset.Consecutive(yes), "%v", yes)
	}
	for _, no := range [][]int64{{}, {1, 1}, {2, 1}, {0, 1, 3}, {1, 3, 4}} {
		require.False(t, dataset.Consecutive(no), "%v", no)
	}
}
