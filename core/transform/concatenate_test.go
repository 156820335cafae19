package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

func TestConcatenateKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition { return must(Concatenate(in, in)) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return must(Concatenate(stream(in), in)) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return must(Concatenate(Enumerate(lame(7), 0), Enumerate(lame(0), 0), Enumerate(lame(4), 0)))
	})
}

func TestConcatenate(t *testing.T) {
	r := datasettest.Range(3)
	d := must(Concatenate(r, datasettest.Range(0), r))
	require.Equal(t, []int64{0, 1, 2, 0, 1, 2}, firsts(t, d))
	require.Implements(t, (*dataset.Indexed)(nil), d)
	require.Equal(t, []int64{0, 1, 2, 0, 1, 2}, firsts(t, must(Concatenate(stream(r), datasettest.Range(0), r))))
	access := firsts(t, must(Take(must(Skip(must(Concatenate(r, datasettest.Range(-1))), 2)), 4)))
	require.Equal(t, []int64{2, 0, 1, 2}, access)
	require.Equal(t, "int64[-1]", must(Concatenate(must(Batch(r, 3, true)), must(Batch(r, 2, true)))).Spec().String())

	for name, in := range map[string][]dataset.Definition{
		"at least one": nil,
		"dataset 0 has int64[] and dataset 1 has":       {r, mixed(3)},
		"dataset 0 has int64[] and dataset 2 has int64": {r, r, batched(r, 2)},
	} {
		_, err := Concatenate(in...)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
		require.ErrorContains(t, err, name)
	}
}
