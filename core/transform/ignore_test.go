package transform

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

func TestIgnoreErrorsKeepsToTheContracts(t *testing.T) {
	checkOn(t, IgnoreErrors)
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return IgnoreErrors(must(Filter(in, odds(), 1))) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition {
		return batched(IgnoreErrors(Map(in, changing(), 1)), 1)
	})
}

func TestIgnoreErrors(t *testing.T) {
	for name, in := range map[string]dataset.Definition{"indexed": lame(13), "stream": stream(lame(13))} {
		d := IgnoreErrors(in)
		require.Equal(t, []int64{1, 2, 3, 4, 7, 8, 9, 10, 11}, firsts(t, d), name)
		s := datasettest.Scope(2)
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		_, tokens := datasettest.Take(t, it, 1, 5)
		again, err := d.Iterate(s, dataset.PassKey(0), datasettest.Reload(t, tokens[5]))
		require.NoError(t, err)
		require.EqualValues(t, 3, again.Token().Losses().Count)
		datasettest.Take(t, again, 100, 100)
		lost := again.Token().Losses()
		require.EqualValues(t, 4, lost.Count, name)
		require.Equal(t, []string{"element 0", "element 5", "element 6", "element 12"}, lost.Places, name)
		s.Close()
	}
}

// full is a sink that has no memory.
type full struct{ err error }

func (f full) Block(*spec.Element, int64) (block.Block, error) { return block.Block{}, f.err }

func TestErrorsThatAreNotOfElementsAreTold(t *testing.T) {
	for name, in := range map[string]dataset.Definition{"indexed": datasettest.Range(13), "stream": stream(mixed(13))} {
		s := datasettest.Scope(0)
		it, err := IgnoreErrors(in).Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		no := errs.New(errs.ResourceExhausted, "sink", "no memory")
		_, err = it.Next(1, full{no})
		require.ErrorIs(t, err, no, name)
		require.Nil(t, it.Token().Losses(), name)
		s.Close()
	}
	d := made{element(leaf('i', 8)), dataset.Infinite, func(int64) ([]value, error) { return nil, errors.New("always") }}
	for _, workers := range []int{0, 2} {
		s := datasettest.Scope(workers)
		it, err := IgnoreErrors(stream(d)).Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		s.Close()
		_, err = it.Next(1, &block.Buffer{})
		require.Error(t, err, "it must not spin where nothing can be made")
	}
}

func TestPlacesNameFiles(t *testing.T) {
	torn := &errs.Error{Kind: errs.DataLoss, Path: "a.tfrecord", Offset: 17}
	require.Equal(t, "a.tfrecord at byte 17", place(errs.Wrap(torn, errs.DataLoss, "map", ""), 3))
	require.Equal(t, "element 3", place(errors.New("x"), 3))
	require.Equal(t, "element 3", place(errs.New(errs.DataLoss, "map", "x"), 3))
}

func TestAssertCardinality(t *testing.T) {
	r, endless := datasettest.Range(5), datasettest.Range(-1)
	expecting := func(in dataset.Definition, n int64) dataset.Definition { return must(AssertCardinality(in, n)) }
	require.Equal(t, dataset.Definition(r), expecting(r, 5))
	require.Equal(t, dataset.Definition(endless), expecting(endless, -1))
	for name, c := range map[string]struct {
		d    dataset.Definition
		want []int64
		said string
	}{
		"right":            {expecting(stream(r), 5), upTo(0, 5, 1), ""},
		"too many":         {expecting(r, 3), []int64{0, 1, 2, -1}, "was to have 3 elements and has at least 4"},
		"too many, stream": {expecting(stream(r), 3), []int64{0, 1, 2, -1}, "was to have 3 elements and has at least 4"},
		"too few":          {expecting(r, 7), []int64{0, 1, 2, 3, 4, -1}, "was to have 7 elements and has 5"},
		"not endless":      {expecting(stream(r), -1), []int64{0, 1, 2, 3, 4, -1}, "infinitely many elements and has 5"},
		"none":             {expecting(datasettest.Range(0), 1), []int64{-1}, "was to have 1 elements and has 0"},
		"lame":             {expecting(lame(5), 3), []int64{-1, 1, 2, -1}, "at least 4"},
		"lame too":         {expecting(lame(5), 5), []int64{-1, 1, 2, 3, -1}, ""},
		"lame stream":      {expecting(stream(lame(5)), 5), []int64{-1, 1, 2, 3, -1}, ""},
	} {
		require.Equal(t, c.want, firsts(t, c.d), name)
		all := datasettest.ReadAll(t, c.d, dataset.PassKey(0), limit)
		require.Contains(t, all[len(all)-1].Err, c.said, name)
		if c.said == "" {
			datasettest.Check(t, c.d, limit)
		} else {
			datasettest.Check(t, stream(c.d), limit)
		}
	}
	_, err := AssertCardinality(r, -2)
	require.ErrorContains(t, err, "expected_cardinality is -2")
}

func TestUniqueKeepsToTheContracts(t *testing.T) {
	checkOn(t, Unique)
	r := made{element(leaf('i', 8, -1), leaf('O', 0, -1)), 40, func(i int64) ([]value, error) {
		if i%11 == 3 {
			return nil, errs.New(errs.DataLoss, "made", "%d is lame", i)
		}
		return []value{vector(upTo(0, i%3, 1)...), texts([]string{"", "a", "ab"}[:i%4%3]...)}, nil
	}}
	for _, in := range []dataset.Definition{r, stream(r), must(Repeat(r, 2))} {
		datasettest.Check(t, Unique(in), 100)
	}
}

func TestUnique(t *testing.T) {
	of := func(v ...[]value) []datasettest.Element {
		e := element(leaf('i', 8, -1), leaf('O', 0, -1))
		d := made{e, int64(len(v)), func(i int64) ([]value, error) { return v[i], nil }}
		return datasettest.ReadAll(t, Unique(d), dataset.PassKey(0), limit)
	}
	require.Len(t, of([]value{vector(1), texts("a")}, []value{vector(1), texts("a")}), 1)
	require.Len(t, of([]value{vector(1), texts("a")}, []value{vector(1), texts("b")}, []value{vector(2), texts("b")}), 3)
	require.Len(t, of([]value{vector(), texts("ab", "c")}, []value{vector(), texts("a", "bc")}), 2, "where strings end counts")
	require.Len(t, of([]value{vector(0), texts()}, []value{vector(), texts("\x00")}), 2)
	require.Equal(t, upTo(0, 5, 1), firsts(t, Unique(must(Repeat(datasettest.Range(5), 4)))))
	require.EqualValues(t, dataset.Unknown, Unique(datasettest.Range(5)).Cardinality())
}
