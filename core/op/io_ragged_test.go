package op

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
)

const rowsOfV = `{"features": [{"key": "v", "kind": "ragged", "dtype": "int64", "ragged": {"shapes": "<i4", "partition": %q, "key": "p", "length": 2}}]}`

func valuesAndRows(values, rows []int64) string {
	return example(entry("v", intFeature(values...)), entry("p", intFeature(rows...)))
}

func TestRaggedFeaturesOfBatches(t *testing.T) {
	a := example(entry("v", intFeature(1, 2, 3)), entry("s", bytesFeature("a")))
	b := textBlock([]int64{2}, a, example(entry("v", intFeature(4))), example(), a)
	p := call1(t, b.Shapes, "parse_example", `{"features": [{"key": "v", "kind": "ragged", "dtype": "int64", "ragged": {"shapes": "<i4"}},
		{"key": "s", "kind": "ragged", "dtype": "string", "ragged": {"shapes": "<i8"}}, {"key": "v", "kind": "var", "dtype": "int64"}]}`)
	require.Equal(t, "(int64[-1], int32[2 1], object[-1], int64[2 1], int64[-1 2], int64[-1], int64[2])", p.Spec().String())
	got, _, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{
		`[4][1 2 3 4] [2 1][3 1] [1]["a"] [2 1][1 0] [4 2][0 0 0 1 0 2 1 0] [4][1 2 3 4] [2][2 3]`,
		`[3][1 2 3] [2 1][0 3] [1]["a"] [2 1][0 1] [3 2][1 0 1 1 1 2] [3][1 2 3] [2][2 3]`,
	}, got)

	p = call1(t, b.Shapes, "parse_example", fmt.Sprintf(rowsOfV, "uniform"))
	require.Equal(t, "(int64[-1], int32[2 2])", p.Spec().String())
	b = textBlock([]int64{2}, valuesAndRows([]int64{1, 2, 3, 4}, nil), example())
	got, _, err = results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{`[4][1 2 3 4] [2 2][2 2 0 2]`}, got)
	b = textBlock([]int64{2}, example(), valuesAndRows([]int64{1, 2, 3}, nil))
	_, _, err = results(t, p, b)
	require.ErrorContains(t, err, `example 1: feature "v" has 3 values, which are not cut into rows of 2`)
}

func TestRowsOfSingleExamples(t *testing.T) {
	values := []int64{1, 2, 3}
	for name, c := range map[string]struct {
		rows []int64
		want string
	}{
		"row_lengths": {[]int64{2, 0, 1}, "[3 1][2 0 1]"}, "row_splits": {[]int64{0, 2, 2, 3}, "[3 1][2 0 1]"},
		"row_starts": {[]int64{0, 2, 2}, "[3 1][2 0 1]"}, "row_limits": {[]int64{2, 2, 3}, "[3 1][2 0 1]"},
	} {
		b := textBlock(nil, valuesAndRows(values, c.rows), valuesAndRows(values, c.rows), example())
		p := call1(t, b.Shapes, "parse_example", fmt.Sprintf(rowsOfV, name))
		require.Equal(t, "(int64[-1], int32[-1 1])", p.Spec().String())
		got, blocks, err := results(t, p, b)
		require.NoError(t, err, name)
		require.Equal(t, []string{"[3][1 2 3] " + c.want, "[3][1 2 3] " + c.want, "[0][] [0 1][]"}, got, name)
		require.Equal(t, []int64{2, 1}, blocks, name)
	}
	b := textBlock(nil, valuesAndRows([]int64{1, 2, 3, 4}, nil))
	for partition, want := range map[string]string{"": "[4][1 2 3 4]", "uniform": "[2 2][1 2 3 4]"} {
		got, _, err := results(t, call1(t, b.Shapes, "parse_example", fmt.Sprintf(rowsOfV, partition)), b)
		require.NoError(t, err)
		require.Equal(t, []string{want}, got)
	}
}

// Rows that are not those of the values are an error of their example alone.
func TestRowsThatDoNotFit(t *testing.T) {
	values := []int64{1, 2, 3}
	for partition, rows := range map[string][][]int64{
		"row_lengths": {nil, {2}, {2, 2}, {4, -1}, {1 << 62, 1 << 62}, {1 << 62, 1 << 62, 1 << 62, 1 << 62, 3}},
		"row_splits":  {nil, {0}, {0, 2}, {1, 3}, {0, 4}, {0, 2, 1, 3}, {3}},
		"row_starts":  {nil, {1}, {0, 4}, {0, 2, 1}},
		"row_limits":  {nil, {2}, {4}, {-1, 3}, {2, 1, 3}},
		"uniform":     {nil},
	} {
		good := map[string][]int64{"row_lengths": {3}, "row_splits": {0, 3}, "row_starts": {0}, "row_limits": {3}}[partition]
		whole := valuesAndRows(values, good)
		if partition == "uniform" {
			whole = valuesAndRows([]int64{1, 2}, nil)
		}
		for _, r := range rows {
			b := textBlock(nil, whole, valuesAndRows(values, r), whole)
			got, _, err := results(t, call1(t, b.Shapes, "parse_example", fmt.Sprintf(rowsOfV, partition)), b)
			require.Len(t, got, 1, "%s %v", partition, r)
			require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
			require.ErrorContains(t, err, `parse_example: the example: feature "v" has 3 values, `)
		}
	}
}

func TestRaggedFeaturesThatAreRefused(t *testing.T) {
	single, batch := textBlock(nil, "").Shapes, textBlock([]int64{2}, "", "").Shapes
	require.ErrorContains(t, refused(t, batch, "parse_example", fmt.Sprintf(rowsOfV, "row_splits")), "parse_single_example")
	require.ErrorContains(t, refused(t, single, "parse_example", fmt.Sprintf(rowsOfV, "value_rowids")), "has the partition")
	for _, form := range []string{`{"shapes": "<i2"}`, `{"shapes": ""}`, `{"shapes": "<i8", "partition": "uniform", "length": 0}`} {
		require.ErrorContains(t, refused(t, single, "parse_example", `{"features": [{"key": "v", "kind": "ragged", "dtype": "int64", "ragged": `+form+`}]}`), "has the partition")
	}
	require.ErrorContains(t, refused(t, single, "parse_sequence_example", `{"context": [{"key": "v", "kind": "ragged", "dtype": "int64", "ragged": {"shapes": "<i8"}}]}`), "ragged")
}
