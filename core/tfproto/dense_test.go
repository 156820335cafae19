package tfproto

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/internal/testkit"
)

func TestPad(t *testing.T) {
	features := []Feature{{Key: "x", Type: Float, Shape: Sequence, Size: 2}, {Key: "z", Type: Bytes, Shape: Sequence, Size: 1}}
	columns := make([]Column, 2)
	_, err := want(t, features...).Parse(serialized(
		example(kv("x", floats(1, 2)), kv("z", texts("a"))), example(), example(kv("x", floats(3, 4, 5, 6)), kv("z", texts("b", "c")))), columns)
	require.NoError(t, err)
	require.Equal(t, int64(2), columns[0].Longest())
	x := columns[0].Pad(&features[0], 2, nil)
	require.Equal(t, f32(1, 2, 0, 0, 0, 0, 0, 0, 3, 4, 5, 6), x.values(Float))
	x = columns[0].Pad(&features[0], 3, column(Float, 9.0))
	require.Equal(t, f32(1, 2, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 3, 4, 5, 6, 9, 9), x.values(Float))
	z := columns[1].Pad(&features[1], 2, nil)
	require.Equal(t, []any{"a", "", "", "", "b", "c"}, z.values(Bytes))
	z = columns[1].Pad(&features[1], 2, column(Bytes, "?"))
	require.Equal(t, []any{"a", "?", "?", "?", "b", "c"}, z.values(Bytes))
	require.Zero(t, new(Column).Longest())
}

// What tf.io.parse_example made of the first twelve examples of the fixture.
func TestParseExampleOfTensorFlow(t *testing.T) {
	type sparse struct {
		Indices [][]int64
		list
		Shape []int64 `json:"dense_shape"`
	}
	var expected struct {
		X, Y sparse
		Name struct{ Padded [][]string }
	}
	testkit.JSON(t, testkit.TF(t, "tfrecord/examples.parse_example.json"), &expected)
	expected.X.Kind, expected.Y.Kind = "float", "int64"
	features := []Feature{{Key: "x", Type: Float, Shape: Var}, {Key: "y", Type: Int64, Shape: Var}, {Key: "name", Type: Bytes, Shape: Sequence, Size: 1}}
	columns := make([]Column, 3)
	_, err := want(t, features...).Parse(serialized(records(t, "tfrecord/examples.tfrecord")[:12]...), columns)
	require.NoError(t, err)
	for i, e := range []sparse{expected.X, expected.Y} {
		var indices []int64
		for _, place := range e.Indices {
			indices = append(indices, place...)
		}
		require.Equal(t, indices, columns[i].Indices())
		require.Equal(t, e.read(t), columns[i].values(features[i].Type))
		require.Equal(t, e.Shape[1], columns[i].Longest())
	}
	names := list{Kind: "bytes"}
	for _, row := range expected.Name.Padded {
		for _, name := range row {
			names.Values = append(names.Values, name)
		}
	}
	padded := columns[2].Pad(&features[2], columns[2].Longest(), nil)
	require.Equal(t, names.read(t), padded.values(Bytes))
}

func TestIndicesOfSteps(t *testing.T) {
	p, err := NewSequenceParser(nil, []Feature{{Key: "x", Type: Float, Shape: Var}})
	require.NoError(t, err)
	lists := make([]Column, 1)
	_, err = p.Parse(serialized(sequence(nil, kv("x", steps(floats(1, 2), nil, floats(3)))), sequence(nil), sequence(nil, kv("x", steps(floats(5))))), nil, lists)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 0, 0, 0, 0, 1, 0, 2, 0, 2, 0, 0}, lists[0].Indices())
	require.Equal(t, int64(3), lists[0].Longest())
}
