package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

// only is component i of the elements of a dataset.
func only(d made, i int) made {
	return made{&spec.Element{Components: d.spec.Components[i : i+1]}, d.n, func(k int64) ([]value, error) {
		values, err := d.f(k)
		if err != nil {
			return nil, err
		}
		return values[i : i+1], nil
	}}
}

func TestSparseBatchKeepsToTheContracts(t *testing.T) {
	for i, row := range [][]int64{{-1, 3}, {-1}, {}} {
		in := only(grids(13), i)
		for name, in := range map[string]dataset.Definition{"indexed": in, "stream": stream(in), "repeated": must(Repeat(stream(in), 2))} {
			t.Run(name, func(t *testing.T) { datasettest.Check(t, must(SparseBatch(in, 3, row)), limit) })
		}
	}
}

func TestSparseBatch(t *testing.T) {
	d := must(SparseBatch(only(grids(5), 0), 3, []int64{-1, 4}))
	require.Equal(t, "SparseTensor(indices=int64[-1 3], values=int64[-1], dense_shape=int64[3])", d.Spec().String())
	require.EqualValues(t, 2, d.Cardinality())
	e := datasettest.ReadAll(t, d, dataset.PassKey(0), 1)[0]
	require.Equal(t, "[8 3], [8], [3]", e.Shapes)
	require.Equal(t, []int64{1, 0, 0, 1, 0, 1, 2, 0, 0, 2, 0, 1, 2, 0, 2, 2, 1, 0, 2, 1, 1, 2, 1, 2}, e.Int64s())
	require.Equal(t, []int64{1, 2, 1, 2, 3, 4, 5, 6}, datasettest.Element{Data: e.Data[1:]}.Int64s())
	require.Equal(t, []int64{3, 2, 4}, datasettest.Element{Data: e.Data[2:]}.Int64s())
	rows := must(Unbatch(must(RaggedBatch(only(grids(3), 0), 3, true, 8))))
	require.Equal(t, datasettest.ReadAll(t, d, dataset.PassKey(0), 1), datasettest.ReadAll(t, must(SparseBatch(rows, 3, []int64{-1, 4})), dataset.PassKey(0), 1))

	for op, err := range map[string]error{"unbatch": second(Unbatch(d)), "rebatch": second(Rebatch(zipped(datasettest.Range(9), d), []int64{2}, false))} {
		require.Equal(t, errs.Unimplemented, errs.KindOf(err), op)
		require.ErrorContains(t, err, op+": sparse tensors")
	}
	again := must(Unbatch(must(Batch(d, 1, true)))) // of batches of them, as they are stacked
	require.Equal(t, datasettest.ReadAll(t, d, dataset.PassKey(0), 9), datasettest.ReadAll(t, again, dataset.PassKey(0), 9))

	small := datasettest.ReadAll(t, must(SparseBatch(only(grids(5), 0), 3, []int64{-1, 2})), dataset.PassKey(0), 2)
	require.Contains(t, small[0].Err, "has the shape [2 3], which is larger than row_shape, [-1 2]")
	for want, make := range map[string]func() (dataset.Definition, error){
		"batch_size is 0":         func() (dataset.Definition, error) { return SparseBatch(only(grids(5), 0), 0, []int64{-1, 4}) },
		"row_shape is [4]":        func() (dataset.Definition, error) { return SparseBatch(only(grids(5), 0), 1, []int64{4}) },
		"one component, an array": func() (dataset.Definition, error) { return SparseBatch(grids(5), 1, []int64{4}) },
		"elements are :ragged(values=i": func() (dataset.Definition, error) {
			return SparseBatch(raggedIn(only(grids(5), 0), true), 1, []int64{4})
		},
	} {
		_, err := make()
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
}
