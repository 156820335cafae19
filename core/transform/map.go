package transform

import (
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// chanceKey is the key of the random numbers of a program; height is how many
// datasets lie under the operation that runs it.
func chanceKey(pass rng.Key, height uint64) rng.Key { return pass.Derive(height, 0, 1) }

type mapping struct {
	in      dataset.Definition
	program dataset.Program
	height  uint64
}

type indexedMap struct {
	mapping
	in dataset.Indexed
}

// Map returns what a program makes of each element. Its random numbers are those of
// the pass, the height and the element's number.
func Map(in dataset.Definition, p dataset.Program, height uint64) dataset.Definition {
	m := mapping{in: in, program: p, height: height}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &indexedMap{mapping: m, in: indexed}
	}
	return &m
}

func (m *mapping) Spec() *spec.Element { return m.program.Spec() }
func (m *mapping) Cardinality() int64  { return m.in.Cardinality() }

// Iterate implements dataset.Definition for an input that is not indexed.
func (m *mapping) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	run := &running{scope: s, program: m.program, key: chanceKey(pass, m.height)}
	return eachRow("map", m.in, s, callers(s, m.program), pass, from, run.results)
}

// callers is how many goroutines run a program.
func callers(s *dataset.Scope, p dataset.Program) int {
	if n := p.Calls(); n > 0 {
		return min(n, s.Workers)
	}
	return s.Workers
}

// running is a program in a pass.
type running struct {
	scope   *dataset.Scope
	program dataset.Program
	key     rng.Key
}

// results adds what the program makes of the rows of blocks to a job.
func (r *running) results(j *dataset.Job, in []block.Block, first int64) {
	for len(in) > 0 {
		n, err := r.run(in, first, &j.Out)
		if err != nil {
			j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: err})
			n++
		}
		in, first = behind(in, n), first+n
	}
}

// run runs the program on the first of blocks, or on all where that costs less, and returns
// how many rows that did not fail it ran on.
func (r *running) run(in []block.Block, first int64, dst dataset.Sink) (int64, error) {
	if all, ok := r.program.(dataset.Gathering); ok {
		return all.RunAll(r.scope, in, dst)
	}
	return r.program.Run(r.scope, in[0], dataset.Chance{Key: r.key, First: first}, dst)
}

// behind returns blocks without their first n rows.
func behind(in []block.Block, n int64) []block.Block {
	for len(in) > 0 && n >= in[0].Rows {
		n -= in[0].Rows
		in = in[1:]
	}
	if n == 0 {
		return in
	}
	return append([]block.Block{in[0].Slice(n, in[0].Rows)}, in[1:]...)
}

func (m *indexedMap) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(m, s, pass, from)
}

func (m *indexedMap) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := m.in.Open(s, pass)
	return &mapPass{running{s, m.program, chanceKey(pass, m.height)}, in}, err
}

type mapPass struct {
	running
	in dataset.RandomAccess
}

// buffers keeps memory for elements between operations.
var buffers = sync.Pool{New: func() any { return new(block.Buffer) }}

// borrow returns an empty buffer; giveBack takes it again.
func borrow() *block.Buffer { return buffers.Get().(*block.Buffer) }

func giveBack(b *block.Buffer) {
	b.Reset()
	buffers.Put(b)
}

func (m *mapPass) Fetch(index []int64, dst dataset.Sink) error {
	p := scratch.Get().(*[]int64)
	defer scratch.Put(p)
	*p = append((*p)[:0], index...)
	numbers := *p
	in := borrow()
	defer giveBack(in)
	if err := m.in.Fetch(index, in); err != nil {
		return err
	}
	if all, ok := m.program.(dataset.Gathering); ok {
		_, err := all.RunAll(m.scope, in.Blocks(), dst)
		return err
	}
	for _, b := range in.Blocks() {
		at := dataset.Chance{Key: m.key, First: numbers[0], Index: numbers[:b.Rows]}
		if dataset.Consecutive(at.Index) {
			at.Index = nil
		}
		if _, err := m.program.Run(m.scope, b, at, dst); err != nil {
			return err
		}
		numbers = numbers[b.Rows:]
	}
	return nil
}
