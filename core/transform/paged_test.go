package transform

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
)

// pagedNumbers returns the numbers of elements in a paged order.
func pagedNumbers(n, page, window int64, key rng.Key) []int64 {
	o := newPagedOrder(n, ShuffleOptions{Page: page, Window: window}, key)
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	o.elements(out)
	return out
}

func TestPagedOrdersAreBijections(t *testing.T) {
	for n := int64(0); n <= 130; n++ {
		for _, page := range []int64{1, 2, 3, 7, 16, 64, 129, 130, 131, 1 << 40} {
			for _, window := range []int64{1, 2, page, 3*page - 1, 5 * page, 1 << 41} {
				got := pagedNumbers(n, page, window, rng.NewKey(uint64(n), 7))
				slices.Sort(got)
				for i, x := range got {
					require.EqualValues(t, i, x, "n=%d page=%d window=%d", n, page, window)
				}
			}
		}
	}
}

// In large orders each element that is looked at is where the order says, and neither
// memory nor time depend on n.
func TestLargePagedOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int64{1<<40 + 1, 1<<40 - 1, 1 << 40, 1e9 + 7} {
		for _, page := range []int64{1, 1000, 1 << 17, 1 << 30} {
			o := newPagedOrder(n, ShuffleOptions{Page: page, Window: 10 * page}, rng.NewKey(3, uint64(n)))
			for range 50 {
				i := r.Int64N(n)
				index := []int64{i}
				o.elements(index)
				x := index[0]
				require.True(t, 0 <= x && x < n)
				// back again
				place := o.pages.Inverse(x / page)
				w := place / o.together
				from, to := o.window(w)
				require.True(t, from <= i && i < to)
				require.Equal(t, i, from+o.orders.get(w).Inverse(o.start(place)+x%page-from))
			}
		}
	}
}

// Each window has the elements of its pages, in an order of its own; pages, windows and
// seeds change with the pass.
func TestWindowsAreOfPages(t *testing.T) {
	got := pagedNumbers(1000, 10, 50, rng.NewKey(1))
	seen := map[int64]bool{}
	for w := range 20 {
		pages := map[int64]int{}
		for _, x := range got[50*w : 50*(w+1)] {
			pages[x/10]++
		}
		require.Len(t, pages, 5)
		for p, n := range pages {
			require.Equal(t, 10, n)
			require.False(t, seen[p])
			seen[p] = true
		}
		require.False(t, slices.IsSorted(got[50*w:50*(w+1)]))
	}
	require.NotEqual(t, got, pagedNumbers(1000, 10, 50, rng.NewKey(2)))
	require.NotEqual(t, got, pagedNumbers(1000, 20, 50, rng.NewKey(1)))
}

// Where a window holds everything, each element may come first.
func TestWholePagedOrdersAreUniform(t *testing.T) {
	counts := make([]float64, 12)
	const rounds = 12000
	for k := range rounds {
		counts[pagedNumbers(12, 5, 100, rng.NewKey(uint64(k), 9))[0]]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - rounds/12) * (c - rounds/12) / (rounds / 12)
	}
	require.Less(t, chi, 31.3, "one in a thousand has more") // 11 degrees of freedom
}

func TestPagedShufflesKeepToTheContracts(t *testing.T) {
	for _, n := range []int64{0, 1, 23, 40} {
		for _, o := range []ShuffleOptions{{Page: 1, Window: 4}, {Page: 4, Window: 8}, {Page: 7, Window: 2}, {Page: 100, Window: 300}, {Page: 5, Window: 1}} {
			t.Run(fmt.Sprint(n, o), func(t *testing.T) {
				datasettest.Check(t, must(Shuffle(datasettest.Range(n), o)), 50)
				datasettest.Check(t, must(Shuffle(batched(datasettest.Range(3*n+1), 3), o)), 50)                                            // shapes that differ
				datasettest.Check(t, must(Shuffle(must(Window(datasettest.Range(n), WindowOptions{Size: 3, Shift: 2, Stride: 1})), o)), 50) // texts
			})
		}
	}
}

