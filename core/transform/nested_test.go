package transform_test

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/transform"
)

const most = 20 // of what is read of one dataset

func mustBe(d dataset.Definition, err error) dataset.Definition {
	if err != nil {
		panic(err)
	}
	return d
}

var scalars = datasettest.Range(0).Spec()

// builder is a dataset.Builder of a function of the element's number.
type builder struct {
	spec  *spec.Element
	build func(s *dataset.Scope, x int64, inputs []dataset.Definition) (dataset.Definition, error)
}

func (b builder) Spec() *spec.Element { return b.spec }

func (b builder) Build(s *dataset.Scope, in block.Block, inputs ...dataset.Definition) (dataset.Definition, error) {
	return b.build(s, int64(binary.LittleEndian.Uint64(in.Columns[0].Data)), inputs)
}

func of(build func(x int64) dataset.Definition) builder {
	return builder{scalars, func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
		return build(x), nil
	}}
}

// from is the numbers first, first+1, ..., n of them; fails says at which there is an
// error. It is a stream.
type from struct {
	first, n, fails int64
	texts           bool // and so many letters
	shapes          bool // in arrays of as many
}

func (f from) Spec() *spec.Element {
	switch {
	case f.texts:
		return &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
			Components: []spec.Component{scalars.Components[0], {DType: spec.Text, Shape: []int64{2}}}}
	case f.shapes:
		return &spec.Element{Components: []spec.Component{{DType: scalars.Components[0].DType, Shape: []int64{-1}}}}
	}
	return scalars
}
func (f from) Cardinality() int64 { return dataset.Unknown }

func (f from) Iterate(_ *dataset.Scope, _ rng.Key, t *dataset.Token) (dataset.Iterator, error) {
	at, err := t.Numbers("from", 1)
	if err != nil {
		return nil, err
	}
	return &fromIterator{f, at[0]}, nil
}

type fromIterator struct {
	from
	at int64
}

func (it *fromIterator) Token() *dataset.Token { return dataset.At(it.at) }

func (it *fromIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if it.n >= 0 && it.at >= it.n {
		if it.fails > 0 {
			_, _ = dst.Block(it.Spec(), 1) // which is void
		}
		return 0, io.EOF
	}
	x := it.first + it.at
	if it.fails > 0 && it.at%it.fails == it.fails-1 {
		it.at++
		_, _ = dst.Block(scalars, 1)
		return 0, errs.New(errs.DataLoss, "from", "number %d", x)
	}
	shapes := it.Spec()
	if it.shapes {
		shapes = &spec.Element{Components: []spec.Component{{DType: scalars.Components[0].DType, Shape: []int64{x % 3}}}}
	}
	n := int64(1)
	for !it.shapes && n < limit && (it.n < 0 || it.at+n < it.n) && (it.fails == 0 || (it.at+n)%it.fails != it.fails-1) {
		n++
	}
	b, err := dst.Block(shapes, n)
	if err != nil {
		return 0, err
	}
	for i := range n {
		row := b.Slice(i, i+1).Columns[0].Data
		for k := 0; k < len(row); k += 8 {
			binary.LittleEndian.PutUint64(row[k:], uint64(x+i))
		}
		if it.texts {
			b.Columns[1].Text.Append([]byte(fmt.Sprintf("%0*d", int(x+i)%5, x+i)))
			b.Columns[1].Text.Append([]byte{})
		}
	}
	it.at += n
	return n, nil
}

// ints reads up to limit numbers; an error is a negative number.
func ints(t *testing.T, d dataset.Definition) []int64 {
	t.Helper()
	out := []int64{}
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), 100) {
		if e.Err != "" {
			out = append(out, -1)
			continue
		}
		out = append(out, e.Int64s()...)
	}
	return out
}

func flat(in dataset.Definition, f dataset.Builder) dataset.Definition {
	return mustBe(transform.FlatMap(in, f, 1))
}

