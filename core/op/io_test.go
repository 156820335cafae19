package op

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/tfproto"
	"infeed/core/vfs/memfs"
)

func TestSequenceExamples(t *testing.T) {
	const attrs = `{"context": [{"key": "c", "kind": "fixed", "dtype": "int64", "shape": []}, {"key": "d", "kind": "var", "dtype": "float32"}],
		"lists": [{"key": "s", "kind": "sequence", "dtype": "string", "shape": []}, {"key": "v", "kind": "var", "dtype": "int64"}]}`
	a := sequence([][]byte{entry("c", intFeature(3)), entry("d", floatFeature(1, 2))},
		entry("s", steps(bytesFeature("a"), bytesFeature("b"))), entry("v", steps(intFeature(1), intFeature(2, 3), intFeature())))
	c := sequence([][]byte{entry("c", intFeature(4))}, entry("v", steps(intFeature(7))))

	b := textBlock(nil, a, c)
	p := call1(t, b.Shapes, "parse_sequence_example", attrs)
	require.Equal(t, "(int64[], float32[-1], object[-1], int64[], int64[-1 2], int64[-1], int64[2])", p.Spec().String())
	got, _, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{
		`[][3] [2][1 2] [2]["a" "b"] [][2] [3 2][0 0 1 0 1 1] [3][1 2 3] [2][3 2]`,
		`[][4] [0][] [0][] [][0] [1 2][0 0] [1][7] [2][1 1]`,
	}, got)

	b = textBlock([]int64{2}, a, c)
	p = call1(t, b.Shapes, "parse_sequence_example", attrs)
	require.Equal(t, "(int64[2], int64[-1 2], float32[-1], int64[2], object[2 -1], int64[2], int64[-1 3], int64[-1], int64[3])", p.Spec().String())
	got, _, err = results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{
		`[2][3 4] [2 2][0 0 0 1] [2][1 2] [2][2 2] [2 2]["a" "b" "" ""] [2][2 0] [4 3][0 0 0 0 1 0 0 1 1 1 0 0] [4][1 2 3 7] [3][2 3 2]`,
	}, got)
}

func TestSequenceExamplesThatFail(t *testing.T) {
	const attrs = `{"context": [], "lists": [{"key": "s", "kind": "sequence", "dtype": "int64", "shape": [], "required": true}]}`
	good := sequence(nil, entry("s", steps(intFeature(1))))
	b := textBlock(nil, good, sequence(nil, entry("t", steps(intFeature(1)))))
	got, _, err := results(t, call1(t, b.Shapes, "parse_sequence_example", attrs), b)
	require.ErrorContains(t, err, `the sequence example: feature list "s" (int64) is required, and is not there; the sequence example has "t"`)
	require.Equal(t, []string{"[1][1] [][1]"}, got)
	b = textBlock([]int64{2}, good, good[:3])
	_, _, err = results(t, call1(t, b.Shapes, "parse_sequence_example", attrs), b)
	require.ErrorContains(t, err, "sequence example 1 cannot be read")
	require.ErrorContains(t, refused(t, b.Shapes, "parse_sequence_example", strings.Replace(attrs, "sequence", "fixed", 1)), "cannot be of a fixed length")
}

func TestDecodeRaw(t *testing.T) {
	for name, c := range map[string]struct {
		shape []int64
		attrs string
		texts []string
		want  []string
	}{
		"numbers":     {nil, `{"dtype": "<i4"}`, []string{"\x01\x00\x00\x00\x02\x00\x00\x00", "\x03\x00\x00\x00\x04\x00\x00\x00"}, []string{"[2][1 2]", "[2][3 4]"}},
		"big":         {nil, `{"dtype": "<i4", "big": true}`, []string{"\x00\x00\x01\x02"}, []string{"[1][258]"}},
		"big complex": {nil, `{"dtype": "<c8", "big": true}`, []string{"\x01\x02\x03\x04\x05\x06\x07\x08"}, []string{"[1][4 3 2 1 8 7 6 5]"}},
		"bools":       {nil, `{"dtype": "|b1"}`, []string{"\x00\x01\x02\xff"}, []string{"[4][0 1 1 1]"}},
		"shapes":      {nil, `{"dtype": "|u1"}`, []string{"ab", "cd", "e", "", ""}, []string{"[2][97 98]", "[2][99 100]", "[1][101]", "[0][]", "[0][]"}},
		"vectors":     {[]int64{2}, `{"dtype": "|u1"}`, []string{"ab", "cd", "e", "f"}, []string{"[2 2][97 98 99 100]", "[2 1][101 102]"}},
		"fixed":       {[]int64{2}, `{"dtype": "<i4", "fixed_length": 4}`, []string{"\x01", "\x02\x00\x00\x00\x03", "", "\x04\x01"}, []string{"[2 1][1 2]", "[2 1][0 260]"}},
		"fixed big":   {nil, `{"dtype": "<i4", "fixed_length": 4, "big": true}`, []string{"\x01"}, []string{"[1][16777216]"}},
	} {
		b := textBlock(c.shape, c.texts...)
		got, _, err := results(t, call1(t, b.Shapes, "decode_raw", c.attrs), b)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
	}
	b := textBlock([]int64{0})
	b.Rows = 1
	got, _, err := results(t, call1(t, b.Shapes, "decode_raw", `{"dtype": "<i4"}`), b)
	require.NoError(t, err)
	require.Equal(t, []string{"[0 0][]"}, got)
}

