package datasettest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Check proves def over passes 0 and 1, of an infinite one the first limit
// elements. It reads everything many times over: def is small.
func Check(t T, def dataset.Definition, limit int64) {
	t.Helper()
	for pass := range int64(2) {
		key := dataset.PassKey(pass)
		want := ReadAll(t, def, key, limit)
		require.Equal(t, want, ReadAll(t, def, key, limit), "pass %d is not the same when opened again", pass)
		c := checker{T: t, def: def, key: key, want: want, limit: length(def, limit)}
		c.walks()
		c.resumes()
		c.gathers()
		c.threads()
	}
	rejectsPlaces(t, def)
}

type checker struct {
	T
	def   dataset.Definition
	key   rng.Key
	want  []Element
	limit int64
}

func (c *checker) open() dataset.RandomAccess { return c.def.Open(c.key) }

// walks shows that every block size gives the same elements, and the same end.
func (c *checker) walks() {
	c.Helper()
	for _, size := range []int64{1, 2, 3, 7, 64, 1 << 20} {
		it, err := dataset.NewIterator(c.open(), c.def.Cardinality(), dataset.Token{})
		require.NoError(c, err)
		got := c.take(it, size, c.limit)
		require.Equal(c, c.want, got, "blocks of up to %d elements", size)
		if c.def.Cardinality() == c.limit {
			_, err := it.Next(size)
			require.True(c, errors.Is(err, io.EOF), "no end after %d elements: %v", c.limit, err)
		}
	}
}

// resumes shows the law: from the state before element k come elements k, k+1, ...
func (c *checker) resumes() {
	c.Helper()
	for k := range c.limit + 1 {
		text, err := json.Marshal(dataset.Token{Position: k})
		require.NoError(c, err)
		var token dataset.Token
		require.NoError(c, json.Unmarshal(text, &token))
		it, err := dataset.NewIterator(c.open(), c.def.Cardinality(), token)
		require.NoError(c, err)
		require.Equal(c, k, it.Token().Position)
		got := c.take(it, 5, c.limit-k)
		require.Equal(c, c.want[k:], got, "taken up before element %d", k)
	}
}

// take reads count elements from it, in runs of at most size.
func (c *checker) take(it *dataset.Iterator, size, count int64) []Element {
	c.Helper()
	out := []Element{}
	for count > 0 {
		before := it.Token().Position
		run, err := it.Next(min(size, count))
		require.NoError(c, err)
		require.Equal(c, before, run.Start)
		require.True(c, 1 <= run.Count && run.Count <= min(size, count), "a run of %d of at most %d", run.Count, size)
		requireFits(c, c.def.Spec(), c.def.Bound(), run.Shapes)
		b := newBlock(c, run.Shapes, int(run.Count))
		require.NoError(c, run.Fill(b))
		out = append(out, split(b, run.Shapes)...)
		count -= run.Count
	}
	return out
}

// gathers shows that elements of equal shapes can be asked for in any order, and
// more than once.
func (c *checker) gathers() {
	c.Helper()
	access := c.open()
	byShape := map[string][]int64{}
	for i, e := range c.want {
		byShape[e.Shapes] = append(byShape[e.Shapes], int64(i))
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, numbers := range byShape {
		_, shapes, err := access.Like(numbers[0], 1)
		require.NoError(c, err)
		for range 5 {
			index := make([]int64, r.IntN(2*len(numbers))+1)
			want := make([]Element, len(index))
			for i := range index {
				index[i] = numbers[r.IntN(len(numbers))]
				want[i] = c.want[index[i]]
			}
			require.Equal(c, want, Read(c, access, shapes, index...), "elements %v", index)
		}
	}
}

// threads shows that goroutines do not get in each other's way.
func (c *checker) threads() {
	c.Helper()
	access := c.open()
	var wg sync.WaitGroup
	failures := make([]error, 4)
	for g := range failures {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for k := range c.want {
				i := (k*7 + g*3) % len(c.want)
				if err := c.compare(access, int64(i)); err != nil {
					failures[g] = err
					return
				}
			}
		}()
	}
	wg.Wait()
	require.NoError(c, errors.Join(failures...))
}

func (c *checker) compare(access dataset.RandomAccess, i int64) error {
	_, shapes, err := access.Like(i, 1)
	if err != nil {
		return err
	}
	b := newBlock(c, shapes, 1)
	if err := access.Gather([]int64{i}, b); err != nil {
		return err
	}
	if got := split(b, shapes)[0]; fmt.Sprint(got) != fmt.Sprint(c.want[i]) {
		return fmt.Errorf("element %d is %v on one goroutine and %v on another", i, c.want[i], got)
	}
	return nil
}

// requireFits fails when an element's shapes are not what the dataset promised.
func requireFits(t T, promised, bound, got *spec.Element) {
	t.Helper()
	require.Equal(t, len(promised.Components), len(got.Components))
	for i, p := range promised.Components {
		b, g := bound.Components[i], got.Components[i]
		require.Equal(t, p.DType, g.DType)
		require.Len(t, g.Shape, len(p.Shape))
		for d := range p.Shape {
			require.True(t, p.Shape[d] == g.Shape[d] || p.Shape[d] == -1, "%v was promised, %v came", p, g)
			require.True(t, 0 <= g.Shape[d] && g.Shape[d] <= b.Shape[d], "%v was to be the largest, %v came", b, g)
		}
	}
}

func rejectsPlaces(t T, def dataset.Definition) {
	t.Helper()
	places := []int64{-1}
	if n := def.Cardinality(); n >= 0 {
		places = append(places, n+1)
	}
	for _, p := range places {
		_, err := dataset.NewIterator(def.Open(dataset.PassKey(0)), def.Cardinality(), dataset.Token{Position: p})
		require.Error(t, err, "a walk from element %d", p)
	}
}