func interleaved(in dataset.Definition, f dataset.Builder, cycle, block, parallel int64) dataset.Definition {
	return mustBe(transform.Interleave(in, f, transform.InterleaveOptions{CycleLength: cycle, BlockLength: block, Parallel: parallel, Height: 1}))
}

// inners are functions from an element to a dataset, of every kind.
func inners() map[string]builder {
	texts := builder{from{texts: true}.Spec(), func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
		return from{first: 10 * x, n: x % 4, texts: true}, nil
	}}
	shapes := builder{from{shapes: true}.Spec(), func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
		return from{first: 10 * x, n: x % 4, shapes: true}, nil
	}}
	return map[string]builder{
		"ranges":           of(func(x int64) dataset.Definition { return datasettest.Range(x) }),
		"streams":          of(func(x int64) dataset.Definition { return from{first: 100 * x, n: x} }),
		"mostly empty":     of(func(x int64) dataset.Definition { return from{first: 100 * x, n: max(0, x-6)} }),
		"all empty":        of(func(int64) dataset.Definition { return datasettest.Range(0) }),
		"endless":          of(func(int64) dataset.Definition { return datasettest.Range(-1) }),
		"failing elements": of(func(x int64) dataset.Definition { return from{first: 100 * x, n: 2 + x%5, fails: 3} }),
		"all failing":      of(func(x int64) dataset.Definition { return from{first: 100 * x, n: x, fails: 1} }),
		"shuffled": of(func(x int64) dataset.Definition {
			return mustBe(transform.Shuffle(datasettest.Range(x), transform.ShuffleOptions{Seed: 1}))
		}),
		"batches": {mustBe(transform.Batch(from{}, 2, false)).Spec(), func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
			return transform.Batch(from{n: x}, 2, false)
		}},
		"failing function": {scalars, func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
			if x%3 == 1 {
				return nil, errs.New(errs.InvalidArgument, "function", "it fails for %d", x)
			}
			return from{first: 100 * x, n: x}, nil
		}},
		"texts":  texts,
		"shapes": shapes,
		"nested": of(func(x int64) dataset.Definition {
			return flat(datasettest.Range(x%4), of(func(y int64) dataset.Definition { return from{first: 100*x + 10*y, n: y, fails: 2} }))
		}),
	}
}

func outers() map[string]dataset.Definition {
	return map[string]dataset.Definition{
		"indexed": datasettest.Range(9),
		"stream":  datasettest.Stream{Definition: datasettest.Range(9)},
		"failing": from{n: 9, fails: 4},
		"endless": datasettest.Range(-1),
	}
}

// pairs calls f with every kind of inner dataset on an outer one that fails, and with
// some of them on every kind of outer one.
func pairs(f func(name string, outer dataset.Definition, inner builder)) {
	for outer, in := range outers() {
		for inner, b := range inners() {
			if outer == "failing" || inner == "streams" || inner == "failing function" || inner == "nested" {
				f(inner+" of "+outer, in, b)
			}
		}
	}
}

func TestFlatMapContracts(t *testing.T) {
	pairs(func(name string, outer dataset.Definition, inner builder) {
		t.Run(name, func(t *testing.T) { datasettest.Check(t, flat(outer, inner), most) })
	})
}

func TestInterleaveContracts(t *testing.T) {
	pairs(func(name string, outer dataset.Definition, inner builder) {
		for _, o := range []transform.InterleaveOptions{{CycleLength: 1, BlockLength: 1}, {CycleLength: 3, BlockLength: 2, Parallel: 2}, {CycleLength: 20, BlockLength: 1, Parallel: -1}} {
			if o.CycleLength == 3 || name == "failing elements of failing" || name == "streams of endless" {
				t.Run(fmt.Sprintf("%s, %v", name, o), func(t *testing.T) { datasettest.Check(t, mustBe(transform.Interleave(outer, inner, o)), most) })
			}
		}
	})
}

