package dataset

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBudget(t *testing.T) {
	b := NewBudget(10)
	require.EqualValues(t, 10, b.Limit())
	b.Hold(9)
	yes, _ := b.Room()
	require.True(t, yes)
	b.Hold(5)
	yes, changed := b.Room()
	require.False(t, yes)
	_, same := b.Room()
	require.Equal(t, changed, same)
	b.GiveBack(2)
	<-changed // though there is still no room: who waits looks again
	yes, changed = b.Room()
	require.False(t, yes)
	b.GiveBack(3)
	<-changed
	yes, _ = b.Room()
	require.True(t, yes)
}

func TestNoBudgetHasNoBound(t *testing.T) {
	var b *Budget
	b.Hold(math.MaxInt64)
	b.GiveBack(1)
	yes, _ := b.Room()
	require.True(t, yes)
	require.EqualValues(t, math.MaxInt64, b.Limit())
}
