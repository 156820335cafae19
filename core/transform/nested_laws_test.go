package transform_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/transform"
)

// grown is a random dataset of numbers, of datasets in datasets; its name says what.
func grown(r *rand.Rand, depth int) (string, dataset.Definition) {
	name, d := "range", dataset.Definition(datasettest.Range(r.Int64N(8)+1))
	if r.IntN(2) == 0 {
		name, d = "stream", from{first: r.Int64N(5), n: r.Int64N(9) + 1, fails: []int64{0, 0, 3}[r.IntN(3)]}
	}
	for range r.IntN(2) + 1 {
		op := operations[r.IntN(len(operations))]
		inner := ""
		inner, d = op.on(r, d, depth)
		name = fmt.Sprintf("%s.%s(%s)", name, op.name, inner)
	}
	return name, d
}

// randomBuilder is a random function from a number to a dataset, and its name.
func randomBuilder(r *rand.Rand, depth int) (string, builder) {
	fails := r.Int64N(9)
	if depth == 0 || r.IntN(3) == 0 {
		factor := r.Int64N(3)
		return fmt.Sprintf("x -> %d x", factor), builder{scalars, func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
			if x == fails {
				return nil, errs.New(errs.InvalidArgument, "function", "it fails for %d", x)
			}
			return from{first: x, n: (factor * x) % 5}, nil
		}}
	}
	seed := r.Uint64()
	name, _ := grown(rand.New(rand.NewPCG(seed, 0)), depth-1)
	return name, builder{scalars, func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
		if x == fails {
			return nil, errs.New(errs.InvalidArgument, "function", "it fails for %d", x)
		}
		_, d := grown(rand.New(rand.NewPCG(seed, uint64(x)%3)), depth-1)
		return d, nil
	}}
}

type operation struct {
	name string
	on   func(r *rand.Rand, d dataset.Definition, depth int) (string, dataset.Definition)
}

// operations is filled by init, since these are made of one another.
var operations []operation

func init() {
	type def = dataset.Definition
	plainly := func(f func(r *rand.Rand, d def) def) func(*rand.Rand, def, int) (string, def) {
		return func(r *rand.Rand, d def, _ int) (string, def) { return "", f(r, d) }
	}
	operations = []operation{
		{"flat_map", func(r *rand.Rand, d def, depth int) (string, def) {
			name, f := randomBuilder(r, depth)
			return name, flat(d, f)
		}},
		{"interleave", func(r *rand.Rand, d def, depth int) (string, def) {
			name, f := randomBuilder(r, depth)
			cycle := r.Int64N(4) + 1
			return name, interleaved(d, f, cycle, r.Int64N(3)+1, r.Int64N(cycle+1))
		}},
		{"group_by_window", func(r *rand.Rand, d def, _ int) (string, def) {
			keys, size := r.Int64N(4)+1, r.Int64N(3)+1
			key := plain(func(x int64) int64 { return x % keys })
			return fmt.Sprint(keys, size), grouped(d, transform.GroupOptions{Key: key, Size: size, Height: 2, Reduce: builder{scalars,
				func(_ *dataset.Scope, key int64, in []dataset.Definition) (dataset.Definition, error) {
					return transform.Shuffle(in[0], transform.ShuffleOptions{Seed: 1, Window: 9})
				}}})
		}},
		{"bucket", func(r *rand.Rand, d def, _ int) (string, def) {
			b := mustBe(transform.BucketBySequenceLength(d, transform.BucketOptions{Length: plain(func(x int64) int64 { return x }),
				Boundaries: []int64{r.Int64N(4), 6}, BatchSizes: []int64{1, r.Int64N(3) + 1, 2}, DropRemainder: r.IntN(2) == 0}))
			return "", mustBe(transform.Unbatch(b))
		}},
		{"shuffle", plainly(func(r *rand.Rand, d def) def {
			return mustBe(transform.Shuffle(d, transform.ShuffleOptions{Seed: r.Uint64(), Window: r.Int64N(5) + 1}))
		})},
		{"repeat", plainly(func(r *rand.Rand, d def) def { return mustBe(transform.Repeat(d, r.Int64N(3))) })},
		{"take", plainly(func(r *rand.Rand, d def) def { return mustBe(transform.Take(d, r.Int64N(12))) })},
	}
}

// Datasets in datasets keep to the contracts, whatever they are made of.
func TestRandomNestsKeepToTheContracts(t *testing.T) {
	for seed := range uint64(60) {
		name, d := grown(rand.New(rand.NewPCG(seed, 7)), 2)
		t.Run(fmt.Sprint(seed, " ", name), func(t *testing.T) { datasettest.Check(t, d, 14) })
	}
}
