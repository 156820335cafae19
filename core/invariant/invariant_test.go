package invariant

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheckSaysWhatIsWrong(t *testing.T) {
	require.NotPanics(t, func() { Check(true, "fine") })
	require.PanicsWithValue(t, "invariant: slot 3 is lent", func() { Check(false, "slot %d is lent", 3) })
}

func TestScribbleLeavesNothing(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 100} {
		b := make([]byte, n)
		Scribble(b)
		for _, x := range b {
			require.Equal(t, Enabled, x == 0xdb)
		}
	}
}
