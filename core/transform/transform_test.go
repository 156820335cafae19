package transform

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

const limit = 40 // of what is read of infinite datasets

func must(d dataset.Definition, err error) dataset.Definition {
	if err != nil {
		panic(err)
	}
	return d
}

func batched(d dataset.Definition, n int64) dataset.Definition { return must(Batch(d, n, false)) }

func shuffledBy(d dataset.Definition, seed, height uint64) dataset.Definition {
	return must(Shuffle(d, ShuffleOptions{Seed: seed, Height: height}))
}

// values reads a pass and flattens it.
func values(t *testing.T, d dataset.Definition, pass int64) []int64 {
	t.Helper()
	out := []int64{}
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(pass), limit) {
		out = append(out, e.Int64s()...)
	}
	return out
}

func sizes(t *testing.T, d dataset.Definition) []int {
	t.Helper()
	var out []int
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), limit) {
		out = append(out, len(e.Int64s()))
	}
	return out
}

func upTo(from, to, step int64) []int64 {
	out := []int64{}
	for ; from < to; from += step {
		out = append(out, from)
	}
	return out
}

// Every operation, alone and on others, keeps to the contracts.
func TestContracts(t *testing.T) {
	r := datasettest.Range(10)
	endless := datasettest.Range(dataset.Infinite)
	for name, d := range map[string]dataset.Definition{
		"range":                           r,
		"nothing":                         datasettest.Range(0),
		"batch":                           batched(r, 4),
		"batch of one":                    batched(r, 1),
		"batch larger than all":           batched(r, 100),
		"batch without remainder":         must(Batch(r, 4, true)),
		"batch of nothing":                batched(datasettest.Range(0), 4),
		"batch without end":               batched(endless, 4),
		"batch of batches":                batched(must(Batch(r, 2, true)), 2),
		"batch of equal batches":          batched(batched(r, 5), 2),
		"batches one by one":              batched(batched(r, 4), 1),
		"in turn":                         InTurn(shuffledBy(batched(r, 4), 1, 1)),
		"in turn without end":             InTurn(endless),
		"shuffle":                         shuffledBy(r, 1, 1),
		"shuffle of one order":            must(Shuffle(r, ShuffleOptions{Seed: 1, SameEachPass: true})),
		"shuffle of nothing":              shuffledBy(datasettest.Range(0), 1, 1),
		"shuffle of unequal batches":      shuffledBy(batched(r, 4), 1, 2),
		"shuffle without end":             must(Shuffle(endless, ShuffleOptions{Seed: 1, Window: 7})),
		"shuffle twice":                   shuffledBy(shuffledBy(r, 1, 1), 1, 2),
		"repeat":                          must(Repeat(r, 3)),
		"repeat without end":              must(Repeat(r, -1)),
		"repeat what has no end":          must(Repeat(endless, 3)),
		"repeat never":                    must(Repeat(r, 0)),
		"repeat nothing":                  must(Repeat(datasettest.Range(0), -1)),
		"repeat one element":              must(Repeat(datasettest.Range(1), -1)),
		"repeat unequal batches":          must(Repeat(batched(r, 4), 3)),
		"repeat one unequal batch":        must(Repeat(batched(r, 12), -1)),
		"repeat shuffled":                 must(Repeat(shuffledBy(r, 1, 1), 3)),
		"repeat shuffled unequal batches": must(Repeat(shuffledBy(batched(r, 4), 1, 1), 3)),
		"batch over repetitions":          batched(must(Repeat(shuffledBy(r, 1, 1), 3)), 4),
		"endless batches":                 batched(must(Repeat(shuffledBy(datasettest.Range(3), 1, 1), -1)), 8),
		"take":                            must(Take(r, 4)),
		"take of what has no end":         must(Take(must(Repeat(r, -1)), 25)),
		"skip":                            must(Skip(batched(r, 4), 1)),
		"shard":                           must(Shard(r, 3, 1)),
		"shard of unequal batches":        must(Shard(batched(r, 4), 2, 0)),
		"all together":                    batched(must(Shard(must(Skip(must(Take(must(Repeat(shuffledBy(r, 3, 1), 5)), 41)), 3)), 3, 2)), 4),
	} {
		t.Run(name, func(t *testing.T) { datasettest.Check(t, d, limit) })
	}
}

// stream hides that a dataset is indexed.
func stream(d dataset.Definition) dataset.Definition { return datasettest.Stream{Definition: d} }

