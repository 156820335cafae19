package tfproto

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func want(t testing.TB, features ...Feature) *Parser {
	t.Helper()
	p, err := NewParser(features)
	require.NoError(t, err)
	return p
}

var f32 = func(v ...float32) []any {
	out := []any{}
	for _, x := range v {
		out = append(out, x)
	}
	return out
}

func TestExamplesFillColumns(t *testing.T) {
	features := []Feature{
		{Key: "x", Type: Float, Size: 2},
		{Key: "y", Type: Int64, Size: 1, Default: column(Int64, -7)},
		{Key: "name", Type: Bytes, Size: 2, Default: column(Bytes, "no", "name")},
		{Key: "var", Type: Int64, Shape: Var},
		{Key: "words", Type: Bytes, Shape: Var},
		{Key: "path", Type: Float, Shape: Sequence, Size: 2},
	}
	in := serialized(
		example(kv("x", floats(1, 2)), kv("y", ints(5)), kv("name", texts("a", "")), kv("other", ints(1)), kv("var", ints(1, 2)), kv("words", texts("w")), kv("path", floats(1, 2, 3, 4))),
		example(kv("path", floats()), kv("x", floats(3, 4))),
		example(kv("x", floats(5, 6)), kv("y", ints(-1)), kv("var", ints()), kv("words", texts("", "vw")), kv("path", floats(5, 6))),
	)
	columns := make([]Column, len(features))
	p := want(t, features...)
	for range 2 { // again in the same memory
		n, err := p.Parse(in, columns)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Equal(t, f32(1, 2, 3, 4, 5, 6), columns[0].values(Float))
		require.Equal(t, []any{int64(5), int64(-7), int64(-1)}, columns[1].values(Int64))
		require.Equal(t, []any{"a", "", "no", "name", "no", "name"}, columns[2].values(Bytes))
		require.Equal(t, []any{int64(1), int64(2)}, columns[3].values(Int64))
		require.Equal(t, []int64{0, 2, 2, 2}, columns[3].Splits)
		require.Equal(t, []any{"w", "", "vw"}, columns[4].values(Bytes))
		require.Equal(t, []int64{0, 1, 1, 3}, columns[4].Splits)
		require.Equal(t, f32(1, 2, 3, 4, 5, 6), columns[5].values(Float))
		require.Equal(t, []int64{0, 2, 2, 3}, columns[5].Splits)
	}
	n, err := p.Parse(Serialized{}, columns)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Empty(t, columns[0].Values)
}

// Each message is read as the rules of protocol buffers say. TensorFlow 2.21 agrees
// where it gives a result; what it refuses or cuts short is marked.
func TestFormsOfMessages(t *testing.T) {
	x := Feature{Key: "x", Type: Float, Shape: Var}
	fallback := Feature{Key: "x", Type: Float, Size: 1, Default: column(Float, 7.0)}
	for name, c := range map[string]struct {
		feature Feature
		message []byte
		want    []any
	}{
		"no bytes":                                   {fallback, nil, f32(7)},
		"no features":                                {fallback, example(), f32(7)},
		"feature without a list":                     {fallback, example(kv("x", nil)), f32(7)},
		"another key":                                {fallback, example(kv("X", floats(1))), f32(7)},
		"the last wins":                              {x, example(kv("x", floats(1)), kv("x", floats(2, 3))), f32(2, 3)},
		"the last wins over another type":            {x, example(kv("x", ints(1)), kv("x", floats(2))), f32(2)},
		"an empty one does not":                      {x, example(kv("x", floats(1)), kv("x", nil)), f32(1)},
		"features in two parts":                      {x, join(example(kv("x", floats(1))), example(kv("x", floats(2)))), f32(2)},
		"not packed":                                 {x, example(kv("x", field(2, join([]byte{tagFloat}, packedFloats(1), []byte{tagFloat}, packedFloats(2))...))), f32(1, 2)},
		"packed twice (TensorFlow: the first)":       {x, example(kv("x", field(2, join(field(1, packedFloats(1)...), field(1, packedFloats(2)...))...))), f32(1, 2)},
		"packed and not (TensorFlow: the first)":     {x, example(kv("x", field(2, join(field(1, packedFloats(1)...), []byte{tagFloat}, packedFloats(2))...))), f32(1, 2)},
		"list in two parts (TensorFlow: the first)":  {x, example(kv("x", join(floats(1), floats(2)))), f32(1, 2)},
		"two types (TensorFlow: the first)":          {x, example(kv("x", join(ints(1), floats(2)))), f32(2)},
		"value before key":                           {x, example(field(1, join(field(2, floats(1)...), field(1, 'x'))...)), f32(1)},
		"unknown field in the example":               {x, join([]byte{15 << 3, 5}, example(kv("x", floats(1))), field(9, 'a')), f32(1)},
		"features as a number":                       {x, join([]byte{1 << 3, 1}, example(kv("x", floats(1)))), f32(1)},
		"unknown in features (TensorFlow: error)":    {x, example([]byte{15 << 3, 5}, kv("x", floats(1))), f32(1)},
		"unknown in the entry (TensorFlow: error)":   {x, example(field(1, join(field(1, 'x'), []byte{15<<3 | wire64, 1, 2, 3, 4, 5, 6, 7, 8}, field(2, floats(1)...))...)), f32(1)},
		"unknown in the feature (TensorFlow: error)": {x, example(kv("x", join([]byte{15<<3 | wire32, 1, 2, 3, 4}, floats(1)))), f32(1)},
		"unknown in the list (TensorFlow: error)":    {x, example(kv("x", field(2, join([]byte{15 << 3, 5}, field(1, packedFloats(1)...))...))), f32(1)},
		"groups (TensorFlow: error)":                 {x, join([]byte{15<<3 | wireGroup, 14<<3 | wireGroup, 1 << 3, 1, 14<<3 | wireGroupTo, 15<<3 | wireGroupTo}, example(kv("x", floats(1)))), f32(1)},
		"no key (TensorFlow: error)":                 {Feature{Key: "", Type: Float, Shape: Var}, example(field(1, field(2, floats(1)...)...)), f32(1)},
		"numbers not packed":                         {Feature{Key: "x", Type: Int64, Shape: Var}, example(kv("x", field(3, 1<<3, 5, 1<<3, 0x96, 1))), []any{int64(5), int64(150)}},
		"numbers of ten bytes":                       {Feature{Key: "x", Type: Int64, Shape: Var}, example(kv("x", ints(-1, -1<<63, 1<<63-1))), []any{int64(-1), int64(-1 << 63), int64(1<<63 - 1)}},
		"more bits than a number has":                {Feature{Key: "x", Type: Int64, Shape: Var}, example(kv("x", field(3, field(1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f)...))), []any{int64(-1)}},
	} {
		columns := make([]Column, 1)
		_, err := want(t, c.feature).Parse(serialized(c.message), columns)
		require.NoError(t, err, name)
		require.Equal(t, c.want, columns[0].values(c.feature.Type), name)
	}
}

