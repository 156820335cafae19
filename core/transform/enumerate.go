package transform

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// int64s is the dtype of counts and places.
var int64s = spec.DType{Kind: 'i', Size: 8}

type enumerate struct {
	in    dataset.Definition
	start int64
	spec  *spec.Element
}

type indexedEnumerate struct {
	enumerate
	in dataset.Indexed
}

// Enumerate returns pairs of a number, counted from start, and an element.
func Enumerate(in dataset.Definition, start int64) dataset.Definition {
	e := enumerate{in: in, start: start, spec: tupleOf(&spec.Element{Components: []spec.Component{{DType: int64s}}}, in.Spec())}
	if indexed, ok := in.(dataset.Indexed); ok {
		return &indexedEnumerate{enumerate: e, in: indexed}
	}
	return &e
}

// tupleOf describes tuples whose items are elements.
func tupleOf(items ...*spec.Element) *spec.Element {
	out := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple}}
	for _, item := range items {
		out.Structure.Items = append(out.Structure.Items, item.Structure)
		out.Components = append(out.Components, item.Components...)
	}
	return out
}

func (e *enumerate) Spec() *spec.Element { return e.spec }
func (e *enumerate) Cardinality() int64  { return e.in.Cardinality() }

func (e *enumerate) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := openInput("enumerate", e.in, s, pass, from, 1)
	if err != nil {
		return nil, err
	}
	return &enumerateIterator{in: in, number: at[0], sink: numberSink{enumerate: e}}, nil
}

type enumerateIterator struct {
	in     dataset.Iterator
	number int64 // of the next element, from 0
	sink   numberSink
}

func (it *enumerateIterator) Token() *dataset.Token { return dataset.Over(it.in.Token(), it.number) }

func (it *enumerateIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	it.sink.dst, it.sink.next, it.sink.index = dst, it.number, nil
	n, err := it.in.Next(limit, &it.sink)
	it.number += passed(n, err)
	return n, err
}

func (e *indexedEnumerate) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(e, s, pass, from)
}

func (e *indexedEnumerate) Open(s *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	in, err := e.in.Open(s, pass)
	return &enumeratePass{in: in, enumerate: &e.enumerate}, err
}

type enumeratePass struct {
	*enumerate
	in dataset.RandomAccess
}

func (e *enumeratePass) Fetch(index []int64, dst dataset.Sink) error {
	p := scratch.Get().(*[]int64)
	defer scratch.Put(p)
	*p = append((*p)[:0], index...)
	return e.in.Fetch(index, &numberSink{enumerate: e.enumerate, dst: dst, index: *p})
}

// numberSink takes elements and puts numbers before them: those of index, or else
// consecutive ones.
type numberSink struct {
	*enumerate
	dst   dataset.Sink
	next  int64
	index []int64
	views views
}

// Block implements dataset.Sink.
func (s *numberSink) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	whole := s.views.get(shapes, func() *spec.Element {
		return &spec.Element{Structure: s.spec.Structure, Components: append(s.spec.Components[:1:1], shapes.Components...)}
	})
	out, err := s.dst.Block(whole, rows)
	if err != nil {
		return out, err
	}
	for i := range rows {
		x := s.next + i
		if s.index != nil {
			x = s.index[i]
		}
		binary.LittleEndian.PutUint64(out.Columns[0].Data[8*i:], uint64(s.start+x))
	}
	if s.index != nil {
		s.index = s.index[rows:]
	}
	s.next += rows
	return block.Block{Rows: rows, Shapes: shapes, Columns: out.Columns[1:]}, nil
}

// views remembers what shapes were made to last.
type views struct{ from, to *spec.Element }

func (v *views) get(from *spec.Element, make func() *spec.Element) *spec.Element {
	if v.from != from || v.to == nil {
		v.from, v.to = from, make()
	}
	return v.to
}
