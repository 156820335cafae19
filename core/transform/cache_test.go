package transform

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

func TestCacheKeepsToTheContracts(t *testing.T) {
	checkOn(t, Cache)
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return must(Repeat(Cache(in), 2)) })
	checkOnSome(t, func(in dataset.Definition) dataset.Definition { return batched(Cache(in), 1) })
}

// counted is lame, and counts what is made.
func counted(n int64) (made, *atomic.Int64) {
	var count atomic.Int64
	d := lame(n)
	whole := d.f
	d.f = func(i int64) ([]value, error) {
		v, err := whole(i)
		if err == nil {
			count.Add(1)
		}
		return v, err
	}
	return d, &count
}

func TestCacheMakesElementsOnce(t *testing.T) {
	for _, name := range []string{"indexed", "stream"} {
		d, count := counted(20)
		in := dataset.Definition(d)
		if name == "stream" {
			in = stream(d)
		}
		c := Cache(in)
		want := datasettest.ReadAll(t, d, dataset.PassKey(0), limit)
		count.Store(0)
		require.Equal(t, want[:7], datasettest.ReadAll(t, c, dataset.PassKey(0), 7), "a part is kept too")
		for pass := range int64(3) {
			require.Equal(t, want, datasettest.ReadAll(t, c, dataset.PassKey(pass), limit), name)
		}
		require.EqualValues(t, 16, count.Load(), name)
		require.EqualValues(t, in.Cardinality(), c.Cardinality())
	}
}

// A stream's state is the same whether elements came from memory or not.
func TestStatesOfCacheHoldWithoutWhatIsKept(t *testing.T) {
	in := stream(shuffledBy(mixed(20), 1, 1))
	c := Cache(in)
	want := datasettest.ReadAll(t, in, dataset.PassKey(0), limit)
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := c.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	got, _ := datasettest.Take(t, it, 7, limit)
	require.Equal(t, want, got)
	it, err = c.Iterate(s, dataset.PassKey(1), nil)
	require.NoError(t, err)
	_, tokens := datasettest.Take(t, it, 3, limit)
	for k, token := range tokens {
		fresh, err := Cache(in).Iterate(s, dataset.PassKey(7), datasettest.Reload(t, token))
		require.NoError(t, err)
		got, _ := datasettest.Take(t, fresh, 2, limit)
		require.Equal(t, want[k:], got)
	}
}

// What failed for a while is tried again.
func TestCacheDoesNotKeepErrors(t *testing.T) {
	var broken atomic.Bool
	d := made{element(leaf('i', 8)), 5, func(i int64) ([]value, error) {
		if i == 2 && broken.Load() {
			return nil, errs.New(errs.NotFound, "made", "not now")
		}
		return []value{number(i)}, nil
	}}
	for _, c := range []dataset.Definition{Cache(d), Cache(stream(d))} {
		broken.Store(true)
		require.Equal(t, []int64{0, 1, -1, 3, 4}, firsts(t, c))
		require.Equal(t, []int64{0, 1, -1, 3, 4}, firsts(t, c))
		broken.Store(false)
		require.Equal(t, []int64{0, 1, 2, 3, 4}, firsts(t, c))
	}
}

func TestManyIteratorsShareACache(t *testing.T) {
	d := mixed(60)
	want := datasettest.ReadAll(t, d, dataset.PassKey(0), 100)
	c := Cache(stream(d))
	var wg sync.WaitGroup
	got := make([][]datasettest.Element, 4)
	for g := range got {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s := datasettest.Scope(0)
			defer s.Close()
			it, err := c.Iterate(s, dataset.PassKey(int64(g)), nil)
			for err == nil {
				var b block.Buffer
				if _, err = it.Next(int64(g)+1, &b); err == nil {
					got[g] = append(got[g], datasettest.Split(&b)...)
				}
			}
		}()
	}
	wg.Wait()
	for _, g := range got {
		require.Equal(t, want, g)
	}
}

func TestCacheKeepsTheFirstPass(t *testing.T) {
	shuffled := shuffledBy(datasettest.Range(20), 1, 1)
	require.Equal(t, values(t, shuffled, 0), values(t, Cache(shuffled), 3))
	require.Equal(t, values(t, shuffled, 0), values(t, Cache(stream(shuffled)), 3))
}
