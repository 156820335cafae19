package snapshot

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/tfproto"
)

func texts(values ...string) tfproto.Tensor {
	t := tfproto.Tensor{Type: tfproto.String, Shape: []int64{int64(len(values))}, Offsets: []int64{0}}
	for _, v := range values {
		t.Data = append(t.Data, v...)
		t.Offsets = append(t.Offsets, int64(len(t.Data)))
	}
	return t
}

// shaped returns a tensor of integers of a shape.
func shaped(shape []int64, values ...int64) tfproto.Tensor {
	t := vector(values)
	t.Shape = shape
	return t
}

func TestVariantsOfRaggedTensors(t *testing.T) {
	one := func(splits, values tfproto.Tensor) [][]tfproto.Tensor { return [][]tfproto.Tensor{{splits, values}} }
	require.Equal(t, []tfproto.Tensor{texts("a", "b", "c"), shaped([]int64{3, 1}, 2, 0, 1)}, raggedOf(nil, one(vector([]int64{0, 2, 2, 3}), texts("a", "b", "c"))))
	require.Equal(t, []tfproto.Tensor{vector([]int64{1, 2, 3, 4}), shaped([]int64{2, 2}, 0, 2, 2, 2)}, raggedOf(nil, one(vector([]int64{0, 0, 2}), shaped([]int64{2, 2}, 1, 2, 3, 4))))
	rows := [][]tfproto.Tensor{{texts("a", "")}, {texts()}, {texts("bc")}}
	require.Equal(t, []tfproto.Tensor{texts("a", "", "bc"), shaped([]int64{3, 1}, 2, 0, 1)}, raggedOf([]int64{3}, rows))
	for name, parts := range map[string][][]tfproto.Tensor{
		"rows do not begin at 0":   one(vector([]int64{1, 2}), texts("a", "b")),
		"rows end before values":   one(vector([]int64{0, 1}), texts("a", "b")),
		"rows end behind values":   one(vector([]int64{0, 3}), texts("a", "b")),
		"a row ends before it":     one(vector([]int64{0, 2, 1, 2}), texts("a", "b")),
		"no rows":                  one(vector(nil), texts()),
		"rows that are no numbers": one(texts("a"), texts()),
		"values without dimension": one(vector([]int64{0, 1}), shaped(nil, 1)),
		"rows in a table":          one(shaped([]int64{1, 2}, 0, 1), texts("a")),
		"too few tensors":          {{texts()}},
		"too many tensors":         {{vector(nil), vector(nil), texts()}},
		"nothing":                  {},
	} {
		require.Nil(t, raggedOf(nil, append(parts, make([][]tfproto.Tensor, max(0, 1-len(parts)))...)), name)
	}
	require.Nil(t, raggedOf([]int64{2}, [][]tfproto.Tensor{{texts("a")}, {vector([]int64{1})}}), "rows of two dtypes")
	require.Nil(t, raggedOf([]int64{2}, [][]tfproto.Tensor{{vector([]int64{1})}, {shaped([]int64{1, 1}, 1)}}), "rows of two ranks")
	require.Nil(t, raggedOf([]int64{0}, nil))
}

func TestVariantsOfSparseTensors(t *testing.T) {
	sparse := func(indices, values, dims tfproto.Tensor) [][]tfproto.Tensor {
		return [][]tfproto.Tensor{{indices}, {values}, {dims}}
	}
	good := sparse(shaped([]int64{2, 1}, 0, 4), texts("a", "b"), vector([]int64{5}))
	require.Equal(t, []tfproto.Tensor{shaped([]int64{2, 1}, 0, 4), texts("a", "b"), vector([]int64{5})}, sparseOf([]int64{3}, good))
	wide := sparse(shaped([]int64{1, 1}, 6), texts("c"), vector([]int64{7}))
	none := sparse(shaped([]int64{0, 1}), texts(), vector([]int64{2}))
	require.Equal(t, []tfproto.Tensor{shaped([]int64{3, 2}, 0, 0, 0, 4, 2, 6), texts("a", "b", "c"), vector([]int64{3, 7})},
		sparseOf([]int64{3, 3}, append(append(append([][]tfproto.Tensor{}, good...), none...), wide...)))
	for name, parts := range map[string][][]tfproto.Tensor{
		"more values than places":     sparse(shaped([]int64{1, 1}, 0), texts("a", "b"), vector([]int64{5})),
		"places of another rank":      sparse(shaped([]int64{1, 2}, 0, 0), texts("a"), vector([]int64{5})),
		"places in a vector":          sparse(vector([]int64{0}), texts("a"), vector([]int64{5})),
		"a table of values":           sparse(shaped([]int64{1, 1}, 0), shaped([]int64{1, 1}, 7), vector([]int64{5})),
		"places that are no numbers":  sparse(texts("a"), texts("a"), vector([]int64{5})),
		"no dimensions":               sparse(shaped([]int64{1, 0}), texts("a"), vector(nil)),
		"a variant with two tensors":  {{vector(nil), vector(nil)}, {texts()}, {vector([]int64{5})}},
		"a variant without a tensor":  {{}, {texts()}, {vector([]int64{5})}},
		"dimensions that are no ones": sparse(shaped([]int64{0, 1}), texts(), texts("a")),
	} {
		require.Nil(t, sparseOf([]int64{3}, parts), name)
	}
	require.Nil(t, sparseOf([]int64{2}, good[:2]))
	require.Nil(t, sparseOf(nil, good[:1]))
	require.Nil(t, sparseOf([]int64{0, 3}, nil))
	require.Nil(t, sparseOf([]int64{2, 3}, append(append([][]tfproto.Tensor{}, good...), sparse(shaped([]int64{0, 2}), texts(), vector([]int64{1, 1}))...)), "two ranks")
	require.Nil(t, sparseOf([]int64{2, 3}, append(append([][]tfproto.Tensor{}, good...), sparse(shaped([]int64{0, 1}), vector(nil), vector([]int64{1}))...)), "two dtypes")
}
