package datasettest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Check proves def over passes 0 and 1, of a long one the first limit elements. It
// reads everything many times over: def is small.
func Check(t T, def dataset.Definition, limit int64) {
	t.Helper()
	for pass := range int64(2) {
		key := dataset.PassKey(pass)
		want := ReadAll(t, def, key, limit)
		require.Equal(t, want, ReadAll(t, def, key, limit), "pass %d is not the same when begun again", pass)
		c := checker{T: t, def: def, key: key, want: want, limit: limit}
		c.cardinality()
		for _, workers := range []int{0, 2} {
			c.workers = workers
			c.walks()
			c.resumes()
		}
		if indexed, ok := def.(dataset.Indexed); ok {
			c.gathers(indexed)
			c.threads(indexed)
		}
	}
	rejectsTokens(t, def)
}

type checker struct {
	T
	def     dataset.Definition
	key     rng.Key
	want    []Element
	limit   int64
	workers int
}

func (c *checker) cardinality() {
	c.Helper()
	n := c.def.Cardinality()
	switch {
	case n == dataset.Infinite:
		require.Len(c, c.want, int(c.limit), "an infinite dataset ended")
	case n >= 0:
		require.Len(c, c.want, int(min(n, c.limit)), "there are to be %d elements", n)
	}
}

// take reads from a token on.
func (c *checker) take(from *dataset.Token, size, count int64) ([]Element, map[int]*dataset.Token) {
	c.Helper()
	s := Scope(c.workers)
	defer s.Close()
	it, err := c.def.Iterate(s, c.key, from)
	require.NoError(c, err)
	return Take(c, it, size, count)
}

// walks shows that every block size gives the same elements, and the same end.
func (c *checker) walks() {
	c.Helper()
	for _, size := range []int64{1, 2, 3, 7, 64, 1 << 20} {
		got, _ := c.take(nil, size, c.limit)
		require.Equal(c, c.want, got, "blocks of up to %d elements, %d workers", size, c.workers)
	}
	s := Scope(c.workers)
	defer s.Close()
	it, err := c.def.Iterate(s, c.key, nil)
	require.NoError(c, err)
	var b block.Buffer
	for _, e := range c.want {
		if e.Err != "" {
			return
		}
		b.Reset()
		n, err := it.Next(3, &b)
		if err != nil || n == 0 {
			return
		}
		for _, x := range b.Blocks() {
			requireFits(c, c.def.Spec(), x.Shapes)
		}
	}
}

// resumes shows the law: from the state before element k come elements k, k+1, ...,
// also after a state saved on the way.
func (c *checker) resumes() {
	c.Helper()
	r := rand.New(rand.NewPCG(uint64(c.limit), uint64(c.workers)))
	for _, size := range []int64{1, 4} {
		_, tokens := c.take(nil, size, c.limit)
		for k := range len(c.want) + 1 {
			token := tokens[k]
			if token == nil {
				continue
			}
			got, more := c.take(Reload(c, token), r.Int64N(6)+1, c.limit-int64(k))
			require.Equal(c, c.want[k:], got, "taken up before element %d, %d workers: %s", k, c.workers, text(token))
			j := r.IntN(len(got) + 1)
			if second := more[j]; second != nil {
				got, _ = c.take(Reload(c, second), 3, c.limit-int64(k+j))
				require.Equal(c, c.want[k+j:], got, "taken up before element %d and then before %d: %s", k, k+j, text(second))
			}
		}
	}
}

// Reload returns a token as it is after it was written and read.
func Reload(t T, token *dataset.Token) *dataset.Token {
	t.Helper()
	b, err := json.Marshal(token)
	require.NoError(t, err)
	var out *dataset.Token
	require.NoError(t, json.Unmarshal(b, &out))
	return out
}

func text(token *dataset.Token) string {
	b, _ := json.Marshal(token)
	return string(b)
}

// gathers shows that elements can be asked for in any order, and more than once.
func (c *checker) gathers(def dataset.Indexed) {
	c.Helper()
	s := Scope(0)
	defer s.Close()
	access, err := def.Open(s, c.key)
	require.NoError(c, err)
	good := c.good()
	r := rand.New(rand.NewPCG(1, 2))
	for range min(20, len(good)) {
		index := make([]int64, r.IntN(2*len(good))+1)
		want := make([]Element, len(index))
		for i := range index {
			index[i] = good[r.IntN(len(good))]
			want[i] = c.want[index[i]]
		}
		require.Equal(c, want, Read(c, access, index...), "elements %v", index)
	}
}

// good returns the numbers of the elements that are no errors.
func (c *checker) good() []int64 {
	var out []int64
	for i, e := range c.want {
		if e.Err == "" {
			out = append(out, int64(i))
		}
	}
	return out
}

// threads shows that goroutines do not get in each other's way.
func (c *checker) threads(def dataset.Indexed) {
	c.Helper()
	s := Scope(0)
	defer s.Close()
	access, err := def.Open(s, c.key)
	require.NoError(c, err)
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
	var b block.Buffer
	got := Element{}
	if err := access.Fetch([]int64{i}, &b); err != nil {
		got.Err = err.Error()
	} else {
		got = Split(&b)[0]
	}
	if fmt.Sprint(got) != fmt.Sprint(c.want[i]) {
		return fmt.Errorf("element %d is %v on one goroutine and %v on another", i, c.want[i], got)
	}
	return nil
}

// requireFits fails when an element's shapes are not what the dataset promised.
func requireFits(t T, promised, got *spec.Element) {
	t.Helper()
	require.Equal(t, len(promised.Components), len(got.Components))
	for i, p := range promised.Components {
		g := got.Components[i]
		require.Equal(t, p.DType, g.DType)
		require.Len(t, g.Shape, len(p.Shape))
		for d := range p.Shape {
			require.True(t, g.Shape[d] >= 0, "component %d has %v; all dimensions of an element are known", i, g)
			require.True(t, p.Shape[d] < 0 || p.Shape[d] == g.Shape[d], "component %d is %v; %v was promised", i, g, p)
		}
	}
}

// rejectsTokens shows that a token of something else is an error and no crash.
func rejectsTokens(t T, def dataset.Definition) {
	t.Helper()
	for _, token := range []*dataset.Token{
		dataset.At(-1), dataset.At(1, 2, 3, 4, 5, 6, 7), dataset.Over(dataset.At(-1), 0), {Data: []byte("x")}, dataset.At(1 << 60),
	} {
		s := Scope(0)
		it, err := def.Iterate(s, dataset.PassKey(0), token)
		if err == nil && it != nil {
			var b block.Buffer
			_, _ = it.Next(1, &b)
		}
		s.Close()
	}
}