func TestProblemsNameTheFeatureAndTheExample(t *testing.T) {
	good := example(kv("x", floats(1, 2)), kv("n", ints(1)))
	x := Feature{Key: "x", Type: Float, Size: 2}
	long := example()
	for i := range 12 {
		long = join(long, example(kv(fmt.Sprintf("key%02d", i), ints(1))))
	}
	for name, c := range map[string]struct {
		feature Feature
		message []byte
		want    string
	}{
		"missing":         {x, example(kv("y", ints(1)), kv("a", ints(1)), kv("y", ints(1))), `feature "x" (float32) is required, and is not there; the example has "a", "y"`},
		"missing of many": {x, long, `"key09" and 2 more`},
		"missing of none": {x, nil, `feature "x" (float32) is required, and is not there; the example has none at all`},
		"no values":       {x, example(kv("x", nil)), `feature "x" (float32) is required`},
		"no values in a list": {Feature{Key: "x", Type: Float, Size: 1, Default: column(Float, 1.0)}, example(kv("x", floats())),
			`feature "x" has 0 values; its shape asks for 1`},
		"too many":       {x, example(kv("x", floats(1, 2, 3))), `feature "x" has 3 values; its shape asks for 2`},
		"strings":        {Feature{Key: "x", Type: Bytes, Size: 2}, example(kv("x", texts("a"))), `feature "x" has 1 values; its shape asks for 2`},
		"no multiple":    {Feature{Key: "x", Type: Float, Size: 2, Shape: Sequence}, example(kv("x", floats(1, 2, 3))), `feature "x" has 3 values, no multiple of the 2 that its shape asks for`},
		"type":           {x, example(kv("x", ints(1, 2))), `feature "x" has int64 values; float32 was asked for`},
		"type of a list": {Feature{Key: "x", Type: Bytes, Shape: Var}, example(kv("x", floats(1))), `feature "x" has float32 values; string was asked for`},
		"type, last":     {x, example(kv("x", join(floats(1, 2), ints(1, 2)))), `feature "x" has int64 values`},
		"rubbish":        {x, []byte("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"), `cannot be read: what is at byte 10 of its 11 is cut, corrupt, or no tf.train.Example`},
		"cut":            {x, good[:len(good)-1], `cannot be read: what is at byte 2 of its`},
		"half a float":   {x, example(kv("x", field(2, field(1, 1, 2, 3, 4, 5)...))), `feature "x" cannot be read`},
		"list of others": {x, example(kv("x", field(2, 1<<3, 5, 1<<3, 6))), `feature "x" cannot be read`},
		"field 0":        {x, join([]byte{wireBytes, 0}, good), `cannot be read: what is at byte 1 of its`},
		"value twice":    {x, example(field(1, join(field(1, 'x'), field(2, floats(1)...), field(2, floats(2)...))...)), `cannot be read`},
	} {
		features := []Feature{{Key: "n", Type: Int64, Shape: Var}, c.feature, {Key: "words", Type: Bytes, Shape: Var}, {Key: "path", Type: Float, Shape: Sequence, Size: 2}}
		first := example(kv("n", ints(3, 4)), kv("words", texts("ab", "c")), kv("path", floats(1, 2)), kv("x", floats(1, 2)))
		if c.feature.Type == Bytes {
			first = example(kv("n", ints(3, 4)), kv("words", texts("ab", "c")), kv("path", floats(1, 2)), kv("x", texts("1", "2")))
		} else if c.feature.Size == 1 {
			first = example(kv("n", ints(3, 4)), kv("words", texts("ab", "c")), kv("path", floats(1, 2)), kv("x", floats(1)))
		}
		rest := join(c.message, example(kv("n", ints(1, 2, 3)), kv("words", texts("z"))))
		if strings.Contains(c.want, "cannot be read") || strings.Contains(c.want, "none at all") || strings.Contains(c.want, "the example has") || strings.Contains(c.want, "more") {
			rest = c.message
		}
		in := serialized(first, rest)
		in.First = 40
		columns := make([]Column, len(features))
		n, err := want(t, features...).Parse(in, columns)
		require.True(t, isInvalid(err), "%s: %v", name, err)
		require.Equal(t, 1, n, name)
		require.ErrorContains(t, err, "example 41", name)
		require.ErrorContains(t, err, c.want, name)
		// What was before is there, and nothing of what failed.
		alone := make([]Column, len(features))
		_, err = want(t, features...).Parse(serialized(first), alone)
		require.NoError(t, err)
		for i, f := range features {
			require.Equal(t, alone[i].values(f.Type), columns[i].values(f.Type), "%s: %s", name, f.Key)
			require.Equal(t, alone[i].Splits, columns[i].Splits, "%s: %s", name, f.Key)
		}
	}
}

