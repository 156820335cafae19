package op

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/invariant"
	"infeed/core/rng"
	"infeed/core/spec"
)

// counting makes 0, 1, ... up to its operand, so that rows differ in shape, and the
// same as text; it fails for negative numbers.
type counting struct{}

func init() {
	binders["counting"] = func(n *node, in []spec.Component) (*binding, error) {
		return &binding{out: []spec.Component{{DType: int64s, Shape: dims(-1)}, {DType: spec.Text, Shape: dims(-1)}}, function: counting{}}, nil
	}
}

func (counting) run(c *call) (rows int64, err error) {
	n := view[int64](c.in[0].Data)[:c.rows]
	for ; rows < c.rows && n[rows] == n[0] && n[rows] >= 0; rows++ {
	}
	if rows < c.rows && n[rows] < 0 {
		err = errs.New(errs.InvalidArgument, "counting", "to %d", n[rows])
	}
	if rows == 0 {
		return 0, err
	}
	out, _ := c.make(0, int64s, n[0])
	texts, _ := c.make(1, spec.Text, n[0])
	for i := range rows {
		for k := range n[0] {
			view[int64](out.Data)[i*n[0]+k] = k
			texts.Text.Append(fmt.Append(nil, k))
		}
	}
	return rows, err
}

// TestShapesOfRows: a function's results are given in blocks of equal shapes, and what
// comes after it, and before, goes along.
func TestShapesOfRows(t *testing.T) {
	b := blockOf(6, i64(nil, 2, 2, 3, 1, 1, 2), i64(dims(1), 10, 20, 30, 40, 50, 60))
	// 2: const 1, 3: x + 1 before the function, 4, 5: its results, 6: its sum with y,
	// 7: a view of what was made before, 8: texts backwards
	p := parse(t, b.Shapes, []int{6, 7, 8, 2, 5}, constNode(i64(nil, 1)), opNode("add", 0, 2), opNode("counting", 3),
		opNode("add", 4, 1), attrNode("expand_dims", `{"axes":[0]}`, 3), attrNode("slice", `{"parts":[[null,null,-1]]}`, 5))
	require.Equal(t, "(int64[-1], int64[1], object[-1], int64[], object[-1])", p.Spec().String())
	var got []string
	for _, out := range runOn(t, p, b) {
		texts, back := out.Columns[2].Text, out.Columns[4].Text
		for i := range int(out.Rows) {
			n := int(out.Shapes.Components[0].Shape[0])
			line := fmt.Sprint(view[int64](out.Columns[0].Data)[i*n:(i+1)*n], view[int64](out.Columns[1].Data)[i])
			for k := range n {
				line += " " + string(texts.At(i*n+k))
				require.Equal(t, texts.At(i*n+k), back.At(i*n+n-1-k))
			}
			got = append(got, line)
		}
		require.Equal(t, slices.Repeat([]int64{1}, int(out.Rows)), view[int64](out.Columns[3].Data))
	}
	require.Equal(t, []string{"[10 11 12] 3 2 1 0", "[20 21 22] 3 2 1 0", "[30 31 32 33] 4 3 2 1 0", "[40 41] 2 1 0", "[50 51] 2 1 0", "[60 61 62] 3 2 1 0"}, got)
}

func TestStopsAtTheRowThatFails(t *testing.T) {
	b := blockOf(5, i64(nil, 2, 2, 1, -4, 3))
	p := parse(t, b.Shapes, []int{1}, opNode("counting", 0))
	for from, want := range []int64{3, 2, 1, 0} {
		var out block.Buffer
		done, err := p.Run(nil, b.Slice(int64(from), 5), dataset.Chance{}, &out)
		require.ErrorContains(t, err, "counting: to -4")
		require.Equal(t, want, done)
		require.Equal(t, want, out.Rows())
	}
	var out block.Buffer
	done, err := p.Run(nil, b.Slice(4, 5), dataset.Chance{}, &out)
	require.NoError(t, err)
	require.Equal(t, int64(1), done)
}

// TestFunctionsOneAfterTheOther: the second has fewer rows than the first.
func TestFunctionsOneAfterTheOther(t *testing.T) {
	b := blockOf(4, i64(nil, 2, 2, 2, 2), i64(nil, 1, 3, 3, -1))
	p := parse(t, b.Shapes, []int{2, 4, 0}, opNode("counting", 0), opNode("counting", 1))
	var out block.Buffer
	done, err := p.Run(nil, b, dataset.Chance{}, &out)
	require.ErrorContains(t, err, "to -1")
	require.Equal(t, int64(3), done)
	blocks := out.Blocks()
	require.Len(t, blocks, 2)
	require.Equal(t, []int64{0, 1}, view[int64](blocks[0].Columns[0].Data))
	require.Equal(t, []int64{0}, view[int64](blocks[0].Columns[1].Data))
	require.Equal(t, []int64{0, 1, 0, 1}, view[int64](blocks[1].Columns[0].Data))
	require.Equal(t, []int64{0, 1, 2, 0, 1, 2}, view[int64](blocks[1].Columns[1].Data))
}

