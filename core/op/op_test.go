package op

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/spec"
)

// values is an operand or a constant for tests: all rows, or a constant's values.
type values struct {
	dtype spec.DType
	shape []int64
	data  []byte
}

func of[T any](dtype spec.DType, shape []int64, v ...T) values {
	b := make([]byte, int64(len(v))*dtype.Size)
	copy(view[T](b), v)
	return values{dtype, shape, b}
}

func f32(shape []int64, v ...float32) values { return of(float32s, shape, v...) }
func f64(shape []int64, v ...float64) values { return of(float64s, shape, v...) }
func i64(shape []int64, v ...int64) values   { return of(int64s, shape, v...) }
func u8(shape []int64, v ...uint8) values    { return of(uint8s, shape, v...) }

// blockOf makes a block of operands, which are given with all rows.
func blockOf(rows int64, in ...values) block.Block {
	e := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(in))}}
	b := block.Block{Rows: rows, Shapes: e}
	for _, v := range in {
		c := spec.Component{DType: v.dtype, Shape: v.shape}
		e.Components = append(e.Components, c)
		n, _ := c.Bytes()
		b.Columns = append(b.Columns, block.Column{Data: v.data, RowBytes: n})
	}
	return b
}

func constNode(v values) *node {
	d := map[string]any{"dtype": v.dtype.Code(), "shape": v.shape, "data": v.data}
	if v.shape == nil {
		d["shape"] = []int64{}
	}
	text, _ := json.Marshal(d)
	return &node{Op: "const", Attrs: text}
}

func opNode(op string, in ...int) *node { return &node{Op: op, In: in} }

func attrNode(op, attrs string, in ...int) *node {
	return &node{Op: op, In: in, Attrs: json.RawMessage(attrs)}
}

func document(t testing.TB, outputs []int, nodes ...*node) []byte {
	t.Helper()
	text, err := json.Marshal(map[string]any{"nodes": nodes, "outputs": outputs, "structure": map[string]any{"tuple": make([]any, len(outputs))}})
	require.NoError(t, err)
	return text
}

// parse makes a program over elements like those of b.
func parse(t testing.TB, in *spec.Element, outputs []int, nodes ...*node) dataset.Program {
	t.Helper()
	p, err := Parse(document(t, outputs, nodes...), in)
	require.NoError(t, err)
	return p
}

// run runs a program on b and returns its blocks.
func runOn(t testing.TB, p dataset.Program, b block.Block) []block.Block {
	t.Helper()
	var out block.Buffer
	n, err := p.Run(nil, b, dataset.Chance{}, &out)
	require.NoError(t, err)
	require.Equal(t, b.Rows, n)
	return out.Blocks()
}

func TestScaleAndShift(t *testing.T) {
	const rows, width = 3000, 7
	x := make([]float32, rows*width)
	for i := range x {
		x[i] = float32(i) / 3
	}
	b := blockOf(rows, f32([]int64{width}, x...))
	p := parse(t, b.Shapes, []int{4, 0}, constNode(f32(nil, 2)), opNode("multiply", 0, 1), constNode(f32(nil, 1)), opNode("add", 2, 3))
	require.Equal(t, "(float32[7], float32[7])", p.Spec().String())
	out := runOn(t, p, b)
	require.Len(t, out, 1)
	got := view[float32](out[0].Columns[0].Data)
	for i, v := range x {
		require.Equal(t, v*2+1, got[i])
	}
	require.Equal(t, b.Columns[0].Data, out[0].Columns[1].Data)
}

func TestHalvesRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		f := fromHalf(uint16(h))
		back := toHalf(f)
		if f != f {
			require.True(t, fromHalf(back) != fromHalf(back))
			continue
		}
		require.Equal(t, uint16(h), back)
		if !math.IsInf(float64(f), 0) {
			next := fromHalf(uint16(h + 1))
			if !math.IsInf(float64(next), 0) && next == next {
				middle := (float64(f) + float64(next)) / 2
				even := uint16(h + h&1)
				require.Equal(t, even, toHalf(roundOdd(middle)), h)
				require.Equal(t, uint16(h), toHalf(roundOdd(math.Nextafter(middle, float64(f)))), h)
			}
		}
	}
}

func BenchmarkScaleAndShift(b *testing.B) {
	for name, width := range map[string]int64{"256x64": 256 * 64, "64": 64} {
		b.Run(name, func(b *testing.B) {
			rows := int64(1<<18) / width
			in := blockOf(rows, f32([]int64{width}, make([]float32, rows*width)...))
			p := parse(b, in.Shapes, []int{4}, constNode(f32(nil, 2)), opNode("multiply", 0, 1), constNode(f32(nil, 1)), opNode("add", 2, 3))
			var out block.Buffer
			b.SetBytes(rows * width * 4)
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				if _, err := p.Run(nil, in, dataset.Chance{}, &out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
