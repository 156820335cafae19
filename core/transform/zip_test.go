package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

func pair() spec.Structure {
	return spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)}
}

func zipped(in ...dataset.Definition) dataset.Definition {
	return must(Zip(spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(in))}, in...))
}

func TestZipKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition { return zipped(in, datasettest.Range(9)) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return zipped(mixed(40), in, stream(lame(11))) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return zipped(in, mixed(11), in) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return batched(zipped(in, in), 3) })
	r := datasettest.Range(3)
	datasettest.Check(t, zipped(must(Concatenate(r, r, r, r)), must(Repeat(r, 4))), limit)
}

func TestZip(t *testing.T) {
	r := datasettest.Range(5)
	d := zipped(r, shuffledBy(r, 1, 1), shuffledBy(r, 1, 1))
	require.Implements(t, (*dataset.Indexed)(nil), d)
	require.EqualValues(t, 5, d.Cardinality())
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), limit) {
		require.Equal(t, e.Data[1], e.Data[2], "shuffles of one seed go together")
	}
	nested := must(Zip(spec.Structure{Kind: spec.Dict, Keys: []string{"a", "b"}, Items: []spec.Structure{{}, pair()}}, r, mixed(3), r))
	require.Equal(t, "{'a': int64[], 'b': ((int64[], object[-1], int64[-1]), int64[])}", nested.Spec().String())
	require.EqualValues(t, 3, nested.Cardinality())
	require.Equal(t, "(int64[],)", zipped(r).Spec().String())
	require.Equal(t, []int64{-1, 1, 2, 3, 4}, firsts(t, zipped(r, lame(9))), "what fails takes its partner with it")
	require.Equal(t, []int64{-1, 1, 2, 3, 4}, firsts(t, zipped(stream(r), lame(9))))

	_, err := Zip(spec.Structure{Kind: spec.Tuple})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, err = Zip(pair(), r)
	require.ErrorContains(t, err, "1 datasets for 2 places")
}

func TestCardinalityOfZipAndConcatenate(t *testing.T) {
	known, unknown, endless := datasettest.Range(3), stream(datasettest.Range(3)), datasettest.Range(-1)
	for name, c := range map[string]struct {
		a, b           dataset.Definition
		zipped, joined int64
	}{
		"known":       {known, datasettest.Range(7), 3, 10},
		"unknown":     {known, unknown, -2, -2},
		"endless":     {known, endless, 3, -1},
		"all endless": {endless, endless, -1, -1},
		"neither":     {endless, unknown, -2, -1},
	} {
		require.Equal(t, c.zipped, zipped(c.a, c.b).Cardinality(), name)
		if name != "all endless" {
			require.Equal(t, c.joined, must(Concatenate(c.a, c.b)).Cardinality(), name)
			require.Equal(t, c.joined, must(Concatenate(c.b, c.a)).Cardinality(), name)
		}
	}
}
