package csvtext

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/core/spec"
)

// The rows are right or wrong as for tensorflow 2.21's CsvDataset(exclude_cols=...).
func TestExcludedColumns(t *testing.T) {
	two := []Column{{DType: spec.DType{Kind: 'i', Size: 4}}, {DType: spec.Text}}
	for _, c := range []struct {
		excluded []int
		row      string
		right    bool
	}{
		{[]int{2}, "1,a,9", true}, {[]int{2}, "1,a", true}, {[]int{2}, "1,a,9,9", false},
		{[]int{1}, "1,9,a", true}, {[]int{1}, "1,9,a,7", false}, {[]int{1}, "1,9", false},
		{[]int{1, 3}, "1,9,a,7", true}, {[]int{1, 3}, "1,9,a", true}, {[]int{1, 3}, "1,9,a,7,7", false},
		{[]int{5}, "1,a", true}, {[]int{5}, "1,a,9", false}, {[]int{0}, "x,1,a", true}, {nil, "1,a", true},
	} {
		f, err := NewExcluding(Dialect{}, two, c.excluded)
		require.NoError(t, err)
		out := make([]Values, 2)
		rows, _, bad := f.Parse([]byte(c.row), 1, out)
		require.Equal(t, c.right, bad == nil, "%v: %s", c.excluded, c.row)
		if c.right {
			require.Equal(t, 1, rows)
			require.Equal(t, "[1 0 0 0] a", fmt.Sprintf("%v %s", out[0].Data, out[1].Data[:1]))
		}
	}
	for _, excluded := range [][]int{{-1}, {1, 1}, {2, 1}, {maxField + 1}} {
		_, err := NewExcluding(Dialect{}, two, excluded)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%v", excluded)
	}
}
