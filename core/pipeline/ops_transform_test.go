package pipeline

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

// oddness is the program of the class of a number: that number modulo 2.
const oddness = `{"nodes": [{"op": "const", "attrs": {"dtype": "<i8", "shape": [], "data": "AgAAAAAAAAA="}}, {"op": "remainder", "in": [0, 1]}], "outputs": [2], "structure": null}`

func TestTransformations(t *testing.T) {
	pairs := on("batch", `"batch_size": 2, "drop_remainder": true`, rangeTo("8"))
	for _, c := range []struct {
		text        string
		cardinality int64
		elements    string
		name        string
	}{
		{on("rebatch", `"batch_size": [3, 1], "drop_remainder": false`, pairs), 4, "[0 1 2] [3] [4 5 6] [7]", "rebatch(batch_size=[3 1], drop_remainder=False)"},
		{on("padded_batch", `"batch_size": 2, "padded_shapes": [[3]], "padding_values": ["/////////38="], "drop_remainder": false`, pairs), 2,
			"[0 1 9223372036854775807 2 3 9223372036854775807] [4 5 9223372036854775807 6 7 9223372036854775807]",
			"padded_batch(batch_size=2, padded_shapes=[[3]], padding_values=[[255 255 255 255 255 255 255 127]], drop_remainder=False)"},
		{on("ragged_batch", `"batch_size": 3, "drop_remainder": true, "row_splits_dtype": "<i4"`, pairs), 1, "[0 1 2 3 4 5]", "ragged_batch(batch_size=3, drop_remainder=True, row_splits_dtype=<i4)"},
		{on("sparse_batch", `"batch_size": 3, "row_shape": [-1]`, pairs), 2, "", "sparse_batch(batch_size=3, row_shape=[-1])"},
		{on("window", `"size": 2, "shift": 2, "stride": 3, "drop_remainder": true`, rangeTo("8")), 3, "", "window(size=2, shift=2, stride=3, drop_remainder=True)"},
		{on("unique", ``, on("repeat", `"count": 2`, rangeTo("3"))), -2, "[0] [1] [2]", "unique()"},
		{on("ignore_errors", ``, rangeTo("3")), -2, "[0] [1] [2]", "ignore_errors()"},
		{on("repeat", `"count": 2`, on("cache", ``, rangeTo("3"))), 6, "[0] [1] [2] [0] [1] [2]", "repeat(count=2)"},
		{on("prefetch", `"buffer_size": -1`, on("unique", ``, rangeTo("3"))), -2, "[0] [1] [2]", "prefetch()"},
		{on("assert_cardinality", `"expected_cardinality": 3`, on("unique", ``, rangeTo("3"))), 3, "[0] [1] [2]", "assert_cardinality(3)"},
		{on("choose_from_datasets", `"stop_on_empty_dataset": true`, rangeTo("3"), pairs, rangeTo("1")), 0, "", ""},
		{on("choose_from_datasets", `"stop_on_empty_dataset": true`, rangeTo("3"), rangeTo("5"), rangeTo("2")), -2, "[0] [0]", "choose_from_datasets(stop_on_empty_dataset=True)"},
		{on("sample_from_datasets", `"weights": [1, 0], "seed": 3`, rangeTo("3"), rangeTo("5")), 3, "[0] [1] [2]",
			"sample_from_datasets(weights=[1 0], seed=3, stop_on_empty_dataset=False, rerandomize_each_iteration=False)"},
		{on("sample_from_datasets", `"weights_dataset": true, "seed": 3, "drawn": true`, rangeTo("3"), rangeTo("5"), rangeTo("5")), 0, "", ""},
		{on("rejection_resample", `"class_func": {"name": "odd", "program": `+oddness+`}, "target_dist": [0.5, 0.5], "initial_dist": [0.5, 0.5], "seed": 3, "drawn": true`, rangeTo("3")), 3,
			"[0] [1] [0]", "rejection_resample(odd, target_dist=[0.5 0.5], initial_dist=[0.5 0.5], seed=None)"},
	} {
		if c.name == "" {
			_, err := definitionOf(t, c.text, nil)
			require.Equal(t, errs.InvalidArgument, errs.KindOf(err), c.text)
			continue
		}
		d := parse(t, c.text)
		require.EqualValues(t, c.cardinality, d.Cardinality(), c.name)
		require.Equal(t, c.name, d.root.Op.text())
		if c.elements != "" {
			require.Equal(t, c.elements, strings.Join(elementsOf(t, c.text), " "), c.name)
		}
	}
}

// A window's dataset can be had from the element that it is in, in another process.
func TestADatasetOfAnElementIsOneOfItsOwn(t *testing.T) {
	windows := parse(t, on("window", `"size": 3, "shift": 3, "stride": 1, "drop_remainder": false`, rangeTo("7")))
	it := iterate(t, windows, Options{})
	g, err := it.Next()
	require.NoError(t, err)
	defer g.Release()
	structure := `{"dict": [["{\"dtype\":\"<i8\",\"shape\":[]}", null]], "name": ":dataset"}`
	require.True(t, strings.HasPrefix(windows.def.Spec().String(), ":dataset("))
	data := g.Block.Columns[0].Text.At(0)
	text := fmt.Sprintf(`{"op": "dataset_of", "args": {"structure": %s, "data": %q}, "inputs": []}`, structure, base64.StdEncoding.EncodeToString(data))
	require.Equal(t, "[0] [1] [2]", strings.Join(elementsOf(t, text), " "))
	require.Equal(t, fmt.Sprintf("dataset_of(%d bytes)", len(data)), parse(t, text).root.Op.text())
}

// Seeds that were drawn are those of the state, and texts do not show them.
func TestDrawnSeedsOfMixes(t *testing.T) {
	for op, args := range map[string]string{
		"sample_from_datasets": `"weights": null, "seed": %d, "drawn": true, "stop_on_empty_dataset": true, "rerandomize_each_iteration": true`,
		"rejection_resample":   `"class_func": {"name": "odd", "program": ` + strings.ReplaceAll(oddness, "%", "%%") + `}, "target_dist": [0.9, 0.1], "initial_dist": [0.5, 0.5], "seed": %d, "drawn": true`,
	} {
		inputs := []string{rangeTo("40"), rangeTo("50")}
		if op == "rejection_resample" {
			inputs = inputs[:1]
		}
		first, second := parse(t, on(op, fmt.Sprintf(args, 1), inputs...)), parse(t, on(op, fmt.Sprintf(args, 2), inputs...))
		require.Equal(t, first.structure(), second.structure(), op)
		seeds := []uint64{1}
		reseeded := &Dataset{root: second.root.withSeeds(&seeds)}
		d, _, err := reseeded.root.build()
		require.NoError(t, err)
		require.Empty(t, seeds, op)
		read := func(d dataset.Definition) []datasettest.Element {
			return datasettest.ReadAll(t, d, dataset.PassKey(0), 30)
		}
		require.Equal(t, read(first.def), read(d), op)
		require.NotEqual(t, read(second.def), read(d), op)
	}
}
