package spec

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
)

func TestParseDType(t *testing.T) {
	for given, want := range map[string]struct {
		name string
		size int64
	}{
		"|b1": {"bool", 1}, "|u1": {"uint8", 1}, "<i8": {"int64", 8}, "<f2": {"float16", 2}, "<f4": {"float32", 4},
		"<c16": {"complex128", 16}, "|S5": {"bytes5", 5}, "<U3": {"str3", 12}, "|S0": {"bytes0", 0},
		"<M8[ns]": {"datetime64", 8}, "|V2": {"void2", 2}, "|V2[bfloat16]": {"bfloat16", 2}, "|O": {"object", 0},
	} {
		d, err := ParseDType(given)
		require.NoError(t, err, given)
		require.Equal(t, want.name, d.String())
		require.Equal(t, want.size, d.Size, given)
		require.Equal(t, given, d.Code())
	}
	for _, given := range []string{"", "f4", "<f", ">f4", "<f3", "|O4", "<i-4", "<i4x", "<f99999999999"} {
		_, err := ParseDType(given)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), given)
		require.ErrorContains(t, err, `"`+given+`"`)
	}
}

func TestBytesOfAComponent(t *testing.T) {
	f4 := DType{Kind: 'f', Size: 4}
	for name, c := range map[string]struct {
		shape []int64
		want  int64
		known bool
	}{
		"scalar": {nil, 4, true}, "matrix": {[]int64{2, 3}, 24, true}, "empty": {[]int64{0, 1 << 62}, 0, true},
		"unknown": {[]int64{-1, 3}, 0, false}, "too large": {[]int64{1 << 40, 1 << 40}, 0, false},
		"largest": {[]int64{math.MaxInt64 / 4}, math.MaxInt64 / 4 * 4, true},
	} {
		n, known := Component{f4, c.shape}.Bytes()
		require.Equal(t, c.known, known, name)
		require.Equal(t, c.want, n, name)
	}
}

const nested = `{"tuple":[{"dict":[["a",null],["b",{"tuple":[null]}]]},{"dict":[["x",null],["y",null]],"name":"Point"}]}`

func read(t *testing.T, text string) Structure {
	t.Helper()
	var s Structure
	require.NoError(t, json.Unmarshal([]byte(text), &s))
	return s
}

func TestStructureNamesItsComponents(t *testing.T) {
	s := read(t, nested)
	require.Equal(t, 4, s.Leaves())
	written, err := json.Marshal(s)
	require.NoError(t, err)
	require.JSONEq(t, nested, string(written))
	c := Component{DType{Kind: 'f', Size: 4}, []int64{3}}
	e := &Element{Structure: s, Components: []Component{c, c, {DType{Kind: 'i', Size: 8}, nil}, c}}
	require.Equal(t, "({'a': float32[3], 'b': (float32[3],)}, Point(x=int64[], y=float32[3]))", e.String())
	require.Equal(t, "[0]['a']", e.Name(0))
	require.Equal(t, "[0]['b'][0]", e.Name(1))
	require.Equal(t, "[1].x", e.Name(2))
	require.Equal(t, "", (&Element{Components: []Component{c}}).Name(0))
	require.Equal(t, "int64[-1]", e.Batched(-1).Components[2].String())
	require.Equal(t, "[3], [3], [], [3]", e.Shapes())
}

func TestStructuresDiffer(t *testing.T) {
	texts := []string{`null`, `{"tuple":[]}`, `{"tuple":[null]}`, `{"tuple":[null,null]}`, `{"dict":[]}`, `{"dict":[["a",null]]}`,
		`{"dict":[["b",null]]}`, `{"dict":[["a",null]],"name":"A"}`, `{"dict":[["a",null]],"name":"B"}`, nested}
	for i, a := range texts {
		for j, b := range texts {
			require.Equal(t, i == j, read(t, a).Equal(read(t, b)), "%s and %s", a, b)
		}
	}
}

func TestStructureRefusesNonsense(t *testing.T) {
	for name, text := range map[string]string{
		"number": `3`, "key is a number": `{"dict":[[1,null]]}`, "item is text": `{"tuple":["x"]}`,
		"too deep": strings.Repeat(`{"tuple":[`, 70) + "null" + strings.Repeat(`]}`, 70),
	} {
		var s Structure
		err := json.Unmarshal([]byte(text), &s)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%s: %v", name, err)
	}
}

func TestElementsDiffer(t *testing.T) {
	c, d := Component{DType{Kind: 'f', Size: 4}, []int64{3}}, Component{DType{Kind: 'f', Size: 4}, []int64{2}}
	a := &Element{Components: []Component{c}}
	require.True(t, a.Equal(&Element{Components: []Component{c}}))
	require.True(t, a.Same(&Element{Components: []Component{c}}))
	for name, o := range map[string]*Element{"shape": {Components: []Component{d}}, "dtype": {Components: []Component{{DType{Kind: 'i', Size: 4}, []int64{3}}}}} {
		require.False(t, a.Equal(o), name)
		require.False(t, a.Same(o), name)
	}
	require.False(t, a.Equal(&Element{Structure: read(t, `{"tuple":[null]}`), Components: []Component{c}}))
}
