package tfproto

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSequenceExamplesFillColumns(t *testing.T) {
	p, err := NewSequenceParser(
		[]Feature{{Key: "id", Type: Bytes, Size: 1, Default: column(Bytes, "none")}, {Key: "tags", Type: Int64, Shape: Var}},
		[]Feature{{Key: "frames", Type: Float, Shape: Sequence, Size: 2, Required: true}, {Key: "ids", Type: Int64, Shape: Var}, {Key: "words", Type: Bytes, Shape: Var}})
	require.NoError(t, err)
	in := serialized(
		sequence(join(kv("id", texts("a")), kv("tags", ints(1, 2))), kv("frames", steps(floats(1, 2), floats(3, 4))), kv("ids", steps(ints(1), ints(), nil, ints(2, 3))), kv("other", steps(ints(1)))),
		sequence(nil, kv("frames", nil), kv("words", steps(texts("x", "yz"), texts()))),
		sequence(kv("id", texts("c")), kv("frames", steps(floats(9, 9))), kv("frames", steps(floats(5, 6))), kv("ids", steps(ints(4))), kv("ids", nil)),
	)
	context, lists := make([]Column, 2), make([]Column, 3)
	for range 2 {
		n, err := p.Parse(in, context, lists)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Equal(t, []any{"a", "none", "c"}, context[0].values(Bytes))
		require.Equal(t, []int64{0, 2, 2, 2}, context[1].Splits)
		require.Equal(t, f32(1, 2, 3, 4, 5, 6), lists[0].values(Float))
		require.Equal(t, []int64{0, 2, 2, 3}, lists[0].Splits)
		require.Equal(t, []any{int64(1), int64(2), int64(3)}, lists[1].values(Int64))
		require.Equal(t, []int64{0, 4, 4, 4}, lists[1].Splits, "an empty list is a list, and the last wins")
		require.Equal(t, []int64{0, 1, 1, 1, 3}, lists[1].Steps)
		require.Equal(t, []any{"x", "yz"}, lists[2].values(Bytes))
		require.Equal(t, []int64{0, 0, 2, 2}, lists[2].Splits)
		require.Equal(t, []int64{0, 2, 2}, lists[2].Steps)
	}
}

func TestProblemsOfSequenceExamples(t *testing.T) {
	x := Feature{Key: "x", Type: Float, Shape: Sequence, Size: 2, Required: true}
	anyX := Feature{Key: "x", Type: Float, Shape: Var}
	c := Feature{Key: "c", Type: Int64, Size: 1}
	good := sequence(kv("c", ints(1)), kv("x", steps(floats(1, 2))))
	for name, k := range map[string]struct {
		list    Feature
		message []byte
		want    string
	}{
		"missing list":    {x, sequence(kv("c", ints(1)), kv("z", nil)), `feature list "x" (float32) is required, and is not there; the sequence example has "z"`},
		"missing feature": {x, sequence(kv("d", ints(1)), kv("x", nil)), `feature "c" (int64) is required, and is not there; the sequence example has "d"`},
		"type":            {x, sequence(kv("c", ints(1)), kv("x", steps(floats(1, 2), ints(1, 2)))), `feature list "x", step 1 has int64 values; float32 was asked for`},
		"count":           {x, sequence(kv("c", ints(1)), kv("x", steps(floats(1, 2), floats(1, 2), floats(3)))), `feature list "x", step 2 has 1 values; its shape asks for 2`},
		"nothing":         {x, sequence(kv("c", ints(1)), kv("x", steps(floats(1, 2), nil))), `feature list "x", step 1 has 0 values; its shape asks for 2`},
		"type of any":     {anyX, sequence(kv("c", ints(1)), kv("x", steps(floats(1), texts("a")))), `feature list "x", step 1 has string values`},
		"broken step":     {anyX, sequence(kv("c", ints(1)), kv("x", steps(floats(1), field(2, field(1, 1, 2, 3)...)))), `feature list "x", step 1 cannot be read`},
		"broken list":     {anyX, sequence(kv("c", ints(1)), kv("x", []byte{0x0a, 99})), `feature list "x", step 0 cannot be read`},
		"cut":             {anyX, good[:len(good)-1], `cannot be read: what is at byte `},
		"rubbish":         {anyX, []byte("rubbish"), "no tf.train.SequenceExample"},
	} {
		p, err := NewSequenceParser([]Feature{c}, []Feature{k.list})
		require.NoError(t, err)
		context, lists := make([]Column, 1), make([]Column, 1)
		in := serialized(good, k.message, good)
		in.First = 5
		n, err := p.Parse(in, context, lists)
		require.Equal(t, 1, n, name)
		require.True(t, isInvalid(err), name)
		require.ErrorContains(t, err, "parse_sequence_example: sequence example 6", name)
		require.ErrorContains(t, err, k.want, name)
		require.Equal(t, []any{int64(1)}, context[0].values(Int64), name)
		require.Equal(t, f32(1, 2), lists[0].values(Float), name)
		require.Equal(t, 2, len(lists[0].Splits), name)
	}
}

// An example is no error as a sequence example, and the other way round, where their
// fields do not get in each other's way.
func TestOneKindOfMessageAsTheOther(t *testing.T) {
	columns := make([]Column, 1)
	p := want(t, Feature{Key: "c", Type: Int64, Size: 1})
	_, err := p.Parse(serialized(sequence(kv("c", ints(3)), kv("x", steps(floats(1))))), columns)
	require.NoError(t, err)
	require.Equal(t, []any{int64(3)}, columns[0].values(Int64))
}
