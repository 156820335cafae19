package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

// raggedIn are batches of three ragged ones of matrices and texts, and numbers; number 7 of the matrices fails.
func raggedIn(in dataset.Definition, drop bool) dataset.Definition {
	return must(RaggedBatch(in, 3, drop, 4))
}

func TestRaggedComponentsKeepToTheContracts(t *testing.T) {
	for name, in := range map[string]dataset.Definition{
		"indexed": raggedIn(grids(13), false), "dropped": raggedIn(grids(13), true), "stream": raggedIn(stream(grids(13)), false),
		"shuffled": shuffledBy(raggedIn(grids(9), true), 1, 1), "repeated": must(Repeat(stream(raggedIn(grids(6), true)), 3)),
		"empty": raggedIn(grids(0), true), "short": must(Take(raggedIn(grids(6), false), 2)),
	} {
		for kind, d := range map[string]dataset.Definition{
			"unbatched":         must(Unbatch(in)),
			"unbatched twice":   must(Unbatch(must(Unbatch(must(Batch(in, 1, true)))))),
			"batched":           must(Batch(in, 2, false)),
			"batched, drop":     must(Batch(in, 2, true)),
			"its rows, batched": must(Batch(must(Unbatch(in)), 4, false)),
			"its rows, padded":  must(PaddedBatch(must(Unbatch(in)), 4, Padding{}, false)),
			"rebatched":         must(Rebatch(in, []int64{2}, false)),
			"in turn":           must(Rebatch(in, []int64{5, 1, 2}, false)),
			"in turn, drop":     must(Rebatch(in, []int64{4, 1}, true)),
			"rows, shuffled":    must(Shuffle(must(Unbatch(in)), ShuffleOptions{Seed: 1, Window: 5})),
		} {
			t.Run(name+" "+kind, func(t *testing.T) { datasettest.Check(t, d, 25) })
		}
	}
}

func TestRowsOfRaggedBatches(t *testing.T) {
	in := raggedIn(grids(6), true)
	d := must(Unbatch(in))
	require.Equal(t, "(:ragged(<i4=int64[-1 -1]), :ragged(<i4=object[-1]), int64[])", d.Spec().String())
	require.Implements(t, (*dataset.Indexed)(nil), d)
	require.EqualValues(t, 6, d.Cardinality())
	require.Equal(t, datasettest.ReadAll(t, grids(6), dataset.PassKey(0), 9), datasettest.ReadAll(t, d, dataset.PassKey(0), 9))
	require.EqualValues(t, dataset.Unknown, must(Unbatch(raggedIn(grids(6), false))).Cardinality())

	again := must(Batch(d, 3, true))
	require.Equal(t, in.Spec(), again.Spec())
	require.Equal(t, datasettest.ReadAll(t, in, dataset.PassKey(0), 9), datasettest.ReadAll(t, again, dataset.PassKey(0), 9))
	require.Equal(t, in.Spec(), must(RaggedBatch(d, 3, true, 8)).Spec(), "rows keep the dtype of their shapes")
	require.Equal(t, in.Spec(), must(Rebatch(again, []int64{3}, false)).Spec())
	require.Equal(t, "(int64[3 -1 -1], object[3 -1], int64[3])", must(PaddedBatch(d, 3, Padding{}, true)).Spec().String())
}

// A batch that fails is one of those that are taken in turn.
func TestBatchesInTurnOfWhatFails(t *testing.T) {
	shapes := func(in dataset.Definition) (out []string) {
		for _, e := range datasettest.ReadAll(t, must(Rebatch(raggedIn(in, true), []int64{2, 1}, false)), dataset.PassKey(0), 20) {
			out = append(out, e.Shapes)
		}
		return out
	}
	require.Equal(t, shapes(grids(12)), shapes(stream(grids(12))))
	require.Equal(t, "[0], [1 2], [2], [1 1], [1]", shapes(grids(12))[7])
}

