package op

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/kernel"
	"infeed/core/spec"
)

// TestFoldsAreWhatTheProgramGivesOneByOne runs programs of a state (a, b) and elements
// (x, y) on single pairs, and divided.
func TestFoldsAreWhatTheProgramGivesOneByOne(t *testing.T) {
	const one = `{"op": "const", "attrs": {"dtype": "<i8", "shape": [], "data": "AQAAAAAAAAA="}}`
	for name, c := range map[string]struct {
		nodes, outputs string
		divides        bool
	}{
		"sum and largest":        {`{"op": "add", "in": [0, 2]}, {"op": "maximum", "in": [3, 1]}`, `[4, 5]`, true},
		"of what is computed":    {`{"op": "multiply", "in": [2, 3]}, {"op": "subtract", "in": [4, 0]}, {"op": "subtract", "in": [1, 4]}`, `[5, 6]`, true},
		"count, other unchanged": {one + `, {"op": "add", "in": [0, 4]}`, `[5, 1]`, true},
		"same value twice":       {`{"op": "add", "in": [0, 2]}, {"op": "add", "in": [1, 2]}`, `[4, 5]`, true},
		"the element itself":     {`{"op": "add", "in": [0, 2]}`, `[4, 3]`, false},
		"the other state":        {`{"op": "add", "in": [0, 1]}`, `[4, 1]`, false},
		"states exchanged":       {``, `[1, 0]`, false},
		"twice the state":        {`{"op": "add", "in": [0, 0]}`, `[4, 1]`, false},
		"depends on the state":   {`{"op": "multiply", "in": [1, 2]}, {"op": "add", "in": [0, 4]}`, `[5, 1]`, false},
	} {
		t.Run(name, func(t *testing.T) {
			pair := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 4)}}
			for range 4 {
				pair.Components = append(pair.Components, spec.Component{DType: int64s})
			}
			text := fmt.Sprintf(`{"nodes": [%s], "outputs": %s, "structure": {"tuple": [null, null]}}`, c.nodes, c.outputs)
			p, err := Parse([]byte(text), pair)
			require.NoError(t, err)
			f := p.(dataset.Divisible).Apart(2)
			require.Equal(t, c.divides, f != nil)
			if f == nil {
				return
			}
			column := func(v ...int64) block.Column { return block.Column{Data: kernel.Bytes(v), RowBytes: 8} }
			x, y := []int64{3, -7, 5, 5, 1 << 62}, []int64{2, 9, 9, -4, 8}
			a, b := []int64{1}, []int64{10}
			for i := range x {
				var out block.Buffer
				in := block.Block{Rows: 1, Shapes: pair, Columns: []block.Column{column(a...), column(b...), column(x[i]), column(y[i])}}
				_, err := p.Run(nil, in, dataset.Chance{}, &out)
				require.NoError(t, err)
				a, b = view[int64](out.Blocks()[0].Columns[0].Data), view[int64](out.Blocks()[0].Columns[1].Data)
			}
			var values block.Buffer
			elements := &spec.Element{Components: pair.Components[2:]}
			_, err = f.Run(nil, block.Block{Rows: 5, Shapes: elements, Columns: []block.Column{column(x...), column(y...)}}, dataset.Chance{}, &values)
			require.NoError(t, err)
			state := []block.Column{column(1), column(10)}
			f.Fold(state, values.Blocks()[0])
			require.Equal(t, [2][]int64{a, b}, [2][]int64{view[int64](state[0].Data), view[int64](state[1].Data)})
		})
	}
}
