package transform

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/par"
)

func TestPrefetchKeepsToTheContracts(t *testing.T) {
	for _, elements := range []int64{-1, 1, 3, 100} {
		for _, bytes := range []int64{1, 1 << 20} {
			checkOnSome(t, func(in dataset.Definition) dataset.Definition { return must(Prefetch(stream(in), elements, bytes)) })
		}
	}
}

// readAhead waits until so many elements were read.
func readAhead(t *testing.T, n *atomic.Int64, want int64) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); n.Load() < want; runtime.Gosched() {
		require.True(t, time.Now().Before(end), "%d of %d elements were read", n.Load(), want)
	}
}

func TestPrefetchReadsAheadWithinBounds(t *testing.T) {
	var count atomic.Int64
	in := made{element(leaf('i', 8, -1)), dataset.Infinite, func(i int64) ([]value, error) {
		count.Add(1)
		return []value{vector(upTo(0, 128, 1)...)}, nil
	}}
	for name, c := range map[string]struct{ elements, bytes, least, most int64 }{
		"elements": {4, 1 << 30, 4, 4}, "bytes": {-1, 8 << 10, 8, 16},
	} {
		count.Store(0)
		before := par.Live()
		s := datasettest.Scope(2)
		it, err := must(Prefetch(stream(in), c.elements, c.bytes)).Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		readAhead(t, &count, c.least)
		var b block.Buffer
		for i := range int64(100) {
			b.Reset()
			_, err := it.Next(1, &b)
			require.NoError(t, err)
			require.LessOrEqual(t, count.Load(), c.most+i+1+1, name)
		}
		s.Close()
		require.Equal(t, before, par.Live())
		_, err = it.Next(1, &b)
		for err == nil { // what was read before the end may still come
			_, err = it.Next(1, &b)
		}
		require.Equal(t, errs.Cancelled, errs.KindOf(err))
	}
}

func TestPrefetch(t *testing.T) {
	r := datasettest.Range(5)
	require.Equal(t, dataset.Definition(r), must(Prefetch(r, 3, 1)), "random access is kept")
	require.Equal(t, stream(r), must(Prefetch(stream(r), 0, 1)))
	for _, c := range [][2]int64{{-2, 1}, {1, 0}} {
		_, err := Prefetch(r, c[0], c[1])
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	}
}
