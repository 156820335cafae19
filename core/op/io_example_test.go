package op

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

const threeFeatures = `{"features": [
	{"key": "name", "kind": "fixed", "dtype": "string", "shape": []},
	{"key": "x", "kind": "fixed", "dtype": "float32", "shape": [2]},
	{"key": "y", "kind": "fixed", "dtype": "int64", "shape": [1, 1], "default": {"data": "CQAAAAAAAAA="}}]}`

func three(i int) string {
	entries := [][]byte{entry("x", floatFeature(float32(i), float32(-i))), entry("name", bytesFeature(fmt.Sprint("n", i)))}
	if i%2 == 0 {
		entries = append(entries, entry("y", intFeature(int64(i))))
	}
	return example(entries...)
}

func TestFixedFeaturesOfSingleExamples(t *testing.T) {
	b := textBlock(nil, three(0), three(1), three(2))
	p := call1(t, b.Shapes, "parse_example", threeFeatures)
	require.Equal(t, "(object[], float32[2], int64[1 1])", p.Spec().String())
	got, blocks, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{`[]["n0"] [2][0 0] [1 1][0]`, `[]["n1"] [2][1 -1] [1 1][9]`, `[]["n2"] [2][2 -2] [1 1][2]`}, got)
	require.Equal(t, []int64{3}, blocks)
}

func TestFixedFeaturesOfBatches(t *testing.T) {
	b := textBlock([]int64{2}, three(0), three(1), three(2), three(3))
	p := call1(t, b.Shapes, "parse_example", threeFeatures)
	require.Equal(t, "(object[2], float32[2 2], int64[2 1 1])", p.Spec().String())
	got, blocks, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{`[2]["n0" "n1"] [2 2][0 0 1 -1] [2 1 1][0 9]`, `[2]["n2" "n3"] [2 2][2 -2 3 -3] [2 1 1][2 9]`}, got)
	require.Equal(t, []int64{2}, blocks)
}

func TestRunsOfEqualShapesAreBlocks(t *testing.T) {
	ints := func(v ...int64) string { return example(entry("v", intFeature(v...))) }
	b := textBlock(nil, ints(1), ints(2), ints(3, 4), ints(), ints(), example(), ints(5))
	p := call1(t, b.Shapes, "parse_example", `{"features": [{"key": "v", "kind": "var", "dtype": "int64"}]}`)
	require.Equal(t, "(int64[-1],)", p.Spec().String())
	got, blocks, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{"[1][1]", "[1][2]", "[2][3 4]", "[0][]", "[0][]", "[0][]", "[1][5]"}, got)
	require.Equal(t, []int64{2, 1, 3, 1}, blocks)
}

func TestFeaturesOfAnyLength(t *testing.T) {
	const attrs = `{"features": [
		{"key": "s", "kind": "sequence", "dtype": "string", "shape": [2], "default": {"texts": ["LQ=="]}},
		{"key": "v", "kind": "var", "dtype": "float32"}]}`
	a := example(entry("s", bytesFeature("a", "b", "c", "d")), entry("v", floatFeature(1)))
	c := example(entry("s", bytesFeature("e", "f")), entry("v", floatFeature(2, 3, 4)))
	b := textBlock([]int64{2}, a, c, c, example())
	p := call1(t, b.Shapes, "parse_example", attrs)
	require.Equal(t, "(object[2 -1 2], int64[-1 2], float32[-1], int64[2])", p.Spec().String())
	got, _, err := results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{
		`[2 2 2]["a" "b" "c" "d" "e" "f" "-" "-"] [4 2][0 0 1 0 1 1 1 2] [4][1 2 3 4] [2][2 3]`,
		`[2 1 2]["e" "f" "-" "-"] [3 2][0 0 0 1 0 2] [3][2 3 4] [2][2 3]`,
	}, got)

	b = textBlock(nil, a, c)
	p = call1(t, b.Shapes, "parse_example", attrs)
	require.Equal(t, "(object[-1 2], float32[-1])", p.Spec().String())
	got, _, err = results(t, p, b)
	require.NoError(t, err)
	require.Equal(t, []string{`[2 2]["a" "b" "c" "d"] [1][1]`, `[1 2]["e" "f"] [3][2 3 4]`}, got)
}

