package transform

import (
	"math"
	"reflect"
	"slices"
	"sort"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type concatenation struct {
	in   []dataset.Definition
	spec *spec.Element
	n    int64
}

type indexedConcatenation struct {
	concatenation
	in     []dataset.Indexed
	starts []int64 // number of the first element of each input
}

// Concatenate returns the elements of one input after those of another. Elements must
// have the same structure and dtypes, and as many dimensions.
func Concatenate(in ...dataset.Definition) (dataset.Definition, error) {
	if len(in) == 0 {
		return nil, errs.New(errs.InvalidArgument, "concatenate", "there is no dataset; give at least one")
	}
	c := concatenation{in: in}
	var err error
	if c.spec, err = common("concatenate", in); err != nil {
		return nil, err
	}
	if c.n, err = sum(in); err != nil {
		return nil, err
	}
	all := &indexedConcatenation{concatenation: c}
	next := int64(0)
	for _, d := range in {
		indexed, ok := d.(dataset.Indexed)
		if !ok {
			return &c, nil
		}
		all.in, all.starts = append(all.in, indexed), append(all.starts, next)
		n := dataset.End(indexed)
		if next > math.MaxInt64-n {
			return nil, errUncountable
		}
		next += n
	}
	return all, nil
}

var errUncountable = errs.New(errs.InvalidArgument, "concatenate", "the datasets have more elements than can be counted")

// sum is how many elements datasets have together: infinite when one is, and unknown when
// one is that.
func sum(in []dataset.Definition) (int64, error) {
	sum := int64(0)
	for _, d := range in {
		n := d.Cardinality()
		switch {
		case n == dataset.Infinite:
			return n, nil
		case n == dataset.Unknown:
			sum = n
		case sum > math.MaxInt64-n:
			return 0, errUncountable
		case sum >= 0:
			sum += n
		}
	}
	return sum, nil
}

// common describes elements of any of the inputs. A dimension is -1 where they differ.
func common(op string, in []dataset.Definition) (*spec.Element, error) {
	out := in[0].Spec()
	for i, d := range in[1:] {
		merged, ok := merge(out, d.Spec())
		if !ok {
			return nil, errs.New(errs.InvalidArgument, op, "the datasets have elements of different kinds: dataset 0 has %v and dataset %d has %v", out, i+1, d.Spec())
		}
		out = merged
	}
	return out, nil
}

// merge describes elements of both; it returns false where structures, dtypes or
// numbers of dimensions differ.
func merge(a, b *spec.Element) (*spec.Element, bool) {
	if a.Equal(b) {
		return a, true
	}
	if !a.Structure.Equal(b.Structure) || len(a.Components) != len(b.Components) {
		return nil, false
	}
	out := &spec.Element{Structure: a.Structure}
	for i, c := range a.Components {
		other := b.Components[i]
		if c.DType != other.DType || len(c.Shape) != len(other.Shape) {
			return nil, false
		}
		shape := append([]int64(nil), c.Shape...)
		for d := range shape {
			if shape[d] != other.Shape[d] {
				shape[d] = -1
			}
		}
		out.Components = append(out.Components, spec.Component{DType: c.DType, Shape: shape})
	}
	return out, true
}

func (c *concatenation) Spec() *spec.Element { return c.spec }
func (c *concatenation) Cardinality() int64  { return c.n }

func (c *concatenation) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("concatenate", 1)
	if err != nil {
		return nil, err
	}
	if at[0] >= int64(len(c.in)) {
		return nil, errs.New(errs.StateMismatch, "concatenate", "its state is in dataset %d of %d", at[0], len(c.in))
	}
	before, err := from.Input("concatenate", 0)
	if err != nil {
		return nil, err
	}
	it := &concatenationIterator{concatenation: c, outer: s, pass: pass, number: int(at[0]), lost: from.Own()}
	return it, it.begin(before)
}

// concatenationIterator is in one input at a time.
type concatenationIterator struct {
	*concatenation
	outer, scope *dataset.Scope
	pass         rng.Key
	number       int // of the input
	it           dataset.Iterator
	lost         *dataset.Lost // in the inputs before
	sink         asked
}

// begin opens the input with the iterator's number.
func (it *concatenationIterator) begin(from *dataset.Token) (err error) {
	if it.scope != nil {
		it.scope.Close()
	}
	it.scope = it.outer.Child()
	it.it, err = it.in[it.number].Iterate(it.scope, it.pass, from)
	return err
}

func (it *concatenationIterator) Token() *dataset.Token {
	t := dataset.Over(it.it.Token(), int64(it.number))
	t.Lost = it.lost
	return t
}

func (it *concatenationIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		it.sink = asked{Sink: dst}
		n, err := it.it.Next(limit, &it.sink)
		if !isEnd(err) || it.number == len(it.in)-1 {
			return n, err
		}
		it.number++
		it.lost = it.lost.Plus(it.it.Token().Losses())
		if err := it.begin(nil); err != nil || it.sink.yes {
			return 0, err
		}
	}
}

// asked is a sink that knows whether memory was wanted of it. Where no element came
// of it after all, it can be given nothing more in the same call.
type asked struct {
	dataset.Sink
	yes bool
}

// Block implements dataset.Sink.
func (a *asked) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	a.yes = true
	return a.Sink.Block(shapes, rows)
}

func (c *indexedConcatenation) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(c, s, pass, from)
}

func (c *indexedConcatenation) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	p := &concatenationPass{indexedConcatenation: c}
	for i, d := range c.in {
		same := slices.IndexFunc(c.in[:i], func(before dataset.Indexed) bool { return reflect.TypeOf(d).Comparable() && before == d })
		if same >= 0 { // opened once: else it would be twice as often in each that is in another
			p.in = append(p.in, p.in[same])
			continue
		}
		in, err := d.Open(s, pass)
		if err != nil {
			return nil, err
		}
		p.in = append(p.in, in)
	}
	return p, nil
}

type concatenationPass struct {
	*indexedConcatenation
	in []dataset.RandomAccess
}

// input returns in which input an element is.
func (p *concatenationPass) input(number int64) int {
	return sort.Search(len(p.starts), func(i int) bool { return p.starts[i] > number }) - 1
}

// Fetch asks each input for runs of elements. Inputs without elements have the start
// of the one after them, which is found before them.
func (p *concatenationPass) Fetch(index []int64, dst dataset.Sink) error {
	for from := 0; from < len(index); {
		in := p.input(index[from])
		first, to := p.starts[in], from
		for ; to < len(index) && p.input(index[to]) == in; to++ {
			index[to] -= first
		}
		if err := p.in[in].Fetch(index[from:to], dst); err != nil {
			return err
		}
		from = to
	}
	return nil
}
