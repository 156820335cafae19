package op

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/spec"
)

var nan, inf = math.NaN(), math.Inf(1)

func i8(shape []int64, v ...int8) values   { return of(int8s, shape, v...) }
func i32(shape []int64, v ...int32) values { return of(int32s, shape, v...) }
func flags(shape []int64, v ...uint8) values {
	return of(boolean, shape, v...)
}

func dims(d ...int64) []int64 { return d }

// single is one node on operands that are given with all rows; constants come after
// them.
type single struct {
	name      string
	op, attrs string
	rows      int64
	in        []values
	constants []values
	want      values // of all rows
}

var singles = []single{
	{"add wraps", "add", "", 3, []values{i8(nil, 100, -100, 1), i8(nil, 100, -100, 1)}, nil, i8(nil, -56, 56, 2)},
	{"broadcast columns", "add", "", 2, []values{i32(dims(2, 1), 1, 2, 3, 4), i32(dims(3), 10, 20, 30, 40, 50, 60)}, nil,
		i32(dims(2, 3), 11, 21, 31, 12, 22, 32, 43, 53, 63, 44, 54, 64)},
	{"broadcast a constant row", "subtract", "", 2, []values{i32(dims(3), 1, 2, 3, 4, 5, 6)}, []values{i32(dims(3), 1, 1, 2)},
		i32(dims(3), 0, 1, 1, 3, 4, 4)},
	{"broadcast a constant column", "multiply", "", 2, []values{i32(dims(2), 1, 2, 3, 4)}, []values{i32(dims(2, 1), 10, 100)},
		i32(dims(2, 2), 10, 20, 100, 200, 30, 40, 300, 400)},
	{"divide by zero", "divide", "", 3, []values{f64(nil, 1, -1, 0)}, []values{f64(nil, 0)}, f64(nil, inf, -inf, nan)},
	{"floor_divide", "floor_divide", "", 5, []values{i8(nil, 7, -7, 7, -128, 5), i8(nil, 2, 2, -2, -1, 0)}, nil, i8(nil, 3, -4, -4, -128, 0)},
	{"remainder", "remainder", "", 5, []values{i8(nil, 7, -7, 7, -128, 5), i8(nil, 2, 2, -2, -1, 0)}, nil, i8(nil, 1, 1, -1, 0, 0)},
	{"floor_divide of floats", "floor_divide", "", 3, []values{f64(nil, 7.5, -7.5, 1)}, []values{f64(nil, 2)}, f64(nil, 3, -4, 0)},
	{"remainder of floats", "remainder", "", 3, []values{f64(nil, 7.5, -7.5, 1)}, []values{f64(nil, 2)}, f64(nil, 1.5, 0.5, 1)},
	{"power wraps", "power", "", 2, []values{i8(nil, 2, 3)}, []values{i8(nil, 7)}, i8(nil, -128, -117)},
	{"power", "power", "", 4, []values{f64(nil, 2, -2, -8, 10), f64(nil, 10, 3, 0.5, -2)}, nil, f64(nil, 1024, -8, nan, 0.01)},
	{"shift by much", "left_shift", "", 3, []values{i32(nil, 1, 1, 1), i32(nil, 3, 40, -1)}, nil, i32(nil, 8, 0, 0)},
	{"shift back by much", "right_shift", "", 3, []values{i32(nil, -8, -8, 8), i32(nil, 1, 40, -1)}, nil, i32(nil, -4, -1, 0)},
	{"maximum passes NaN on", "maximum", "", 3, []values{f32(nil, 1, float32(nan), 2), f32(nil, 2, 1, float32(nan))}, nil, f32(nil, 2, float32(nan), float32(nan))},
	{"fmax passes NaN by", "fmax", "", 3, []values{f32(nil, 1, float32(nan), 2), f32(nil, 2, 1, float32(nan))}, nil, f32(nil, 2, 1, 2)},
	{"less", "less", "", 3, []values{f32(nil, 1, 2, float32(nan)), f32(nil, 2, 1, 1)}, nil, flags(nil, 1, 0, 0)},
	{"logical_xor", "logical_xor", "", 4, []values{flags(nil, 0, 0, 1, 1), flags(nil, 0, 1, 0, 1)}, nil, flags(nil, 0, 1, 1, 0)},
	{"select", "select", "", 2, []values{flags(nil, 1, 0), i32(dims(2), 1, 2, 3, 4)}, []values{i32(nil, 9)}, i32(dims(2), 1, 2, 9, 9)},
	{"cast wraps", "cast", `{"dtype":"|i1"}`, 2, []values{i32(nil, 300, -129)}, nil, i8(nil, 44, 127)},
	{"cast of what does not fit", "cast", `{"dtype":"<i4"}`, 4, []values{f64(nil, 2.9, -2.9, nan, 1e20)}, nil,
		i32(nil, 2, -2, math.MinInt32, math.MinInt32)},
	{"cast to bool", "cast", `{"dtype":"|b1"}`, 3, []values{f64(nil, 0, 0.1, nan)}, nil, flags(nil, 0, 1, 1)},
	{"reshape", "reshape", `{"shape":[3,-1]}`, 1, []values{i32(dims(2, 3), 1, 2, 3, 4, 5, 6)}, nil, i32(dims(3, 2), 1, 2, 3, 4, 5, 6)},
	{"transpose", "transpose", `{"axes":[1,0]}`, 2, []values{i8(dims(2, 2), 1, 2, 3, 4, 5, 6, 7, 8)}, nil, i8(dims(2, 2), 1, 3, 2, 4, 5, 7, 6, 8)},
	{"slice", "slice", `{"parts":[-1,[null,null,-2]]}`, 2, []values{i8(dims(2, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)}, nil, i8(dims(2), 6, 4, 12, 10)},
	{"empty slice", "slice", `{"parts":[[5,9,1]]}`, 1, []values{i8(dims(2), 1, 2)}, nil, i8(dims(0))},
	{"take", "take", `{"axis":1,"indices":[2,-2]}`, 2, []values{i8(dims(1, 3), 1, 2, 3, 4, 5, 6)}, nil, i8(dims(1, 2), 3, 2, 6, 5)},
	{"broadcast_to", "broadcast_to", `{"shape":[2,2]}`, 2, []values{i8(dims(2, 1), 1, 2, 3, 4)}, nil, i8(dims(2, 2), 1, 1, 2, 2, 3, 3, 4, 4)},
	{"concatenate", "concatenate", `{"axis":1}`, 2, []values{i8(dims(2, 1), 1, 2, 3, 4)}, []values{i8(dims(2, 1), 8, 9)},
		i8(dims(2, 2), 1, 8, 2, 9, 3, 8, 4, 9)},
	{"size", "size", `{"axes":[0,1]}`, 2, []values{i8(dims(1, 3), 1, 2, 3, 4, 5, 6)}, nil, i64(nil, 3, 3)},
	{"sum of rows", "sum", `{"axes":[1]}`, 2, []values{i8(dims(2, 2), 100, 100, 1, 2, 3, 4, 5, 6)}, nil, i8(dims(2), -56, 3, 7, 11)},
	{"sum of columns", "sum", `{"axes":[0],"keepdims":true}`, 1, []values{i32(dims(3, 2), 1, 2, 3, 4, 5, 6)}, nil, i32(dims(1, 2), 9, 12)},
	{"sum around", "sum", `{"axes":[0,2]}`, 1, []values{i32(dims(2, 2, 2), 1, 2, 3, 4, 5, 6, 7, 8)}, nil, i32(dims(2), 14, 22)},
	{"sum of nothing", "sum", `{"axes":[0]}`, 2, []values{f64(dims(0, 2))}, nil, f64(dims(2), 0, 0, 0, 0)},
	{"prod", "prod", `{"axes":[0]}`, 2, []values{f64(dims(2), 2, 3, 4, nan)}, nil, f64(nil, 6, nan)},
	{"max", "max", `{"axes":[0]}`, 3, []values{f64(dims(2), 2, 3, nan, 3, -4, -5)}, nil, f64(nil, 3, nan, -4)},
	{"min of ints", "min", `{"axes":[0]}`, 1, []values{u8(dims(2), 2, 3)}, nil, u8(nil, 2)},
	{"any", "any", `{"axes":[0]}`, 2, []values{flags(dims(2), 0, 1, 0, 0)}, nil, flags(nil, 1, 0)},
	{"argmax", "argmax", `{"axes":[0]}`, 3, []values{f64(dims(3), 1, 3, 3, 1, nan, nan, -1, -1, -2)}, nil, i64(nil, 1, 1, 0)},
	{"argmin of columns", "argmin", `{"axes":[0]}`, 1, []values{u8(dims(2, 2), 3, 1, 2, 1)}, nil, i64(dims(2), 1, 0)},
	{"matmul", "matmul", "", 2, []values{f32(dims(1, 2), 1, 2, 3, 4)}, []values{f32(dims(2, 2), 1, 0, 10, 1)}, f32(dims(1, 2), 21, 2, 43, 4)},
	{"gather", "gather", `{"axis":0}`, 2, []values{u8(dims(3), 1, 2, 3, 4, 5, 6), i64(dims(2), 2, 0, -1, 1)}, nil, u8(dims(2), 3, 1, 6, 5)},
	{"slice at", "slice_at", `{"axis":0,"step":1,"start":true,"stop":true}`, 2,
		[]values{i8(dims(4), 1, 2, 3, 4, 5, 6, 7, 8), i64(nil, 1, -3), i64(nil, 3, 3)}, nil, i8(dims(2), 2, 3, 6, 7)},
	{"slice at, back", "slice_at", `{"axis":1,"step":-2,"start":true}`, 1, []values{i8(dims(2, 3), 1, 2, 3, 4, 5, 6), i64(nil, 9)}, nil,
		i8(dims(2, 2), 3, 1, 6, 4)},
	{"mask", "mask", "", 2, []values{i8(dims(3), 1, 2, 3, 4, 5, 6), flags(dims(3), 1, 0, 2, 0, 1, 1)}, nil, i8(dims(2), 1, 3, 5, 6)},
	{"mask of rows", "mask", "", 1, []values{i8(dims(2, 2), 1, 2, 3, 4)}, []values{flags(dims(2), 0, 1)}, i8(dims(1, 2), 3, 4)},
	{"positions", "positions", `{"axis":1}`, 2, []values{i8(dims(1, 3), 1, 2, 3, 4, 5, 6)}, nil, i64(dims(3), 0, 1, 2, 0, 1, 2)},
	{"cumsum", "cumsum", `{"axis":0}`, 1, []values{i8(dims(3, 2), 100, 1, 100, 2, 1, 3)}, nil, i8(dims(3, 2), 100, 1, -56, 3, -55, 6)},
	{"cumprod", "cumprod", `{"axis":1}`, 1, []values{f64(dims(2, 2), 2, 3, nan, 1)}, nil, f64(dims(2, 2), 2, 6, nan, nan)},
	{"sort", "sort", `{"axis":0}`, 1, []values{f64(dims(5), nan, 2, inf, -1, 1)}, nil, f64(dims(5), -1, 1, 2, inf, nan)},
	{"argsort", "argsort", `{"axis":1}`, 1, []values{f64(dims(1, 5), 2, nan, 1, 2, -1)}, nil, i64(dims(1, 5), 4, 2, 0, 3, 1)},
	{"searchsorted", "searchsorted", `{"right":false}`, 1, []values{f64(dims(3), 1, 2, 2), f64(dims(4), 2, 0, 3, nan)}, nil, i64(dims(4), 1, 0, 3, 3)},
	{"searchsorted behind", "searchsorted", `{"right":true}`, 1, []values{i8(dims(3), 1, 2, 2), i8(dims(2), 2, 1)}, nil, i64(dims(2), 3, 1)},
	{"halves", "add", "", 1, []values{of(float16s, dims(2), uint16(0x3c00), uint16(0x7bff))}, []values{of(float16s, nil, uint16(0x3c00))},
		of(float16s, dims(2), uint16(0x4000), uint16(0x7bff))},
	{"complex", "multiply", "", 1, []values{of(complex64s, nil, complex64(1+2i))}, []values{of(complex64s, nil, complex64(3i))}, of(complex64s, nil, complex64(-6+3i))},
	{"parts of complex", "imag", "", 1, []values{of(complexes, nil, 1+2i)}, nil, f64(nil, 2)},
}

func (s *single) program(t *testing.T) ([]block.Block, *spec.Element) {
	b := blockOf(s.rows, s.in...)
	n := &node{Op: s.op, Attrs: []byte(s.attrs)}
	if s.attrs == "" {
		n.Attrs = []byte("null")
	}
	var nodes []*node
	for i := range s.in {
		n.In = append(n.In, i)
	}
	for _, c := range s.constants {
		n.In = append(n.In, len(s.in)+len(nodes))
		nodes = append(nodes, constNode(c))
	}
	nodes = append(nodes, n)
	p := parse(t, b.Shapes, []int{len(s.in) + len(nodes) - 1}, nodes...)
	return runOn(t, p, b), p.Spec()
}

func TestOperations(t *testing.T) {
	for _, s := range singles {
		t.Run(s.name, func(t *testing.T) {
			out, e := s.program(t)
			require.Len(t, out, 1)
			require.Equal(t, s.want.dtype, e.Components[0].DType)
			require.Equal(t, append([]int64{}, s.want.shape...), append([]int64{}, out[0].Shapes.Components[0].Shape...))
			for i, d := range e.Components[0].Shape {
				require.Contains(t, []int64{-1, s.want.shape[i]}, d)
			}
			require.Equal(t, shown(s.want.dtype, s.want.data), shown(s.want.dtype, out[0].Columns[0].Data))
		})
	}
}

// shown makes NaNs comparable.
func shown(d spec.DType, data []byte) string {
	switch d {
	case float32s:
		return fmt.Sprint(view[float32](data))
	case float64s:
		return fmt.Sprint(view[float64](data))
	}
	return fmt.Sprint(data)
}

func TestOperandsThatDoNotFit(t *testing.T) {
	for name, c := range map[string]struct {
		n    *node
		in   []values
		text string
	}{
		"dtypes":        {opNode("add", 0, 1), []values{i8(nil, 1), i32(nil, 1)}, "add: not for [int8[] int32[]]"},
		"shapes":        {opNode("add", 0, 1), []values{i8(dims(2), 1, 2), i8(dims(3), 1, 2, 3)}, "could not be broadcast together: [2], [3]"},
		"of no dtype":   {opNode("sin", 0), []values{i8(nil, 1)}, "sin: not for"},
		"unknown":       {opNode("sine", 0), []values{i8(nil, 1)}, `no operation "sine"`},
		"later value":   {opNode("negative", 1), []values{i8(nil, 1)}, "no value 1 before it"},
		"reshape":       {attrNode("reshape", `{"shape":[4]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "cannot reshape a value of shape [3] into [4]"},
		"two unknown":   {attrNode("reshape", `{"shape":[-1,-1]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "one dimension can be -1"},
		"index":         {attrNode("slice", `{"parts":[3]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "index 3 is out of bounds for axis 0 with size 3"},
		"step":          {attrNode("slice", `{"parts":[[0,1,0]]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "step 0"},
		"take":          {attrNode("take", `{"axis":0,"indices":[-4]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "index -4 is out of bounds"},
		"axes":          {attrNode("sum", `{"axes":[1]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "axes [1] of 1 dimensions"},
		"max of none":   {attrNode("max", `{"axes":[0]}`, 0), []values{f64(dims(0))}, "of no values"},
		"matrices":      {opNode("matmul", 0, 1), []values{f64(dims(1, 2), 1, 2), f64(dims(1, 2), 1, 2)}, "matrices of shapes"},
		"squeeze":       {attrNode("squeeze", `{"axes":[0]}`, 0), []values{i8(dims(3), 1, 2, 3)}, "cannot squeeze axis 0"},
		"huge":          {attrNode("broadcast_to", `{"shape":[1099511627776,1099511627776]}`, 0), []values{i8(dims(1), 1)}, "too much memory"},
		"attributes":    {attrNode("sum", `{"axes":"x"}`, 0), []values{i8(dims(3), 1, 2, 3)}, "attributes"},
		"constant":      {attrNode("const", `{"dtype":"<f4","shape":[2],"data":"AAAA"}`), nil, "3 bytes"},
		"random shape":  {attrNode("random", `{"kind":"uniform","dtype":"<f4","shape":[-1]}`), nil, "memory"},
		"random dtype":  {attrNode("random", `{"kind":"uniform","dtype":"<i4","shape":[]}`), nil, `"uniform" of dtype int32`},
		"cast to text":  {attrNode("cast", `{"dtype":"|O8"}`, 0), []values{i8(nil, 1)}, "cannot be made object"},
		"three dtypes":  {opNode("select", 0, 0, 0), []values{i8(nil, 1)}, "select: not for"},
		"concatenation": {attrNode("concatenate", `{"axis":0}`, 0, 1), []values{i8(dims(1, 2), 1, 2), i8(dims(1, 3), 1, 2, 3)}, "along axis 0"},
	} {
		b := blockOf(1, c.in...)
		_, err := Parse(document(t, []int{len(c.in)}, c.n), b.Shapes)
		require.ErrorContains(t, err, c.text, name)
	}
}
