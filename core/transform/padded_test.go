package transform

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

// grids have matrices and vectors of texts of differing shapes.
func grids(n int64) made {
	e := element(leaf('i', 8, -1, -1), leaf('O', 0, -1), leaf('i', 8))
	return made{e, n, func(i int64) ([]value, error) {
		if i == 7 {
			return nil, errs.New(errs.DataLoss, "grids", "7 is torn")
		}
		a, b := i%3, (i+1)%4
		words := []string{"a", "bc", "def"}[:i%4*3/4]
		grid := value{shape: []int64{a, b}, ints: upTo(1, 1+a*b, 1)}
		return []value{grid, texts(words...), number(i)}, nil
	}}
}

func int64Bytes(x int64) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(x)) }

func TestPaddedAndRaggedBatchKeepToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition { return must(PaddedBatch(in, 3, Padding{}, false)) })
	checkOn(t, func(in dataset.Definition) dataset.Definition { return must(RaggedBatch(in, 3, true, 8)) })
	for name, in := range map[string]dataset.Definition{
		"indexed": grids(13), "stream": stream(grids(13)), "shuffled": shuffledBy(grids(7), 1, 1), "repeated": must(Repeat(stream(grids(6)), 3)),
	} {
		for kind, d := range map[string]dataset.Definition{
			"padded":          must(PaddedBatch(in, 3, Padding{}, false)),
			"to shapes":       must(PaddedBatch(in, 4, Padding{Shapes: [][]int64{{2, -1}, {5}, {}}, Values: [][]byte{int64Bytes(-1), []byte("none")}}, true)),
			"often too small": must(PaddedBatch(in, 2, Padding{Shapes: [][]int64{{-1, 2}, {-1}, {}}}, false)),
			"ragged":          must(RaggedBatch(in, 3, false, 4)),
		} {
			t.Run(name+" "+kind, func(t *testing.T) { datasettest.Check(t, d, limit) })
		}
	}
}

func TestPaddedBatch(t *testing.T) {
	read := func(p Padding) datasettest.Element {
		return datasettest.ReadAll(t, must(PaddedBatch(grids(3), 3, p, false)), dataset.PassKey(0), 1)[0]
	}
	e := read(Padding{})
	require.Equal(t, "[3 2 3], [3 1], [3]", e.Shapes)
	require.Equal(t, []int64{0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6}, e.Int64s())
	require.Equal(t, [][]string{{"", "", "a"}}, e.Texts)
	e = read(Padding{Shapes: [][]int64{{2, 4}, {2}, {}}, Values: [][]byte{int64Bytes(9), []byte("-")}})
	require.Equal(t, "[3 2 4], [3 2], [3]", e.Shapes)
	require.Equal(t, []int64{9, 9, 9, 9, 9, 9, 9, 9, 1, 2, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9}, e.Int64s())
	require.Equal(t, [][]string{{"-", "-", "-", "-", "a", "-"}}, e.Texts)
	e = read(Padding{Shapes: [][]int64{{-1, 2}, {-1}, {}}})
	require.ErrorContains(t, errorOf(e), "component[0] of an element has 3 in dimension 1, which is to be padded to 2")

	d := must(PaddedBatch(grids(9), 2, Padding{Shapes: [][]int64{{-1, 4}, {-1}, {}}}, true))
	require.Equal(t, "(int64[2 -1 4], object[2 -1], int64[2])", d.Spec().String())
	require.EqualValues(t, 4, d.Cardinality())
	require.Implements(t, (*dataset.Indexed)(nil), d)

	for want, p := range map[string]Padding{
		"1 padded_shapes and 0":           {Shapes: [][]int64{{2, 4}}},
		"[2] is not compatible with":      {Shapes: [][]int64{{2}, {2}, {}}},
		"[2 -2] is not compatible with":   {Shapes: [][]int64{{2, -2}, {2}, {}}},
		"value of component[0] int64[-1 ": {Values: [][]byte{{1}}},
		"0 padded_shapes and 4 padding":   {Values: make([][]byte, 4)},
	} {
		_, err := PaddedBatch(grids(3), 3, p, false)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
	_, err := PaddedBatch(batched(must(Batch(datasettest.Range(8), 2, true)), 2), 2, Padding{Shapes: [][]int64{{4, 1}}}, false)
	require.ErrorContains(t, err, "[4 1] is not compatible with component int64[-1 2]")
	_, err = PaddedBatch(grids(3), 0, Padding{}, false)
	require.ErrorContains(t, err, "batch_size is 0")
	require.Equal(t, "[3 2 3], [3 1], [3]", datasettest.ReadAll(t, must(PaddedBatch(grids(3), 1<<61, Padding{}, false)), dataset.PassKey(0), 1)[0].Shapes)
	_, err = PaddedBatch(must(Repeat(grids(3), -1)), 1<<61, Padding{Shapes: [][]int64{{9, 9}, {-1}, {}}}, false)
	require.ErrorContains(t, err, "too large")
}

func errorOf(e datasettest.Element) error {
	if e.Err == "" {
		return nil
	}
	return errs.New(errs.Internal, "", "%s", e.Err)
}

func TestRaggedBatch(t *testing.T) {
	d := must(RaggedBatch(grids(7), 3, false, 8))
	require.Equal(t, "(:ragged(values=int64[-1], shapes=int64[-1 2]), :ragged(values=object[-1], shapes=int64[-1 1]), int64[-1])", d.Spec().String())
	e := datasettest.ReadAll(t, d, dataset.PassKey(0), 1)[0]
	require.Equal(t, "[8], [3 2], [1], [3 1], [3]", e.Shapes)
	require.Equal(t, []int64{1, 2, 1, 2, 3, 4, 5, 6}, e.Int64s())
	require.Equal(t, []int64{0, 1, 1, 2, 2, 3}, datasettest.Element{Data: e.Data[1:]}.Int64s())
	require.Equal(t, [][]string{{"a"}}, e.Texts)
	require.Equal(t, "int64[-1]", must(RaggedBatch(datasettest.Range(3), 2, false, 8)).Spec().String(), "nothing is ragged")
	equal := datasettest.ReadAll(t, must(RaggedBatch(batched(datasettest.Range(8), 2), 4, false, 8)), dataset.PassKey(0), 1)[0]
	require.Equal(t, "[8], [4 1]", equal.Shapes)
	require.Equal(t, upTo(0, 8, 1), equal.Int64s())
	small := must(RaggedBatch(grids(7), 3, true, 4)).Spec()
	require.Equal(t, spec.DType{Kind: 'i', Size: 4}, small.Components[1].DType)
	require.Equal(t, []int64{3, 2}, small.Components[1].Shape)

	for _, c := range [][2]int64{{0, 8}, {3, 2}} {
		_, err := RaggedBatch(grids(3), c[0], false, c[1])
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
}