func TestEmptyBatches(t *testing.T) {
	b := textBlock([]int64{0})
	b.Rows = 3
	p := call1(t, b.Shapes, "parse_example", strings.TrimSuffix(threeFeatures, "]}")+`,
		{"key": "s", "kind": "sequence", "dtype": "float32", "shape": [2]}, {"key": "v", "kind": "var", "dtype": "int64"}]}`)
	got, _, err := results(t, p, b)
	require.NoError(t, err)
	require.Len(t, got, 3)
	require.Equal(t, `[0][] [0 2][] [0 1 1][] [0 0 2][] [0 2][] [0][] [2][0 0]`, got[2])
}

func TestTheRowThatFailsAndThoseBefore(t *testing.T) {
	short := example(entry("x", floatFeature(1)), entry("name", bytesFeature("n")))
	for name, c := range map[string]struct {
		shape []int64
		texts []string
		rows  int
		want  string
	}{
		"single":         {nil, []string{three(0), three(1), short, three(2)}, 2, `parse_example: the example: feature "x" has 1 values; its shape asks for 2`},
		"batch":          {[]int64{2}, []string{three(0), three(1), three(2), short, three(3), three(4)}, 1, `example 1: feature "x" has 1 values`},
		"first":          {nil, []string{short}, 0, `feature "x" has 1 values`},
		"damaged":        {[]int64{3}, []string{three(0), three(1), three(2)[:9]}, 0, "example 2 cannot be read"},
		"not an example": {nil, []string{three(0), "nonsense"}, 1, "the example cannot be read"},
		"missing":        {nil, []string{three(0), example(entry("z", intFeature(1)))}, 1, `"name" (string) is required, and is not there; the example has "z"`},
		"dtype":          {nil, []string{example(entry("x", intFeature(1, 2)), entry("name", bytesFeature("")))}, 0, `feature "x" has int64 values; float32 was asked for`},
	} {
		b := textBlock(c.shape, c.texts...)
		got, _, err := results(t, call1(t, b.Shapes, "parse_example", threeFeatures), b)
		require.ErrorContains(t, err, c.want, name)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
		require.Len(t, got, c.rows, name)
		for i, text := range got {
			require.Contains(t, text, fmt.Sprintf(`"n%d"`, i*int(max(1, int64(len(c.texts))/b.Rows))), name)
		}
	}
}

func TestRowsOfAnyLengthBeforeOneThatFails(t *testing.T) {
	ints := func(v ...int64) string { return example(entry("v", intFeature(v...))) }
	b := textBlock(nil, ints(1), ints(2, 3), ints(4, 5), example(entry("v", floatFeature(1))))
	got, _, err := results(t, call1(t, b.Shapes, "parse_example", `{"features": [{"key": "v", "kind": "var", "dtype": "int64"}]}`), b)
	require.ErrorContains(t, err, `the example: feature "v" has float32 values`)
	require.Equal(t, []string{"[1][1]", "[2][2 3]", "[2][4 5]"}, got)
}

func TestNamesOfExamplesAreInErrors(t *testing.T) {
	b := textBlock([]int64{2}, three(0), "nonsense")
	names := textBlock([]int64{2}, "first", "second")
	b.Columns = append(b.Columns, names.Columns[0])
	b.Shapes = &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)}, Components: append(b.Shapes.Components, names.Shapes.Components[0])}
	_, _, err := results(t, call1(t, b.Shapes, "parse_example", threeFeatures), b)
	require.ErrorContains(t, err, `parse_example: "second": example 1 cannot be read`)
	b.Shapes.Components[1].Shape = []int64{3}
	require.ErrorContains(t, refused(t, b.Shapes, "parse_example", threeFeatures), "give each a name")
}

