package transform

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
)

// list is the dataset of numbers.
func list(x ...int64) dataset.Definition {
	return made{element(leaf('i', 8)), int64(len(x)), func(i int64) ([]value, error) { return []value{number(x[i])}, nil }}
}

// floats is the dataset of vectors of float64.
func floats(n int64, f func(i int64) []float64) dataset.Definition {
	return made{element(leaf('f', 8, -1)), n, func(i int64) ([]value, error) {
		v := vector()
		for _, x := range f(i) {
			v.ints = append(v.ints, int64(math.Float64bits(x)))
		}
		v.shape[0] = int64(len(v.ints))
		return []value{v}, nil
	}}
}

func TestChooseFromDatasetsKeepsToTheContracts(t *testing.T) {
	choices := list(0, 1, 2, 0, 0, 1, 2, 2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 1, -1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 2)
	for _, stop := range []bool{false, true} {
		checkOnSome(t, func(in dataset.Definition) dataset.Definition {
			return must(ChooseFromDatasets(choices, stop, in, in, stream(in)))
		})
	}
	torn := made{element(leaf('i', 8)), 30, func(i int64) ([]value, error) {
		if i%7 == 0 {
			return nil, errs.New(errs.DataLoss, "made", "choice %d", i)
		}
		return []value{number(i % 2)}, nil
	}}
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return must(ChooseFromDatasets(stream(torn), false, in, in))
	})
}

func TestChooseFromDatasets(t *testing.T) {
	a, b := datasettest.Range(3), must(Skip(datasettest.Range(15), 10))
	choices := list(0, 1, 0, 1, 1, 0, 0, 1, 1, 1)
	require.Equal(t, []int64{0, 10, 1, 11, 12, 2}, firsts(t, must(ChooseFromDatasets(choices, true, a, b))))
	require.Equal(t, []int64{0, 10, 1, 11, 12, 2, 13, 14}, firsts(t, must(ChooseFromDatasets(choices, false, a, b))))
	require.Equal(t, []int64{0, 10, -1, 11}, firsts(t, must(ChooseFromDatasets(list(0, 1, 2, 1), true, a, b))))
	require.Equal(t, []int64{0, -1, 11}, firsts(t, must(ChooseFromDatasets(list(0, -1, 1), true, a, must(Skip(b, 1))))))
	endless := must(Repeat(a, -1))
	require.EqualValues(t, -1, must(ChooseFromDatasets(must(Repeat(choices, -1)), true, endless, endless)).Cardinality())
	require.EqualValues(t, -1, sampled(SampleOptions{}, endless, a).Cardinality())
	require.EqualValues(t, -2, sampled(SampleOptions{StopOnEmpty: true}, endless, a).Cardinality())
	require.EqualValues(t, -2, must(ChooseFromDatasets(choices, true, endless, endless)).Cardinality())
	require.EqualValues(t, -2, must(ChooseFromDatasets(choices, true, a, b)).Cardinality())

	_, err := ChooseFromDatasets(choices, true)
	require.ErrorContains(t, err, "datasets is empty")
	_, err = ChooseFromDatasets(choices, true, a, mixed(3))
	require.ErrorContains(t, err, "different kinds")
	_, err = ChooseFromDatasets(batched(choices, 2), true, a, b)
	require.ErrorContains(t, err, "must have int64 scalars; it has int64[-1]")
}

func sampled(o SampleOptions, in ...dataset.Definition) dataset.Definition {
	return must(SampleFromDatasets(o, in...))
}

func TestSampleFromDatasetsKeepsToTheContracts(t *testing.T) {
	wild := floats(50, func(i int64) []float64 {
		return [][]float64{{1, 2}, {0, 1}, {5, 0}, {0, 0}, {1, -1}, {1}, {math.NaN(), 1}}[i%7]
	})
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return sampled(SampleOptions{Seed: 1, Weights: []float64{1, 2, 0}}, in, stream(in), in)
	})
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return sampled(SampleOptions{Seed: 1, StopOnEmpty: true, SameEachPass: true}, in, in, stream(in))
	})
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return sampled(SampleOptions{Seed: 1, Varying: stream(wild)}, in, in)
	})
}