// A message cut anywhere is an error or, where a field ends, a message of fewer.
func TestCutExamples(t *testing.T) {
	features := []Feature{{Key: "x", Type: Float, Shape: Var}, {Key: "y", Type: Int64, Shape: Var}, {Key: "z", Type: Bytes, Shape: Var}}
	whole := join(example(kv("x", floats(1, 2))), example(kv("y", ints(300, 4))), example(kv("z", texts("ab", "c"))))
	ends := map[int]bool{0: true, len(whole): true}
	for n, part := 0, []byte(nil); n < 2; n++ {
		part = append(part, [][]byte{example(kv("x", floats(1, 2))), example(kv("y", ints(300, 4)))}[n]...)
		ends[len(part)] = true
	}
	for n := range len(whole) + 1 {
		_, err := want(t, features...).Parse(serialized(whole[:n]), make([]Column, 3))
		require.Equal(t, ends[n], err == nil, "cut at %d: %v", n, err)
	}
}

func TestBombsAreBounded(t *testing.T) {
	deep := append(bytes.Repeat([]byte{15<<3 | wireGroup}, 100_000), bytes.Repeat([]byte{15<<3 | wireGroupTo}, 100_000)...)
	p := want(t, Feature{Key: "x", Type: Int64, Shape: Var})
	_, err := p.Parse(serialized(deep), make([]Column, 1))
	require.True(t, isInvalid(err))
	_, err = p.Parse(serialized(deep[100_000-90:100_000+90]), make([]Column, 1))
	require.NoError(t, err)
	many := example(bytes.Repeat(kv("x", ints(1)), 100_000))
	columns := make([]Column, 1)
	_, err = p.Parse(serialized(many), columns)
	require.NoError(t, err)
	require.Equal(t, []any{int64(1)}, columns[0].values(Int64))
	for _, size := range []string{"\x80\x80\x80\x80\x08", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\xff\xff\xff\xff\xff\xff\xff\xff\x7f"} {
		_, err = p.Parse(serialized([]byte("\x0a"+size+"abc")), columns)
		require.True(t, isInvalid(err))
	}
}

func TestParserChecksFeatures(t *testing.T) {
	for text, features := range map[string][]Feature{
		"no type":               {{Key: "x"}},
		"asked for twice":       {{Key: "x", Type: Float}, {Key: "x", Type: Float}},
		"shape of -1 values":    {{Key: "x", Type: Float, Size: -1}},
		"cannot be counted":     {{Key: "x", Type: Float, Shape: Sequence}},
		"and a default":         {{Key: "x", Type: Float, Shape: Var, Default: column(Float)}},
		"a default of 1 values": {{Key: "x", Type: Float, Size: 2, Default: column(Float, 1.0)}},
	} {
		_, err := NewParser(features)
		require.True(t, isInvalid(err))
		require.ErrorContains(t, err, text)
		_, err = NewSequenceParser(features, nil)
		require.ErrorContains(t, err, text)
		_, err = NewSequenceParser(nil, features)
		require.ErrorContains(t, err, text)
	}
	_, err := NewSequenceParser(nil, []Feature{{Key: "x", Type: Float, Size: 1}})
	require.ErrorContains(t, err, `feature list "x" has any number of steps`)
}