func TestDecodeRawFails(t *testing.T) {
	b := textBlock(nil, "abcd", "abc")
	got, _, err := results(t, call1(t, b.Shapes, "decode_raw", `{"dtype": "<i4"}`), b)
	require.ErrorContains(t, err, "a text has 3 bytes, no multiple of the 4 bytes of int32")
	require.Len(t, got, 1)
	b = textBlock([]int64{2}, "a", "b", "a", "bc")
	got, _, err = results(t, call1(t, b.Shapes, "decode_raw", `{"dtype": "|u1"}`), b)
	require.ErrorContains(t, err, "text 1 has 2 bytes, and text 0 has 1")
	require.Len(t, got, 1)
	for want, attrs := range map[string]string{"fixed_length is 3": `{"dtype": "<i4", "fixed_length": 3}`, "fixed_length is 0": `{"dtype": "<i4", "fixed_length": 0}`, "no dtype": `{"dtype": "|O8"}`} {
		require.ErrorContains(t, refused(t, b.Shapes, "decode_raw", attrs), want)
	}
	require.ErrorContains(t, refused(t, blockOf(1, f32(nil, 1)).Shapes, "decode_raw", `{"dtype": "<i4"}`), "not for")
}

func TestDecodeCSV(t *testing.T) {
	attrs := fmt.Sprintf(`{"columns": [{"dtype": "<i4", "default": "BwAAAA=="}, {"dtype": "|O8", "default": ""}, {"dtype": "<f4", "default": null}], "delim": %q, "missing": %q}`, b64(","), b64("NA"))
	b := textBlock([]int64{2}, `1,x,2.5`, `NA,"a,b",3`, `,,4`, `2,y,5`)
	got, _, err := results(t, call1(t, b.Shapes, "decode_csv", attrs), b)
	require.NoError(t, err)
	require.Equal(t, []string{`[2][1 7] [2]["x" "a,b"] [2][2.5 3]`, `[2][7 2] [2]["" "y"] [2][4 5]`}, got)

	b = textBlock([]int64{2}, `1,x,2`, `2,y,3`, `3,z,4`, `4,v`)
	got, _, err = results(t, call1(t, b.Shapes, "decode_csv", attrs), b)
	require.ErrorContains(t, err, `decode_csv: record 1: the row "4,v" has 2 fields, and 3 are expected`)
	require.Equal(t, []string{`[2][1 2] [2]["x" "y"] [2][2 3]`}, got)

	b = textBlock(nil, `1,x,`)
	_, _, err = results(t, call1(t, b.Shapes, "decode_csv", attrs), b)
	require.ErrorContains(t, err, `decode_csv: field 2 is required but missing`)
	require.ErrorContains(t, refused(t, b.Shapes, "decode_csv", `{"delim": "Oywz"}`), "give one byte")
	require.ErrorContains(t, refused(t, blockOf(1, f32(nil, 1)).Shapes, "decode_csv", attrs), "not for")

	chosen := fmt.Sprintf(`{"columns": [{"dtype": "|O8", "default": ""}], "delim": %q, "plain": true, "select": [1]}`, b64("|"))
	got, _, err = results(t, call1(t, b.Shapes, "decode_csv", chosen), textBlock(nil, `a|"b|c`))
	require.NoError(t, err)
	require.Equal(t, []string{`[]["\"b"]`}, got)
}

func TestTensorsThereAndBack(t *testing.T) {
	b := blockOf(2, f32([]int64{2, 1}, 1, 2, 3, 4))
	p := call1(t, b.Shapes, "serialize_tensor", `{"dtype": "float32"}`)
	var out block.Buffer
	_, err := p.Run(nil, b, dataset.Chance{}, &out)
	require.NoError(t, err)
	messages := out.Blocks()[0]
	require.Equal(t, string(tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 1, Shape: []int64{2, 1}, Data: b.Columns[0].Data[8:]})), string(messages.Columns[0].Text.At(1)))
	got, _, err := results(t, call1(t, messages.Shapes, "parse_tensor", `{"dtype": "float32", "shape": [-1, 1]}`), messages)
	require.NoError(t, err)
	require.Equal(t, []string{"[2 1][1 2]", "[2 1][3 4]"}, got)

	texts := textBlock([]int64{2}, "a", "", "bc", "d")
	out.Reset()
	_, err = call1(t, texts.Shapes, "serialize_tensor", `{"dtype": "string"}`).Run(nil, texts, dataset.Chance{}, &out)
	require.NoError(t, err)
	messages = out.Blocks()[0]
	got, _, err = results(t, call1(t, messages.Shapes, "parse_tensor", `{"dtype": "string", "shape": [2]}`), messages)
	require.NoError(t, err)
	require.Equal(t, []string{`[2]["a" ""]`, `[2]["bc" "d"]`}, got)
}