func TestBatchesOfRaggedBatches(t *testing.T) {
	in := raggedIn(grids(6), true)
	d := must(Batch(in, 2, false))
	require.Equal(t, "(:ragged(values=int64[-1], shapes=int32[-1 3 2]), :ragged(values=object[-1], shapes=int32[-1 3 1]), int64[-1 3])", d.Spec().String())
	e := datasettest.ReadAll(t, d, dataset.PassKey(0), 1)[0]
	require.Equal(t, "[13], [2 3 2], [3], [2 3 1], [2 3]", e.Shapes)
	require.Equal(t, datasettest.ReadAll(t, in, dataset.PassKey(0), 9), datasettest.ReadAll(t, must(Unbatch(d)), dataset.PassKey(0), 9))
}

func TestRaggedBatchesThatCannotBeBatched(t *testing.T) {
	unequal := datasettest.ReadAll(t, must(Batch(raggedIn(grids(4), false), 2, false)), dataset.PassKey(0), 9)
	require.Contains(t, unequal[0].Err, "component[0] has [3] arrays in one element and [1] in another")
	beside := zipped(raggedIn(grids(4), true), batched(datasettest.Range(3), 2))
	require.Contains(t, datasettest.ReadAll(t, must(Unbatch(beside)), dataset.PassKey(0), 9)[0].Err, "component[0][0] has 3 elements and component[1] has 2")
	mixed := must(Unbatch(zipped(raggedIn(grids(3), true), must(Batch(batched(datasettest.Range(6), 2), 3, true)))))
	require.Equal(t, "[8], [3 2], [1], [3 1], [3], [3 2]", datasettest.ReadAll(t, must(Batch(mixed, 3, true)), dataset.PassKey(0), 9)[0].Shapes)
	any := made{&spec.Element{Structure: spec.Structure{Kind: spec.NamedTuple, Name: anyRankName, Keys: []string{"values", "shape"}, Items: make([]spec.Structure, 2)},
		Components: element(leaf('i', 8, -1), leaf('i', 8, -1)).Components}, 0, nil}
	for op, err := range map[string]error{
		"unbatch": second(Unbatch(any)), "batch": second(Batch(any, 2, false)), "rebatch": second(Rebatch(any, []int64{1}, false)),
		"ragged_batch": second(RaggedBatch(any, 2, false, 8)), "padded_batch": second(PaddedBatch(any, 2, Padding{}, false)),
	} {
		require.Equal(t, errs.Unimplemented, errs.KindOf(err), op)
		require.ErrorContains(t, err, "of unknown rank")
	}
	_, err := PaddedBatch(raggedIn(grids(3), true), 2, Padding{}, false)
	require.Equal(t, errs.Unimplemented, errs.KindOf(err))
}

func second[T any](_ T, err error) error { return err }

// Shapes that do not fit the values, as those of a damaged file might be, are an error of that batch alone.
func TestShapesOfRaggedBatchesThatLie(t *testing.T) {
	for name, shapes := range map[string][]int64{
		"too many": {2, 1, 1, 0, 0}, "too few": {1, 1, 0, 0, 0}, "less than none": {-1, 4, 0, 0, 0}, "overflow": {1 << 62, 4, 0, 0, 0},
		"all": {3, 1 << 62, 0, 0, 0}, "all the way round": {1 << 62, 1 << 62, 1 << 62, 1 << 62, 3},
	} {
		torn := made{&spec.Element{Structure: raggedStructure(), Components: []spec.Component{leaf('i', 8, -1), leaf('i', 8, 5, 1)}}, 2,
			func(i int64) ([]value, error) {
				if i == 0 {
					return []value{vector(1, 2, 3), {shape: []int64{5, 1}, ints: shapes}}, nil
				}
				return []value{vector(7, 8, 9), {shape: []int64{5, 1}, ints: []int64{1, 2, 0, 0, 0}}}, nil
			}}
		got := datasettest.ReadAll(t, must(Unbatch(torn)), dataset.PassKey(0), 9)
		require.Contains(t, got[0].Err, "its shapes are those of others", name)
		require.Equal(t, "[1]", got[5].Shapes, name)
		require.Equal(t, []int64{8, 9}, got[6].Int64s(), name)
	}
	deep := made{&spec.Element{Structure: raggedStructure(), Components: []spec.Component{leaf('i', 8, -1), leaf('i', 8, 2, 65)}}, 0, nil}
	_, err := Unbatch(deep)
	require.ErrorContains(t, err, "cannot have the parts")
}