func TestSampleFromDatasets(t *testing.T) {
	zeros, ones := must(Repeat(list(0), 3000)), must(Repeat(list(1), 9000))
	mean := func(o SampleOptions) float64 {
		sum, n := 0.0, 0
		for _, e := range datasettest.ReadAll(t, sampled(o, zeros, ones), dataset.PassKey(0), 4000) {
			sum += float64(e.Int64s()[0])
			n++
		}
		require.Equal(t, 4000, n)
		return sum / float64(n)
	}
	require.InDelta(t, 0.75, mean(SampleOptions{Seed: 1, Weights: []float64{1, 3}}), 0.035)
	require.InDelta(t, 0.5, mean(SampleOptions{Seed: 1}), 0.04)
	require.InDelta(t, 0.9, mean(SampleOptions{Seed: 1, Varying: floats(5000, func(i int64) []float64 { return []float64{0.2, 1.8} })}), 0.025)

	a, b := datasettest.Range(20), must(Skip(datasettest.Range(40), 20))
	read := func(o SampleOptions, pass int64) []int64 { return values(t, sampled(o, a, b), pass) }
	require.ElementsMatch(t, upTo(0, 40, 1), read(SampleOptions{Seed: 1}, 0))
	require.NotEqual(t, read(SampleOptions{Seed: 1}, 0), read(SampleOptions{Seed: 1}, 1))
	require.NotEqual(t, read(SampleOptions{Seed: 1}, 0), read(SampleOptions{Seed: 2}, 0))
	require.NotEqual(t, read(SampleOptions{Seed: 1}, 0), read(SampleOptions{Seed: 1, Height: 1}, 0))
	require.Equal(t, read(SampleOptions{Seed: 1, SameEachPass: true}, 0), read(SampleOptions{Seed: 1, SameEachPass: true}, 1))
	odd := floats(3, func(i int64) []float64 { return [][]float64{{1, 0}, {0, 0}, {0, 1}}[i] })
	require.Equal(t, []int64{0, -1, 20}, firsts(t, sampled(SampleOptions{Varying: odd}, a, b)))
	stopped := read(SampleOptions{Seed: 1, StopOnEmpty: true}, 0)
	require.Less(t, len(stopped), 40)
	require.Equal(t, stopped, read(SampleOptions{Seed: 1}, 0)[:len(stopped)])

	require.Equal(t, dataset.Definition(a), sampled(SampleOptions{Weights: []float64{1, 0}}, a, b))
	for want, o := range map[string]SampleOptions{
		"1 weights for 2 datasets":   {Weights: []float64{1}},
		"their sum must be finite":   {Weights: []float64{1, math.Inf(1)}},
		"all weights are 0":          {Weights: []float64{0, 0}},
		"vectors of 2 float32 or fl": {Varying: a},
	} {
		_, err := SampleFromDatasets(o, a, b)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
	_, err := SampleFromDatasets(SampleOptions{})
	require.ErrorContains(t, err, "datasets is empty")
}

// classOf gives x modulo ten, but 0 for 3 and above.
func classOf() byRow {
	return byRow{element(leaf('i', 8)), func(row block.Block, _ int64, _ rng.Key) ([]value, error) {
		x := at(row, 0, 0) % 10
		if x > 2 {
			x = 0
		}
		return []value{number(x)}, nil
	}}
}

func TestRejectionResampleKeepsToTheContracts(t *testing.T) {
	target := []float64{0.3, 0.3, 0.4}
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return must(RejectionResample(in, classOf(), ResampleOptions{Target: target, Seed: 1}))
	})
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return must(RejectionResample(in, classOf(), ResampleOptions{Target: target[:2], Initial: []float64{0.5, 0.5}, Seed: 1}))
	})
}

func TestRejectionResample(t *testing.T) {
	in := datasettest.Range(20_000)
	for name, o := range map[string]ResampleOptions{
		"estimated": {Target: []float64{0.2, 0.5, 0.3}, Seed: 1},
		"known":     {Target: []float64{0.2, 0.5, 0.3}, Initial: []float64{0.8, 0.1, 0.1}, Seed: 1},
		"one is 0":  {Target: []float64{0, 0.5, 0.5}, Initial: []float64{0.8, 0.1, 0.1}, Seed: 1},
		"unchanged": {Target: []float64{0.8, 0.1, 0.1}, Initial: []float64{0.8, 0.1, 0.1}, Seed: 1},
	} {
		counts := make([]float64, 3)
		all := datasettest.ReadAll(t, must(RejectionResample(in, classOf(), o)), dataset.PassKey(0), 3000)
		if name == "estimated" {
			all = all[500:] // while the estimate settles
		}
		for _, e := range all {
			class := int64(binary.LittleEndian.Uint64(e.Data[0]))
			x := int64(binary.LittleEndian.Uint64(e.Data[1])) % 10
			require.True(t, class == x || class == 0 && x > 2)
			counts[class] += 1 / float64(len(all))
		}
		for c, p := range o.Target {
			require.InDelta(t, p, counts[c], 0.04, "%s: class %d", name, c)
		}
	}
	d := must(RejectionResample(datasettest.Range(5), classOf(), ResampleOptions{Target: []float64{1}, Initial: []float64{0.5}, Seed: 1}))
	require.Equal(t, "(int64[], int64[])", d.Spec().String())
	for want, o := range map[string]ResampleOptions{
		"target_dist has 0 classes":    {},
		"has 2 classes and initial_di": {Target: []float64{1, 0}, Initial: []float64{1}},
		"the probability 1.5":          {Target: []float64{1.5, 0}},
		"the probability NaN":          {Target: []float64{1, 0}, Initial: []float64{1, math.NaN()}},
		"all classes are to have":      {Target: []float64{0, 0}},
		"have the probability 0":       {Target: []float64{1, 0}, Initial: []float64{0, 0}},
	} {
		_, err := RejectionResample(in, classOf(), o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
	for name, o := range map[string]ResampleOptions{
		"estimated": {Target: []float64{0.5, 0.5}},
		"unchanged": {Target: []float64{0.5, 0.5}, Initial: []float64{0.5, 0.5}},
		"known":     {Target: []float64{0.5, 0.5}, Initial: []float64{0.9, 0.1}},
	} {
		failed := false
		for _, e := range datasettest.ReadAll(t, must(RejectionResample(datasettest.Range(100), classOf(), o)), dataset.PassKey(0), 300) {
			if e.Err != "" {
				failed = true
				require.Contains(t, e.Err, "class_func returned 2; there are 2 classes", name)
				continue
			}
			require.Less(t, binary.LittleEndian.Uint64(e.Data[0]), uint64(2), name)
		}
		require.True(t, failed, name)
	}
	_, err := RejectionResample(in, odds(), ResampleOptions{Target: []float64{1}})
	require.ErrorContains(t, err, "class_func must return an int32 or int64 scalar")
}