func streamShuffled(d dataset.Definition, window int64) dataset.Definition {
	return must(Shuffle(stream(d), ShuffleOptions{Seed: 3, Window: window}))
}

// What has no random access keeps to the contracts too.
func TestContractsOfStreams(t *testing.T) {
	r, endless := datasettest.Range(10), datasettest.Range(dataset.Infinite)
	failing := batched(batched(r, 4), 3) // its first element is an error
	for name, d := range map[string]dataset.Definition{
		"take":                      must(Take(stream(r), 4)),
		"take all":                  must(Take(stream(r), -1)),
		"take of what fails":        must(Take(stream(failing), 1)),
		"skip":                      must(Skip(stream(r), 4)),
		"skip more than there is":   must(Skip(stream(r), 40)),
		"skip all":                  must(Skip(stream(r), -1)),
		"skip of skip":              must(Skip(must(Skip(stream(r), 4)), 2)),
		"shard":                     must(Shard(stream(r), 3, 1)),
		"shard of unequal elements": must(Shard(stream(batched(r, 4)), 2, 0)),
		"shard of what fails":       must(Shard(stream(batched(batched(r, 3), 2)), 2, 1)),
		"repeat":                    must(Repeat(stream(r), 3)),
		"repeat without end":        must(Repeat(stream(r), -1)),
		"repeat what has no end":    must(Repeat(stream(endless), 3)),
		"repeat nothing":            stream(must(Repeat(stream(datasettest.Range(0)), -1))), // it could not know
		"repeat shuffled":           must(Repeat(streamShuffled(r, 4), 3)),
		"repeat what fails":         must(Repeat(stream(failing), 3)),
		"batch":                     batched(stream(r), 4),
		"batch of one":              batched(stream(r), 1),
		"batch larger than all":     batched(stream(r), 100),
		"batch without remainder":   must(Batch(stream(r), 4, true)),
		"batch of batches":          batched(must(Batch(stream(r), 2, true)), 2),
		"batch of unequal batches":  batched(stream(batched(r, 4)), 2),
		"batch of what fails":       batched(stream(batched(batched(r, 4), 3)), 2),
		"batch without end":         batched(stream(endless), 4),
		"batch over shards":         batched(must(Shard(stream(r), 2, 0)), 4),
		"batch over repetitions":    batched(must(Repeat(stream(r), 3)), 7),
		"shuffle":                   streamShuffled(r, 4),
		"shuffle all":               streamShuffled(r, 0),
		"shuffle in a large window": streamShuffled(r, 100),
		"shuffle without end":       streamShuffled(endless, 7),
		"shuffle unequal elements":  streamShuffled(batched(r, 4), 2),
		"shuffle what fails":        streamShuffled(batched(batched(r, 3), 2), 2),
		"shuffle nothing":           streamShuffled(datasettest.Range(0), 2),
		"shuffle of two windows":    streamShuffled(r, 6),
		"batch over shuffle":        batched(streamShuffled(datasettest.Range(30), 8), 4),
		"all together":              batched(must(Shard(must(Skip(must(Take(must(Repeat(streamShuffled(r, 3), 5)), 41)), 3)), 3, 2)), 4),
	} {
		t.Run(name, func(t *testing.T) { datasettest.Check(t, d, limit) })
	}
}

// Streams give what indexed datasets do, where the order is not by chance.
func TestStreamsAgreeWithRandomAccess(t *testing.T) {
	r := datasettest.Range(23)
	for name, f := range map[string]func(d dataset.Definition) dataset.Definition{
		"take":                        func(d dataset.Definition) dataset.Definition { return must(Take(d, 7)) },
		"skip":                        func(d dataset.Definition) dataset.Definition { return must(Skip(d, 7)) },
		"shard":                       func(d dataset.Definition) dataset.Definition { return must(Shard(d, 4, 2)) },
		"repeat":                      func(d dataset.Definition) dataset.Definition { return must(Repeat(d, 2)) },
		"batch":                       func(d dataset.Definition) dataset.Definition { return batched(d, 4) },
		"batches of unequal elements": func(d dataset.Definition) dataset.Definition { return batched(batched(d, 4), 4) },
	} {
		want := datasettest.ReadAll(t, f(r), dataset.PassKey(0), 100)
		require.Equal(t, want, datasettest.ReadAll(t, f(stream(r)), dataset.PassKey(0), 100), name)
	}
}