// tallied counts how often each element is made.
type tallied struct {
	datasettest.Range
	made   []atomic.Int64
	bad    map[int64]bool
	errors atomic.Int64
}

func (c *tallied) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(c, s, pass, from)
}
func (c *tallied) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return c, nil }
func (c *tallied) Fetch(index []int64, dst dataset.Sink) error {
	for _, x := range index {
		if c.bad[x] {
			c.errors.Add(1)
			return errs.New(errs.DataLoss, "tallied", "element %d", x)
		}
		c.made[x].Add(1)
	}
	return c.Range.Fetch(index, dst)
}

// A walk asks for each page once, and few are held.
func TestPagesAreReadOnce(t *testing.T) {
	in := &tallied{Range: 10_000, made: make([]atomic.Int64, 10_000)}
	d := must(Shuffle(in, ShuffleOptions{Page: 100, Window: 1000, Seed: 4}))
	s := datasettest.Scope(0)
	defer s.Close()
	access, err := d.(dataset.Indexed).Open(s, dataset.PassKey(0))
	require.NoError(t, err)
	for at := int64(0); at < 10_000; at += 64 {
		require.NoError(t, access.Fetch(upTo(at, min(at+64, 10_000), 1), new(block.Buffer)))
		require.LessOrEqual(t, len(access.(*pagedPass).pages.held), 20)
	}
	for x := range in.made {
		require.EqualValues(t, 1, in.made[x].Load(), "element %d", x)
	}
}

// Goroutines that want the same page have it read once.
func TestPagesAreReadOnceForAll(t *testing.T) {
	in := &tallied{Range: 10_000, made: make([]atomic.Int64, 10_000)}
	d := must(Shuffle(in, ShuffleOptions{Page: 100, Window: 1000, Seed: 4}))
	s := datasettest.Scope(0)
	defer s.Close()
	access, err := d.(dataset.Indexed).Open(s, dataset.PassKey(0))
	require.NoError(t, err)
	done := make(chan error)
	const walkers = 4
	for w := range int64(walkers) {
		go func() {
			var err error
			for at := int64(0); at < 1000 && err == nil; at += 50 {
				from := (at + 250*w) % 1000
				err = access.Fetch(upTo(from, from+50, 1), new(block.Buffer))
			}
			done <- err
		}()
	}
	for range walkers {
		require.NoError(t, <-done)
	}
	total := int64(0)
	for x := range in.made {
		require.LessOrEqual(t, in.made[x].Load(), int64(1), "element %d", x)
		total += in.made[x].Load()
	}
	require.EqualValues(t, 1000, total)
}

// An element that fails is an error in its place; the others of its page come.
func TestPagesWithElementsThatFail(t *testing.T) {
	in := &tallied{Range: 40, made: make([]atomic.Int64, 40), bad: map[int64]bool{3: true, 17: true, 39: true}}
	d := must(Shuffle(in, ShuffleOptions{Page: 8, Window: 16, Seed: 4}))
	datasettest.Check(t, d, 50)
	failed := 0
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), 50) {
		if e.Err != "" {
			failed++
		}
	}
	require.Equal(t, 3, failed)
}

func TestPagesThatCannotBe(t *testing.T) {
	for text, make := range map[string]func() (dataset.Definition, error){
		"page_size is -1": func() (dataset.Definition, error) {
			return Shuffle(datasettest.Range(3), ShuffleOptions{Page: -1, Window: 3})
		},
		"buffer_size must say": func() (dataset.Definition, error) { return Shuffle(datasettest.Range(3), ShuffleOptions{Page: 1}) },
		"finite data with random access": func() (dataset.Definition, error) {
			return Shuffle(datasettest.Stream{Definition: datasettest.Range(3)}, ShuffleOptions{Page: 1, Window: 3})
		},
		"page_size is for finite": func() (dataset.Definition, error) {
			return Shuffle(datasettest.Range(dataset.Infinite), ShuffleOptions{Page: 1, Window: 3})
		},
	} {
		_, err := make()
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), text)
		require.ErrorContains(t, err, text)
	}
}