func TestTensorsOfAnyNumberOfDimensions(t *testing.T) {
	tensor := func(n int64, shape ...int64) string {
		return string(tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 9, Shape: shape, Data: appendInts(nil, make([]int64, n))}))
	}
	b := textBlock(nil, tensor(1), tensor(2, 2, 1), tensor(2, 2, 1), tensor(2, 1, 2), tensor(0, 0))
	p := call1(t, b.Shapes, "parse_tensor", `{"dtype": "int64"}`)
	require.Equal(t, "(int64[-1], int64[-1])", p.Spec().String())
	got, blocks, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{"[1][0] [0][]", "[2][0 0] [2][2 1]", "[2][0 0] [2][2 1]", "[2][0 0] [2][1 2]", "[0][] [1][0]"}, got)
	require.Equal(t, []int64{1, 2, 1, 1}, blocks)
}

func TestParseTensorFails(t *testing.T) {
	tensor := func(shape ...int64) string {
		n := int64(1)
		for _, d := range shape {
			n *= d
		}
		return string(tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 9, Shape: shape, Data: make([]byte, 8*n)}))
	}
	for want, c := range map[string]struct {
		attrs string
		texts []string
		rows  int
	}{
		"is of int64; out_type asks for float32":        {`{"dtype": "float32", "shape": []}`, []string{tensor()}, 0},
		"has the shape [3]; [2] was asked for":          {`{"dtype": "int64", "shape": [2]}`, []string{tensor(2), tensor(3)}, 1},
		"has the shape [3 1]; [-1] was asked for":       {`{"dtype": "int64", "shape": [-1]}`, []string{tensor(2), tensor(3), tensor(3), tensor(3, 1)}, 3},
		"not a tensor: its dtype is number 0":           {`{"dtype": "int64", "shape": [-1]}`, []string{tensor(0), ""}, 1},
		"not a tensor: what is at byte 4 of its 5 is c": {`{"dtype": "int64", "shape": [-1]}`, []string{tensor(1)[:5]}, 0},
	} {
		b := textBlock(nil, c.texts...)
		got, _, err := results(t, call1(t, b.Shapes, "parse_tensor", c.attrs), b)
		require.ErrorContains(t, err, want)
		require.Len(t, got, c.rows, want)
	}
	in := textBlock(nil, "").Shapes
	require.ErrorContains(t, refused(t, in, "parse_tensor", `{"dtype": "resource", "shape": []}`), "no tensors of dtype")
	require.ErrorContains(t, refused(t, in, "serialize_tensor", `{"dtype": "float32"}`), "not for")
	require.ErrorContains(t, refused(t, textBlock([]int64{1}, "").Shapes, "parse_tensor", `{"dtype": "int64", "shape": []}`), "not for")
}

func TestBoolsOfTensorsAreZeroAndOne(t *testing.T) {
	b := textBlock(nil, string(tfproto.AppendTensor(nil, &tfproto.Tensor{Type: 10, Shape: []int64{3}, Data: []byte{0, 1, 200}})))
	got, _, err := results(t, call1(t, b.Shapes, "parse_tensor", `{"dtype": "bool", "shape": [3]}`), b)
	require.NoError(t, err)
	require.Equal(t, []string{"[3][0 1 1]"}, got)
}

func TestReadFile(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", []byte("content"))
	fs.Set("empty", nil)
	fs.Set("big", make([]byte, 3000))
	scope := dataset.NewScope(fs, 0)
	defer scope.Close()
	b := textBlock(nil, "a", "empty", "big", "none", "a")
	var out block.Buffer
	done, err := call1(t, b.Shapes, "read_file", `{}`).Run(scope, b, dataset.Chance{}, &out)
	require.Equal(t, errs.NotFound, errs.KindOf(err))
	require.ErrorContains(t, err, `"none"`)
	require.EqualValues(t, 3, done)
	texts := out.Blocks()[0].Columns[0].Text
	require.Equal(t, "content", string(texts.At(0)))
	require.Empty(t, texts.At(1))
	require.Len(t, texts.At(2), 3000)
	require.ErrorContains(t, refused(t, textBlock([]int64{1}, "").Shapes, "read_file", `{}`), "not for")
}

// Constants take part as operands that are uniform.
func TestOperandsThatAreConstants(t *testing.T) {
	b := blockOf(2, f32(nil, 1, 2))
	text := attrNode("const", fmt.Sprintf(`{"dtype": "|O8", "shape": [2], "texts": [%q, %q]}`, b64(three(1)), b64(three(2))))
	p := parse(t, b.Shapes, []int{0, 3}, text, attrNode("parse_example", threeFeatures, 1))
	got, _, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{"[][1] [2 2][1 -1 2 -2]", "[][2] [2 2][1 -1 2 -2]"}, got)
	p = parse(t, b.Shapes, []int{2}, attrNode("const", `{"dtype": "<f4", "shape": [1], "data": "AACAPw=="}`), attrNode("serialize_tensor", `{"dtype": "float32"}`, 1))
	got, _, err = results(t, p, b)
	require.NoError(t, err)
	require.Len(t, got, 2)
	require.Equal(t, got[0], got[1])
}
