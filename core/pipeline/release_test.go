package pipeline

import (
	"runtime"
	"testing"
	"weak"

	"github.com/stretchr/testify/require"
)

// A collection frees an iterator that was closed: what survives several makes the memory of many short passes grow without end,
// since each collection waits for as much again as the last one kept.
func TestClosedIteratorsGoWithTheNextCollection(t *testing.T) {
	for _, workers := range []int{0, 1} {
		it := shortPass(t, workers)
		runtime.GC()
		require.True(t, it.Value() == nil, "%d workers: one collection did not free the iterator", workers)
	}
}

//go:noinline
func shortPass(t *testing.T, workers int) weak.Pointer[Iterator] {
	it, err := open(t, numbers(3)).Iterate(Options{Workers: workers})
	require.NoError(t, err)
	require.Len(t, read(t, it, -1), 3)
	it.Close()
	return weak.Make(it)
}