// chain is a program of steps and loops with much between them: sums of rows of
// x[:, ::-1] * w, where w is y without its last, and x again.
func chain(t testing.TB, in *spec.Element) dataset.Program {
	return parse(t, in, []int{6, 0, 5, 6}, attrNode("slice", `{"parts":[[null,null,1],[null,null,-1]]}`, 0), // 2
		attrNode("slice", `{"parts":[[0,-1,1]]}`, 1), // 3
		opNode("multiply", 2, 3),                     // 4
		opNode("maximum", 4, 0),                      // 5
		attrNode("sum", `{"axes":[1]}`, 5))           // 6
}

func chainBlock(rows int) block.Block {
	const n, m = 37, 29
	x, y := make([]float64, rows*n*m), make([]float64, rows*(m+1))
	for i := range x {
		x[i] = float64(i%101) - 50
	}
	for i := range y {
		y[i] = float64(i % 7)
	}
	return blockOf(int64(rows), f64(dims(n, m), x...), f64(dims(m+1), y...))
}

// TestRowsAtATime: it does not matter how many rows are made at a time.
func TestRowsAtATime(t *testing.T) {
	b := chainBlock(150) // of more than fits in cacheBytes
	p := chain(t, b.Shapes)
	all := runOn(t, p, b)
	require.Len(t, all, 1)
	for _, at := range []int64{0, 1, 57, 149} {
		one := runOn(t, p, b.Slice(at, at+1))
		require.Equal(t, all[0].Slice(at, at+1).Columns, one[0].Columns)
	}
	x, y := view[float64](b.Columns[0].Data), view[float64](b.Columns[1].Data)
	got := view[float64](all[0].Columns[0].Data)
	for r := range 150 {
		for i := range 37 {
			row, values := x[(r*37+i)*29:(r*37+i+1)*29], make([]float64, 29)
			for k := range row {
				values[k] = max(row[28-k]*y[r*30+k], row[k])
			}
			require.Equal(t, pairwise(values), got[r*37+i])
		}
	}
	require.Equal(t, all[0].Columns[0], all[0].Columns[3])
}

// TestRunsSideBySide is for the race detector.
func TestRunsSideBySide(t *testing.T) {
	b := chainBlock(40)
	p := chain(t, b.Shapes)
	want := runOn(t, p, b)[0].Columns
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				var out block.Buffer
				if _, err := p.Run(nil, b, dataset.Chance{}, &out); err != nil || !slices.Equal(want[0].Data, out.Blocks()[0].Columns[0].Data) {
					t.Errorf("another result: %v", err)
				}
			}
		})
	}
	wg.Wait()
}

// fixed is a sink with memory for one block.
type fixed block.Block

// Block implements dataset.Sink.
func (f *fixed) Block(*spec.Element, int64) (block.Block, error) { return block.Block(*f), nil }

func TestRunsUseTheirMemoryAgain(t *testing.T) {
	if invariant.Enabled {
		t.Skip("pools forget under the race detector")
	}
	b := chainBlock(64)
	p := chain(t, b.Shapes)
	dst := fixed(runOn(t, p, b)[0])
	require.Zero(t, testing.AllocsPerRun(20, func() {
		if _, err := p.Run(nil, b, dataset.Chance{}, &dst); err != nil {
			t.Fatal(err)
		}
	}))
}

func TestShapesThatDifferFromBlockToBlock(t *testing.T) {
	plane := &spec.Element{Components: []spec.Component{{DType: float32s, Shape: dims(-1, -1)}}}
	p := parse(t, plane, []int{2, 3}, constNode(f32(nil, 1)), opNode("add", 0, 1), attrNode("sum", `{"axes":[0,1]}`, 2))
	for n := range int64(maxPlanned / 2) { // more shapes than there are plans, and some of them twice
		h, w := n%100%70, n/100
		out := runOn(t, p, blockOf(1, f32(dims(h, w), slices.Repeat([]float32{2}, int(h*w))...)))[0]
		require.True(t, slices.Equal(dims(h, w), out.Shapes.Components[0].Shape))
		require.Equal(t, 3*float32(h*w), view[float32](out.Columns[1].Data)[0])
		require.LessOrEqual(t, 4*len(p.(*program).segments[0].plans.all), maxPlanned)
	}
	e := &spec.Element{Components: []spec.Component{{DType: float32s, Shape: dims(-1)}}}
	bad := parse(t, &spec.Element{Components: []spec.Component{e.Components[0], e.Components[0]}}, []int{2}, opNode("add", 0, 1))
	done, err := bad.Run(nil, blockOf(2, f32(dims(2), 1, 2, 3, 4), f32(dims(3), 1, 2, 3, 4, 5, 6)), dataset.Chance{}, &block.Buffer{})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.Zero(t, done)
}

