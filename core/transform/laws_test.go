package transform

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
)

// step puts an operation on a dataset whose first component counts; so does that of
// the result.
type step struct {
	name string
	on   func(r *rand.Rand, d dataset.Definition) dataset.Definition
}

// plus adds what was drawn to the first component and keeps only that. It fails at
// numbers that end in 7.
func plus() byRow {
	return byRow{element(leaf('i', 8)), func(row block.Block, n int64, key rng.Key) ([]value, error) {
		x := at(row, 0, 0)
		if x%10 == 7 {
			return nil, errs.New(errs.InvalidArgument, "plus", "%d", x)
		}
		return []value{number(x + int64(key.Uint64(uint64(n))%3))}, nil
	}}
}

func notThird() byRow { return isTrue(func(x int64) (bool, error) { return x%3 != 2, nil }) }

// first keeps the first component of elements that have more.
func first(d dataset.Definition) dataset.Definition {
	if len(d.Spec().Components) == 1 {
		return d
	}
	return Map(d, &selecting{element(leaf('i', 8)), []int{0}}, 0)
}

func steps() []step {
	type rd = rand.Rand
	type def = dataset.Definition
	return []step{
		{"map", func(_ *rd, d def) def { return Map(d, plus(), 1) }},
		{"filter", func(_ *rd, d def) def { return must(Filter(d, notThird(), 1)) }},
		{"take_while", func(_ *rd, d def) def {
			return must(TakeWhile(d, isTrue(func(x int64) (bool, error) { return x < 40, nil }), 1))
		}},
		{"enumerate", func(r *rd, d def) def { return Enumerate(d, r.Int64N(5)) }},
		{"zip", func(_ *rd, d def) def { return zipped(d, d) }},
		{"concatenate", func(_ *rd, d def) def { return must(Concatenate(d, d)) }},
		{"batch", func(r *rd, d def) def { return must(Unbatch(must(Batch(first(d), r.Int64N(4)+1, false)))) }},
		{"full batch", func(r *rd, d def) def { return must(Unbatch(must(Batch(first(d), r.Int64N(4)+1, true)))) }},
		{"rebatch", func(r *rd, d def) def {
			return must(Unbatch(must(Rebatch(must(Batch(first(d), 2, false)), []int64{1, r.Int64N(4) + 1}, false))))
		}},
		{"full rebatch", func(r *rd, d def) def {
			return must(Unbatch(must(Rebatch(must(Batch(first(d), 2, true)), []int64{1, r.Int64N(4) + 1}, r.IntN(2) == 0))))
		}},
		{"padded_batch", func(r *rd, d def) def {
			return must(Unbatch(must(PaddedBatch(first(d), r.Int64N(4)+1, Padding{}, false))))
		}},
		{"window", func(r *rd, d def) def {
			w := windowed(first(d), WindowOptions{r.Int64N(3) + 1, r.Int64N(3) + 1, r.Int64N(2) + 1, r.IntN(2) == 0})
			return must(Unbatch(must(FlatMap(w, flattened{element(leaf('i', 8, -1))}, 3))))
		}},
		{"unique", func(_ *rd, d def) def { return Unique(d) }},
		{"ignore_errors", func(_ *rd, d def) def { return IgnoreErrors(d) }},
		{"cache", func(_ *rd, d def) def { return Cache(d) }},
		{"prefetch", func(r *rd, d def) def { return must(Prefetch(d, r.Int64N(5)-1, 1<<20)) }},
		{"scan", func(_ *rd, d def) def {
			return must(Scan(first(d), state(element(leaf('i', 8)), number(1)), counting(), 1))
		}},
		{"sample", func(r *rd, d def) def {
			return sampled(SampleOptions{Seed: r.Uint64(), StopOnEmpty: r.IntN(2) == 0}, d, d)
		}},
		{"choose", func(r *rd, d def) def {
			return must(ChooseFromDatasets(must(Repeat(list(0, 1, 1, 0, 0), r.Int64N(5))), r.IntN(2) == 0, d, d))
		}},
		{"shuffle", func(r *rd, d def) def {
			o := ShuffleOptions{Seed: r.Uint64(), Window: r.Int64N(5) + 1}
			if _, indexed := d.(dataset.Indexed); indexed && d.Cardinality() >= 0 {
				o.Page = r.Int64N(4)
			}
			return must(Shuffle(d, o))
		}},
		{"take", func(r *rd, d def) def { return must(Take(d, r.Int64N(20))) }},
		{"skip", func(r *rd, d def) def { return must(Skip(d, r.Int64N(5))) }},
		{"shard", func(r *rd, d def) def { return must(Shard(d, 2, r.Int64N(2))) }},
		{"repeat", func(r *rd, d def) def { return must(Repeat(d, r.Int64N(3))) }},
	}
}