func TestEachDatasetHasPassesOfItsOwn(t *testing.T) {
	f := of(func(int64) dataset.Definition {
		return mustBe(transform.Shuffle(datasettest.Range(20), transform.ShuffleOptions{Seed: 1}))
	})
	for _, d := range []dataset.Definition{flat(datasettest.Range(2), f), interleaved(datasettest.Range(2), f, 1, 20, 0)} {
		v := ints(t, d)
		require.NotEqual(t, v[:20], v[20:])
		require.ElementsMatch(t, v[:20], v[20:])
	}
}

func TestFlatMap(t *testing.T) {
	require.Equal(t, []int64{0, 0, 1, 0, 1, 2}, ints(t, flat(datasettest.Range(4), inners()["ranges"])))
	require.Equal(t, []int64{-1, 200, 201, 300, 301, 302, -1}, ints(t, flat(datasettest.Range(5), inners()["failing function"])))
	require.Equal(t, []int64{0, 1, 100, 101, -1}, ints(t, flat(datasettest.Range(2), inners()["failing elements"])))
	require.EqualValues(t, dataset.Unknown, flat(datasettest.Range(4), inners()["ranges"]).Cardinality())
}

// cycle is interleave as tf.data's sequential one is, over lists.
func cycle(lists [][]int64, length, block int) []int64 {
	out, slots, at, n := []int64{}, make([]*[]int64, length), 0, 0
	for open := 0; open > 0 || len(lists) > 0; {
		slot := slots[at]
		switch {
		case slot == nil && len(lists) > 0:
			slots[at], lists = &lists[0], lists[1:]
			open++
			continue
		case slot != nil && len(*slot) > 0:
			out = append(out, (*slot)[0])
			*slot = (*slot)[1:]
			if n++; n < block {
				continue
			}
		case slot != nil:
			slots[at] = nil
			open--
		}
		at, n = (at+1)%length, 0
	}
	return out
}

func TestInterleaveIsInTheOrderOfTheCycle(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		lists := make([][]int64, r.IntN(12))
		for i := range lists {
			for k := range r.Int64N(6) {
				lists[i] = append(lists[i], int64(100*i)+k)
			}
		}
		f := of(func(x int64) dataset.Definition { return from{first: 100 * x, n: int64(len(lists[x]))} })
		length, block := r.IntN(5)+1, r.IntN(4)+1
		want := cycle(slices.Clone(lists), length, block)
		got := ints(t, interleaved(datasettest.Range(len(lists)), f, int64(length), int64(block), 0))
		require.Equal(t, want, got, "%v, cycle_length=%d, block_length=%d", lists, length, block)
	}
}

func TestInterleaveErrorsAreAtTheirPlaces(t *testing.T) {
	// What tf.data gives for the same: an error neither ends a turn nor counts for it.
	f := of(func(x int64) dataset.Definition { return from{first: 10 * x, n: 3, fails: 2} })
	require.Equal(t, []int64{0, 10, -1, 2, -1, 12, 20, -1, 22}, ints(t, interleaved(datasettest.Range(3), f, 2, 1, 0)))
	two := of(func(x int64) dataset.Definition { return mustBe(transform.Repeat(from{first: x, n: 1}, 2)) })
	require.Equal(t, []int64{0, -1, 2, 0, 2, 3, 3}, ints(t, interleaved(failAt{datasettest.Range(4), 1}, two, 2, 1, 0)))
}

// failAt fails in place of one element.
type failAt struct {
	dataset.Indexed
	number int64
}

func (f failAt) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(f, s, pass, from)
}

func (f failAt) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := f.Indexed.Open(s, pass)
	return failAtAccess{in, f.number}, err
}

type failAtAccess struct {
	dataset.RandomAccess
	number int64
}

func (f failAtAccess) Fetch(index []int64, dst dataset.Sink) error {
	for _, x := range index {
		if x == f.number {
			return errs.New(errs.DataLoss, "fail", "element %d", x)
		}
	}
	return f.RandomAccess.Fetch(index, dst)
}