func texts(values ...string) *block.Text {
	t := &block.Text{}
	for _, v := range values {
		t.Append([]byte(v))
	}
	return t
}

func TestText(t *testing.T) {
	e := &spec.Element{Components: []spec.Component{{DType: spec.Text, Shape: dims(2)}, {DType: int64s, Shape: dims(1)}}}
	b := block.Block{Rows: 2, Shapes: e, Columns: []block.Column{{Text: texts("a", "bc", "", "a")}, {Data: i64(nil, 1, 0).data, RowBytes: 8}}}
	word := attrNode("const", `{"dtype":"|O","shape":[],"texts":["YQ=="]}`)
	p := parse(t, e, []int{3, 4, 6, 7, 2}, word, // 2
		opNode("text_equal", 0, 2),                        // 3
		attrNode("take", `{"axis":0,"indices":[1,0]}`, 0), // 4
		attrNode("expand_dims", `{"axes":[0]}`, 2),        // 5
		attrNode("concatenate", `{"axis":0}`, 4, 5, 0),    // 6
		attrNode("gather", `{"axis":0}`, 0, 1))            // 7
	out := runOn(t, p, b)[0]
	require.Equal(t, []byte{1, 0, 0, 1}, out.Columns[0].Data)
	for i, want := range [][]string{{"bc", "a", "a", ""}, {"bc", "a", "a", "a", "bc", "a", "", "a", "", "a"}, {"bc", ""}, {"a", "a"}} {
		require.Equal(t, texts(want...).Data, bytesIn(out.Columns[i+1].Text), "output %d", i+1)
		require.Equal(t, len(want), out.Columns[i+1].Text.Len())
	}
}

// bytesIn is all strings, one after the other.
func bytesIn(t *block.Text) (all []byte) {
	for i := range t.Len() {
		all = append(all, t.At(i)...)
	}
	return all
}

func TestRandomNumbers(t *testing.T) {
	e := &spec.Element{}
	p := parse(t, e, []int{0, 1}, attrNode("random", `{"kind":"uniform","dtype":"<f8","shape":[2],"node":1}`),
		attrNode("random", `{"kind":"integers","dtype":"<i4","shape":[],"node":2,"seed":7,"low":-3,"span":6}`))
	at := dataset.Chance{Key: rng.NewKey(5), First: 100}
	var all, some block.Buffer
	b := block.Block{Rows: 50, Shapes: e}
	_, err := p.Run(nil, b, at, &all)
	require.NoError(t, err)
	index := []int64{149, 100, 120}
	_, err = p.Run(nil, block.Block{Rows: 3, Shapes: e}, dataset.Chance{Key: at.Key, Index: index}, &some)
	require.NoError(t, err)
	for i, number := range index {
		for c, column := range some.Blocks()[0].Columns {
			n := column.RowBytes
			require.Equal(t, all.Blocks()[0].Columns[c].Data[(number-100)*n:(number-99)*n], column.Data[int64(i)*n:int64(i+1)*n])
		}
	}
	for _, x := range view[int32](all.Blocks()[0].Columns[1].Data) {
		require.True(t, x >= -3 && x < 3)
	}
}

// TestTilesAreKeptWhileTheyAreRead: values between are read again after others were
// made.
func TestTilesAreKeptWhileTheyAreRead(t *testing.T) {
	b := blockOf(3, f64(dims(2), 1, 2, 3, 4, 5, 6))
	p := parse(t, b.Shapes, []int{5}, opNode("square", 0), opNode("negative", 1), opNode("negative", 2), opNode("add", 3, 2),
		opNode("add", 4, 1)) // x² - x² + x²
	require.Equal(t, []float64{1, 4, 9, 16, 25, 36}, view[float64](runOn(t, p, b)[0].Columns[0].Data))
}

// TestOpenConstant: a constant with open dimensions tells what the program makes; such a
// program is not run.
func TestOpenConstant(t *testing.T) {
	e := blockOf(1, i64(dims(1, 3), 1, 2, 3)).Shapes
	p := parse(t, e, []int{2, 3}, attrNode("const", `{"dtype":"<i8","shape":[-1,1]}`), opNode("add", 0, 1), attrNode("const", `{"dtype":"|O","shape":[-1]}`))
	require.Equal(t, "(int64[-1 3], object[-1])", p.Spec().String())
	var out block.Buffer
	_, err := p.Run(&dataset.Scope{}, blockOf(1, i64(dims(1, 3), 1, 2, 3)), dataset.Chance{}, &out)
	require.ErrorContains(t, err, "too much memory")
	_, err = Parse(document(t, []int{1}, attrNode("const", `{"dtype":"<i8","shape":[-1],"data":"AQAAAAAAAAA="}`)), e)
	require.ErrorContains(t, err, "8 bytes")
}
