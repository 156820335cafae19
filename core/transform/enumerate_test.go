package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
)

func TestEnumerateKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition { return Enumerate(in, 5) })
	checkOn(t, func(in dataset.Definition) dataset.Definition { return batched(Enumerate(in, 0), 1) })
}

func TestEnumerate(t *testing.T) {
	d := Enumerate(datasettest.Range(4), 5)
	require.Equal(t, []int64{5, 6, 7, 8}, firsts(t, d))
	require.Equal(t, "(int64[], int64[])", d.Spec().String())
	require.EqualValues(t, 4, d.Cardinality())
	require.Implements(t, (*dataset.Indexed)(nil), d)
	require.Equal(t, []int64{-1, 1, 2, 3, 4, -1, -1, 7, -1}, firsts(t, Enumerate(lame(9), 0)), "what fails has a number too")
	require.Equal(t, []int64{-1, 1, 2, 3, 4, -1, -1, 7, -1}, firsts(t, Enumerate(stream(lame(9)), 0)))
	nested := Enumerate(Enumerate(mixed(3), 0), 1)
	require.Equal(t, "(int64[], (int64[], (int64[], object[-1], int64[-1])))", nested.Spec().String())
}