func TestWhatIsNoFeatureIsRefused(t *testing.T) {
	in := textBlock(nil, "").Shapes
	for want, feature := range map[string]string{
		"there are fixed, var":            `{"key": "a", "kind": "sparse", "dtype": "int64"}`,
		"of float32, int64 and string":    `{"key": "a", "kind": "var", "dtype": "int32"}`,
		"has the shape [-1]":              `{"key": "a", "kind": "fixed", "dtype": "int64", "shape": [-1]}`,
		"has the shape [1099511627776 2]": `{"key": "a", "kind": "fixed", "dtype": "int64", "shape": [1099511627776, 2]}`,
		"has a default of 1 values":       `{"key": "a", "kind": "fixed", "dtype": "int64", "shape": [2], "default": {"data": "CQAAAAAAAAA="}}`,
		"default_value of 2 values":       `{"key": "a", "kind": "sequence", "dtype": "string", "shape": [], "default": {"texts": ["", ""]}}`,
		"attributes":                      `3`,
	} {
		require.ErrorContains(t, refused(t, in, "parse_example", `{"features": [`+feature+`]}`), want)
	}
	for _, in := range []*spec.Element{textBlock([]int64{1, 1}, "").Shapes, blockOf(1, f32(nil, 1)).Shapes, {}} {
		require.ErrorContains(t, refused(t, in, "parse_example", threeFeatures), "not for")
	}
}

func TestWhatIsPaddedIsBounded(t *testing.T) {
	long := example(entry("s", intFeature(make([]int64, 1<<20)...)))
	b := textBlock([]int64{2000}, append([]string{long}, make([]string, 1999)...)...)
	_, _, err := results(t, call1(t, b.Shapes, "parse_example", `{"features": [{"key": "s", "kind": "sequence", "dtype": "int64", "shape": []}]}`), b)
	require.Equal(t, errs.ResourceExhausted, errs.KindOf(err))
	require.ErrorContains(t, err, "2000 examples filled up to the 1048576 steps")
}

func TestShapesLargerThanExamplesTakeNoMemory(t *testing.T) {
	b := textBlock(nil, three(0))
	_, _, err := results(t, call1(t, b.Shapes, "parse_example", `{"features": [{"key": "x", "kind": "fixed", "dtype": "float32", "shape": [100000000000]}]}`), b)
	require.ErrorContains(t, err, "has 2 values; its shape asks for 100000000000")
}

// BenchmarkParseExample parses {x: float[64], y: int64, name: bytes}.
func BenchmarkParseExample(b *testing.B) {
	const attrs = `{"features": [
		{"key": "name", "kind": "fixed", "dtype": "string", "shape": []},
		{"key": "x", "kind": "fixed", "dtype": "float32", "shape": [64]},
		{"key": "y", "kind": "fixed", "dtype": "int64", "shape": []}]}`
	var texts []string
	x := make([]float32, 64)
	for i := range 4096 {
		x[i%64] = float32(i)
		texts = append(texts, example(entry("name", bytesFeature(fmt.Sprint("sample-", i))), entry("x", floatFeature(x...)), entry("y", intFeature(int64(i%10)))))
	}
	for name, shape := range map[string][]int64{"single": nil, "batch256": {256}} {
		b.Run(name, func(b *testing.B) {
			in := textBlock(shape, texts...)
			p := call1(b, in.Shapes, "parse_example", attrs)
			var out block.Buffer
			b.ReportAllocs()
			for b.Loop() {
				out.Reset()
				if _, err := p.Run(nil, in, dataset.Chance{}, &out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(texts)*b.N)/b.Elapsed().Seconds()/1e6, "Mexamples/s")
		})
	}
}
