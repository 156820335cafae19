package transform

import (
	"encoding/binary"
	"math"
	"sort"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// SampleOptions says how SampleFromDatasets draws.
type SampleOptions struct {
	// Weights has one for each input; nil: all the same. An input with a weight of 0
	// is left out.
	Weights []float64
	// Varying is a dataset of weights, vectors of floats, one for each draw; instead of
	// Weights.
	Varying dataset.Definition
	// StopOnEmpty ends it all with the first input that ends.
	StopOnEmpty bool
	Seed        uint64
	// Height is how many datasets lie under this one.
	Height uint64
	// SameEachPass draws the same in all passes.
	SameEachPass bool
}

// SampleFromDatasets returns elements of inputs, each from one that is drawn.
func SampleFromDatasets(o SampleOptions, in ...dataset.Definition) (dataset.Definition, error) {
	const op = "sample_from_datasets"
	e, err := describeAll(op, in)
	if err != nil {
		return nil, err
	}
	if o.Varying != nil {
		if err := isWeights(op, o.Varying.Spec(), len(in)); err != nil {
			return nil, err
		}
		d := &directed{op: op, in: in, spec: e, stopOnEmpty: o.StopOnEmpty, endless: o.Varying.Cardinality() == dataset.Infinite}
		d.selector = o.varying(op, len(in))
		return d, nil
	}
	if o.Weights != nil && len(o.Weights) != len(in) {
		return nil, errs.New(errs.InvalidArgument, op, "%d weights for %d datasets", len(o.Weights), len(in))
	}
	var some []dataset.Definition
	var sums []float64
	sum := 0.0
	for i, d := range in {
		w := 1.0
		if o.Weights != nil {
			w = o.Weights[i]
		}
		if w > 0 {
			sum += w
			some, sums = append(some, d), append(sums, sum)
		}
	}
	if math.IsInf(sum, 0) {
		return nil, errs.New(errs.InvalidArgument, op, "weights are %v; their sum must be finite", o.Weights)
	}
	switch len(some) {
	case 0:
		return nil, errs.New(errs.InvalidArgument, op, "all weights are 0; one at least must be greater")
	case 1:
		return some[0], nil
	}
	d := &directed{op: op, in: some, spec: e, stopOnEmpty: o.StopOnEmpty, endless: true}
	d.selector = func(_ *dataset.Scope, pass rng.Key, _ *dataset.Token) (selector, error) {
		return &drawn{key: o.key(pass), sums: sums}, nil
	}
	return d, nil
}

// key returns what is drawn from in a pass.
func (o SampleOptions) key(pass rng.Key) rng.Key {
	if o.SameEachPass {
		return rng.NewKey(o.Seed, o.Height, 0, 2)
	}
	return pass.Derive(o.Seed, o.Height, 0, 2)
}

// draw returns which of the weights with the given running sums is draw number n.
func draw(key rng.Key, n int64, sums []float64) int64 {
	u := float64(key.Uint64(uint64(n))>>11) / (1 << 53) * sums[len(sums)-1]
	return int64(min(sort.Search(len(sums), func(i int) bool { return sums[i] > u }), len(sums)-1))
}

// drawn are choices with weights that stay the same.
type drawn struct {
	key     rng.Key
	sums    []float64 // of the weights up to each
	choices []int64
}

func (d *drawn) peek(at, limit int64) ([]int64, error) {
	d.choices = d.choices[:0]
	for i := range min(limit, skipped) {
		d.choices = append(d.choices, draw(d.key, at+i, d.sums))
	}
	return d.choices, nil
}

func (d *drawn) take(int64)            {}
func (d *drawn) token() *dataset.Token { return nil }

// isWeights fails where elements are no n floats.
func isWeights(op string, e *spec.Element, n int) error {
	if len(e.Components) == 1 && e.Components[0].DType.Kind == 'f' && (e.Components[0].DType.Size == 4 || e.Components[0].DType.Size == 8) {
		count := int64(1)
		for _, d := range e.Components[0].Shape {
			if d >= 0 {
				count *= d
			} else {
				count = int64(n)
				break
			}
		}
		if count == int64(n) {
			return nil
		}
	}
	return errs.New(errs.InvalidArgument, op, "weights must have vectors of %d float32 or float64; they have %v", n, e)
}

// varying makes selectors that draw by the weights of a dataset.
func (o SampleOptions) varying(op string, n int) func(*dataset.Scope, rng.Key, *dataset.Token) (selector, error) {
	return func(s *dataset.Scope, pass rng.Key, from *dataset.Token) (selector, error) {
		c, err := dataset.NewCursor(op, from, func(from *dataset.Token) (dataset.Iterator, error) { return o.Varying.Iterate(s, pass, from) })
		return &weighed{Cursor: c, op: op, key: o.key(pass), sums: make([]float64, n)}, err
	}
}

// weighed are choices with weights of their own.
type weighed struct {
	*dataset.Cursor
	op      string
	key     rng.Key
	sums    []float64
	choices []int64
}

func (w *weighed) peek(at, limit int64) ([]int64, error) {
	b, err := w.Peek(limit)
	w.choices = w.choices[:0]
	if err != nil {
		return nil, err
	}
	for i := range b.Rows {
		if err := w.sum(b, i); err != nil {
			if i > 0 {
				break
			}
			w.Take(1)
			return nil, err
		}
		w.choices = append(w.choices, draw(w.key, at+i, w.sums))
	}
	return w.choices, nil
}

// sum adds up the weights of a row.
func (w *weighed) sum(b block.Block, row int64) error {
	c := b.Shapes.Components[0]
	if c.Count() != int64(len(w.sums)) {
		return errs.New(errs.InvalidArgument, w.op, "weights %s for %d datasets", c, len(w.sums))
	}
	data := b.Columns[0].Data[row*b.Columns[0].RowBytes:]
	sum := 0.0
	for i := range w.sums {
		x := number64(data, i, c.DType.Size)
		if !(x >= 0) || math.IsInf(x, 0) {
			return errs.New(errs.InvalidArgument, w.op, "a weight is %v; it must be 0 or more, and finite", x)
		}
		sum += x
		w.sums[i] = sum
	}
	if sum == 0 {
		return errs.New(errs.InvalidArgument, w.op, "all weights are 0; one at least must be greater")
	}
	return nil
}

// number64 returns float i of data, which has size bytes.
func number64(data []byte, i int, size int64) float64 {
	if size == 4 {
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:])))
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
}

func (w *weighed) take(n int64)          { w.Take(n) }
func (w *weighed) token() *dataset.Token { return w.Token() }