func TestInnerDatasetsOfOtherElementsAreRefusedAtTheirPlace(t *testing.T) {
	f := of(func(x int64) dataset.Definition {
		if x == 1 {
			return from{n: 1, texts: true}
		}
		return from{first: x, n: 1}
	})
	for _, d := range []dataset.Definition{flat(datasettest.Range(3), f), interleaved(datasettest.Range(3), f, 2, 1, 0)} {
		require.Equal(t, []int64{0, -1, 2}, ints(t, d))
		require.Contains(t, datasettest.ReadAll(t, d, dataset.PassKey(0), most)[1].Err, "must have elements like those of the first, int64[]")
	}
}

// An inner dataset's scope ends with it, whatever is read ahead.
func TestScopesOfInnerDatasetsEndWithThem(t *testing.T) {
	for name, workers := range map[string]int{"alone": 0, "with workers": 3} {
		t.Run(name, func(t *testing.T) {
			var c counter
			f := builder{scalars, func(s *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
				c.opened()
				s.Defer(c.closed)
				return from{first: x, n: 3}, nil
			}}
			for _, d := range []dataset.Definition{flat(datasettest.Range(200), f), interleaved(datasettest.Range(200), f, 4, 2, 3)} {
				s := datasettest.Scope(workers)
				it, err := d.Iterate(s, dataset.PassKey(0), nil)
				require.NoError(t, err)
				all, _ := datasettest.Take(t, it, 64, 1000)
				require.Len(t, all, 600)
				require.LessOrEqual(t, c.most(), 4+3)
				require.Zero(t, c.now(), "when all have ended")
				s.Close()
			}
		})
	}
}

// What is left in the middle is closed with everything.
func TestCloseInTheMiddle(t *testing.T) {
	var c counter
	f := builder{scalars, func(s *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
		c.opened()
		s.Defer(c.closed)
		return datasettest.Range(-1), nil
	}}
	for range 50 {
		s := datasettest.Scope(2)
		it, err := interleaved(datasettest.Range(-1), f, 5, 1, 4).Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		datasettest.Take(t, it, 64, 20)
		s.Close()
		require.Zero(t, c.now())
	}
}

func TestTokensOfOpenInputsAreSmall(t *testing.T) {
	f := of(func(x int64) dataset.Definition { return datasettest.Range(-1) })
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := interleaved(datasettest.Range(-1), f, 100, 1, 0).Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, tokens := datasettest.Take(t, it, 1<<20, 100_000)
	require.Less(t, len(text(t, tokens[100_000])), 100*100)
}

func TestNonsenseOfInterleaveIsRefused(t *testing.T) {
	for text, o := range map[string]transform.InterleaveOptions{
		"cycle_length is 0":        {CycleLength: 0, BlockLength: 1},
		"block_length is -1":       {CycleLength: 1, BlockLength: -1},
		"num_parallel_calls is -2": {CycleLength: 1, BlockLength: 1, Parallel: -2},
		"num_parallel_calls is 3":  {CycleLength: 2, BlockLength: 1, Parallel: 3},
	} {
		_, err := transform.Interleave(datasettest.Range(1), inners()["ranges"], o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		require.ErrorContains(t, err, text)
	}
	d := interleaved(datasettest.Range(9), inners()["ranges"], 2, 2, 0)
	for _, bad := range []*dataset.Token{
		{At: []int64{2, 0, 0}, In: []*dataset.Token{nil}},
		{At: []int64{0, 2, 0}, In: []*dataset.Token{nil}},
		{At: []int64{0, 0, 3, 0, 1}, In: []*dataset.Token{nil}},
		{At: []int64{0, 0, 3, 2, 1}, In: []*dataset.Token{nil, nil, nil}},
		{At: []int64{0, 0, 3, 0, 3}, In: []*dataset.Token{nil, nil, nil}},
		{At: []int64{0, 0, 3, 0, 1, 0, 2}, In: []*dataset.Token{nil, nil, nil, nil, nil}},
	} {
		s := datasettest.Scope(0)
		_, err := d.Iterate(s, dataset.PassKey(0), bad)
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "%v", bad)
		s.Close()
	}
}