// graph puts a few operations on a dataset; its name says which.
func graph(r *rand.Rand, in dataset.Definition) (string, dataset.Definition) {
	all := steps()
	var names []string
	for range r.IntN(4) + 1 {
		s := all[r.IntN(len(all))]
		in = s.on(r, in)
		names = append(names, s.name)
	}
	return strings.Join(names, ", "), in
}

// Whatever is put on whatever keeps to the contracts.
func TestRandomGraphsKeepToTheContracts(t *testing.T) {
	sources := []dataset.Definition{datasettest.Range(11), stream(datasettest.Range(11)), mixed(9), stream(lame(9)), lame(9)}
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		name, d := graph(r, sources[r.IntN(len(sources))])
		t.Run(fmt.Sprint(seed, " ", name), func(t *testing.T) { datasettest.Check(t, d, 16) })
	}
}

// A dataset that is indexed has the elements that it has as a stream, and fails at
// the same places. Where several elements of a batch fail, another one may be named.
func TestRandomGraphsAreTheSameOnStreams(t *testing.T) {
	for seed := range uint64(200) {
		var both [2]dataset.Definition
		name := ""
		for i, in := range []dataset.Definition{lame(12), stream(lame(12))} {
			name, both[i] = graph(rand.New(rand.NewPCG(seed, 2)), in)
		}
		if strings.Contains(name, "shuffle") { // a whole dataset is shuffled otherwise than a stream
			continue
		}
		if strings.Contains(name, "full") { // a stream is read to its end, which may fail; an indexed one as far as batches need
			continue
		}
		skips := strings.Contains(name, "skip") || strings.Contains(name, "shard") || strings.Contains(name, "window")
		for pass := range int64(2) {
			var read [2][]datasettest.Element
			for i, d := range both {
				read[i] = datasettest.ReadAll(t, d, dataset.PassKey(pass), 30)
				for k := range read[i] {
					if read[i][k].Err != "" {
						read[i][k].Err = "error"
					}
				}
				// Where a stream fails and ends, that is told also by what went past it.
				for n := len(read[i]); skips && n > 0 && read[i][n-1].Err != ""; n-- {
					read[i] = read[i][:n-1]
				}
			}
			require.Equal(t, read[0], read[1], "%d %s", seed, name)
		}
	}
}

func TestShuffleOfStreamsThatFail(t *testing.T) {
	for _, window := range []int64{2, 4, 30} {
		checkOnSome(t, func(in dataset.Definition) dataset.Definition {
			return must(Shuffle(stream(in), ShuffleOptions{Seed: 3, Window: window}))
		})
	}
}

// An element that fails fails its batch, and no other.
func TestBatchesThatFailLeaveOthersAsTheyAre(t *testing.T) {
	whole := func(d dataset.Definition) []int64 {
		out := []int64{}
		for _, e := range datasettest.ReadAll(t, first(d), dataset.PassKey(0), limit) {
			if e.Err != "" {
				out = append(out, -1)
				continue
			}
			out = append(out, e.Int64s()...)
		}
		return out
	}
	for name, in := range map[string]dataset.Definition{"indexed": lame(13), "stream": stream(lame(13))} {
		in = first(in)
		all := []int64{-1, -1, -1, 9, 10, 11, -1}
		full := all
		if name == "indexed" { // what is in no batch is not looked at
			full = all[:6]
		}
		require.Equal(t, all, whole(must(Batch(in, 3, false))), name)
		require.Equal(t, full, whole(must(Batch(in, 3, true))), name)
		require.Equal(t, all, whole(must(PaddedBatch(in, 3, Padding{}, false))), name)
		require.Equal(t, full, whole(must(PaddedBatch(in, 3, Padding{}, true))), name)
		require.Equal(t, []int64{3, 4, -1, -1, 7, 8, 9, 10, 11, -1}, whole(must(Skip(in, 3))), name)
	}
}