// A streaming shuffle keeps the multiset, moves elements within windows only, and is
// uniform where the window holds everything.
func TestStreamShuffle(t *testing.T) {
	n := int64(200)
	first := values(t, must(Take(must(Repeat(streamShuffled(datasettest.Range(n), 8), 1)), -1)), 0)
	require.Len(t, first, limit)
	all := func(pass int64) []int64 {
		out := []int64{}
		for _, e := range datasettest.ReadAll(t, streamShuffled(datasettest.Range(n), 8), dataset.PassKey(pass), n) {
			out = append(out, e.Int64s()...)
		}
		return out
	}
	a, b := all(0), all(1)
	require.NotEqual(t, a, b)
	for i, x := range a {
		require.Less(t, x, int64(i)+16, "element %d came %d places early", x, x-int64(i))
	}
	slices.Sort(a)
	slices.Sort(b)
	require.Equal(t, upTo(0, n, 1), a)
	require.Equal(t, a, b)

	counts := map[string]int{}
	for pass := range int64(2400) {
		counts[fmt.Sprint(values(t, streamShuffled(datasettest.Range(4), 10), pass))]++
	}
	require.Len(t, counts, 24)
	chi := 0.0
	for _, c := range counts {
		chi += math.Pow(float64(c)-100, 2) / 100
	}
	require.Less(t, chi, 49.7, "of 23 degrees of freedom: 1 in 1000")
}

func TestBatch(t *testing.T) {
	r := datasettest.Range(10)
	require.Equal(t, []int{4, 4, 2}, sizes(t, batched(r, 4)))
	require.Equal(t, upTo(0, 10, 1), values(t, batched(r, 4), 0))
	require.Equal(t, []int{4, 4}, sizes(t, must(Batch(r, 4, true))))
	require.Equal(t, "int64[-1]", batched(r, 4).Spec().String())
	require.Equal(t, "int64[4]", must(Batch(r, 4, true)).Spec().String())
	require.Equal(t, []int{8, 2}, sizes(t, batched(must(Batch(r, 2, true)), 4)))
	require.EqualValues(t, dataset.Infinite, batched(must(Repeat(r, -1)), 4).Cardinality())
}

func TestBatchOfUnequalElementsIsRefusedAtItsTurn(t *testing.T) {
	// Batch 1 has one element, of 2: it is alone and so can be made.
	got := datasettest.ReadAll(t, batched(batched(datasettest.Range(10), 4), 2), dataset.PassKey(0), limit)
	require.Equal(t, []string{"[2 4]", "[1 2]"}, []string{got[0].Shapes, got[1].Shapes})
	got = datasettest.ReadAll(t, batched(batched(datasettest.Range(10), 4), 3), dataset.PassKey(0), limit)
	require.Len(t, got, 1)
	require.Contains(t, got[0].Err, "one has [4] and one has [2]")
}

func TestRepeat(t *testing.T) {
	r := datasettest.Range(3)
	require.Equal(t, []int64{0, 1, 2, 0, 1, 2}, values(t, must(Repeat(r, 2)), 0))
	for name, c := range map[string]struct {
		in, count, want int64
	}{"twice": {3, 2, 6}, "never": {3, 0, 0}, "nothing": {0, -1, 0}, "endless": {3, -1, -1}, "of the endless": {-1, 2, -1}, "endless never": {-1, 0, 0}} {
		require.Equal(t, c.want, must(Repeat(datasettest.Range(c.in), c.count)).Cardinality(), name)
	}
}

func TestTakeSkipShard(t *testing.T) {
	r := datasettest.Range(10)
	for name, c := range map[string]struct {
		got  dataset.Definition
		want []int64
	}{
		"take":            {must(Take(r, 3)), upTo(0, 3, 1)},
		"take all":        {must(Take(r, -1)), upTo(0, 10, 1)},
		"take too many":   {must(Take(r, 99)), upTo(0, 10, 1)},
		"take none":       {must(Take(r, 0)), upTo(0, 0, 1)},
		"skip":            {must(Skip(r, 3)), upTo(3, 10, 1)},
		"skip all":        {must(Skip(r, -1)), upTo(0, 0, 1)},
		"skip too many":   {must(Skip(r, 99)), upTo(0, 0, 1)},
		"shard":           {must(Shard(r, 3, 1)), []int64{1, 4, 7}},
		"shard, first":    {must(Shard(r, 3, 0)), []int64{0, 3, 6, 9}},
		"shard past all":  {must(Shard(datasettest.Range(2), 5, 4)), upTo(0, 0, 1)},
		"skip of endless": {must(Take(must(Skip(datasettest.Range(-1), 5)), 2)), []int64{5, 6}},
	} {
		require.Equal(t, c.want, values(t, c.got, 0), name)
		require.EqualValues(t, len(c.want), c.got.Cardinality(), name)
	}
}

