package transform

import (
	"encoding/binary"
	"testing"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/spec"
)

// evens is a predicate that is run on a block at once.
type evens struct{}

func (evens) Spec() *spec.Element { return truths }
func (evens) Calls() int          { return 0 }

func (evens) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(truths, in.Rows)
	if err != nil {
		return 0, err
	}
	for i := range in.Rows {
		out.Columns[0].Data[i] = 1 - in.Columns[0].Data[8*i]&1
	}
	return in.Rows, nil
}

// doubled is a map that is run on a block at once.
type doubled struct{}

func (doubled) Spec() *spec.Element { return scalars }
func (doubled) Calls() int          { return 0 }

var scalars = &spec.Element{Components: []spec.Component{{DType: int64s}}}

func (doubled) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(scalars, in.Rows)
	if err != nil {
		return 0, err
	}
	for i := range in.Rows {
		binary.LittleEndian.PutUint64(out.Columns[0].Data[8*i:], 2*binary.LittleEndian.Uint64(in.Columns[0].Data[8*i:]))
	}
	return in.Rows, nil
}

// BenchmarkElements reads an element an iteration, a few hundred at a time.
func BenchmarkElements(b *testing.B) {
	endless := datasettest.Range(dataset.Infinite)
	hidden := datasettest.Stream{Definition: endless}
	s1 := state(scalars, number(0))
	for _, c := range []struct {
		name string
		d    dataset.Definition
	}{
		{"range", endless},
		{"map", Map(endless, doubled{}, 1)},
		{"map of a stream", Map(hidden, doubled{}, 1)},
		{"filter", must(Filter(endless, evens{}, 1))},
		{"enumerate", Enumerate(hidden, 0)},
		{"zip", zipped(endless, endless)},
		{"zip of streams", zipped(hidden, endless)},
		{"unbatch", must(Unbatch(batched(hidden, 16)))},
		{"padded_batch and unbatch", must(Unbatch(must(PaddedBatch(hidden, 16, Padding{}, false))))},
		{"sample", must(SampleFromDatasets(SampleOptions{}, endless, hidden))},
		{"scan", must(Scan(hidden, s1, adding{}, 1))},
		{"prefetch", must(Prefetch(hidden, -1, 1<<20))},
		{"ignore_errors", IgnoreErrors(hidden)},
		{"cache", must(Repeat(Cache(datasettest.Range(1<<16)), -1))},
		{"cache of a stream", must(Repeat(Cache(stream(datasettest.Range(1<<16))), -1))},
		{"unique", must(Take(must(Repeat(Unique(datasettest.Range(1<<16)), -1)), -1))},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			s := datasettest.Scope(2)
			defer s.Close()
			it, err := c.d.Iterate(s, dataset.PassKey(0), nil)
			if err != nil {
				b.Fatal(err)
			}
			var out block.Buffer
			for left := int64(b.N); left > 0; {
				out.Reset()
				n, err := it.Next(min(left, 512), &out)
				if err != nil {
					b.Fatal(err)
				}
				left -= n
			}
		})
	}
}

// adding is the program of a scan that sums.
type adding struct{}

var sumSpec = tupleOf(scalars, scalars)

func (adding) Spec() *spec.Element { return sumSpec }
func (adding) Calls() int          { return 1 }

func (adding) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(sumSpec, in.Rows)
	if err != nil {
		return 0, err
	}
	sum := binary.LittleEndian.Uint64(in.Columns[0].Data) + binary.LittleEndian.Uint64(in.Columns[1].Data)
	binary.LittleEndian.PutUint64(out.Columns[0].Data, sum)
	binary.LittleEndian.PutUint64(out.Columns[1].Data, sum)
	return in.Rows, nil
}