func TestShuffleIsAPermutationThatPassesChange(t *testing.T) {
	r := datasettest.Range(30)
	d := shuffledBy(r, 1, 1)
	first, second := values(t, d, 0), values(t, d, 1)
	for _, v := range [][]int64{first, second} {
		require.Equal(t, upTo(0, 30, 1), slices.Sorted(slices.Values(v)))
		require.NotEqual(t, upTo(0, 30, 1), v)
	}
	require.NotEqual(t, first, second)
	require.NotEqual(t, first, values(t, shuffledBy(r, 2, 1), 0), "another seed, the same order")
	require.NotEqual(t, first, values(t, shuffledBy(r, 1, 2), 0), "another height, the same order")
	require.NotEqual(t, values(t, shuffledBy(d, 1, 2), 0), first)
	require.Equal(t, first, values(t, batched(d, 7), 0), "a batch on top changed the order")

	same := must(Shuffle(r, ShuffleOptions{Seed: 1, Height: 1, SameEachPass: true}))
	require.Equal(t, values(t, same, 0), values(t, same, 1))
	require.Equal(t, upTo(0, 30, 1), values(t, must(Shuffle(r, ShuffleOptions{Window: 1})), 0))
	require.Equal(t, first, values(t, must(Shuffle(r, ShuffleOptions{Seed: 1, Height: 1, Window: 5})), 0), "a buffer limits what needs none")
}

func TestEachRepetitionIsShuffledAnew(t *testing.T) {
	r := datasettest.Range(8)
	v := values(t, must(Repeat(shuffledBy(r, 1, 1), 3)), 0)
	seen := map[string]bool{}
	for k := range 3 {
		part := v[8*k : 8*k+8]
		seen[fmt.Sprint(part)] = true
		require.Equal(t, upTo(0, 8, 1), slices.Sorted(slices.Values(part)))
	}
	require.Len(t, seen, 3)
	same := must(Shuffle(r, ShuffleOptions{Seed: 1, SameEachPass: true}))
	v = values(t, must(Repeat(same, 2)), 0)
	require.Equal(t, v[:8], v[8:])
	require.NotEqual(t, values(t, must(Repeat(shuffledBy(r, 1, 1), 3)), 0), values(t, must(Repeat(shuffledBy(r, 1, 1), 3)), 1))
}

func TestShuffleOfTheEndlessIsByWindows(t *testing.T) {
	v := values(t, must(Shuffle(datasettest.Range(-1), ShuffleOptions{Seed: 1, Window: 10})), 0)
	require.NotEqual(t, v[:10], upTo(0, 10, 1))
	for w := range int64(4) {
		require.Equal(t, upTo(10*w, 10*w+10, 1), slices.Sorted(slices.Values(v[10*w:10*w+10])))
	}
	require.NotEqual(t, v[0], v[10]-10, "all windows have one order")
}

func TestNonsenseIsRefused(t *testing.T) {
	r, endless := datasettest.Range(10), datasettest.Range(-1)
	for name, f := range map[string]func() (dataset.Definition, error){
		"batch_size is 0":    func() (dataset.Definition, error) { return Batch(r, 0, false) },
		"are too large":      func() (dataset.Definition, error) { return Batch(endless, 1<<60, false) },
		"count is -2":        func() (dataset.Definition, error) { return Repeat(r, -2) },
		"can be counted":     func() (dataset.Definition, error) { return Repeat(r, math.MaxInt64/2) },
		"count is -3":        func() (dataset.Definition, error) { return Take(r, -3) },
		"count is -4":        func() (dataset.Definition, error) { return Skip(r, -4) },
		"index 3 of":         func() (dataset.Definition, error) { return Shard(r, 3, 3) },
		"index -1 of":        func() (dataset.Definition, error) { return Shard(r, 3, -1) },
		"num_shards 0":       func() (dataset.Definition, error) { return Shard(r, 0, 0) },
		"buffer_size is -1":  func() (dataset.Definition, error) { return Shuffle(r, ShuffleOptions{Window: -1}) },
		"put shuffle before": func() (dataset.Definition, error) { return Shuffle(endless, ShuffleOptions{}) },
	} {
		_, err := f()
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
		require.ErrorContains(t, err, name)
	}
}
