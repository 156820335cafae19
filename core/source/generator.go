package source

import (
	"encoding/binary"
	"errors"
	"io"
	"sync/atomic"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Generator is a dataset whose elements a function gives, some at each call: one of
// Python that asks a generator. The function gets one row: three int64 numbers (which
// walk it is, how many elements of it were made, how many more are wanted at most) and
// a text (the state to go on from, at the first call of a walk that is taken up, or
// nothing). It makes at least one element; at the end, after the last of them or
// alone, it returns io.EOF. An error is the element that comes after those it made.
type Generator struct {
	Function dataset.Program
	// Stateful tells that results are pairs of an element and a text: the state of the
	// generator after the last element of a call; nothing behind others. Without it, a
	// walk is taken up by making all elements again.
	Stateful bool
}

// FromGenerator returns the dataset.
func FromGenerator(g Generator) (dataset.Definition, error) {
	pair, n := g.Function.Spec(), len(g.Function.Spec().Components)
	if !g.Stateful {
		return &generated{g, pair}, nil
	}
	if len(pair.Structure.Items) != 2 || !pair.Components[n-1].IsText() {
		return nil, errs.New(errs.InvalidArgument, "from_generator", "results are %v; elements with a state were expected", pair)
	}
	return &generated{g, &spec.Element{Structure: pair.Structure.Items[0], Components: pair.Components[:n-1]}}, nil
}

type generated struct {
	Generator
	spec *spec.Element
}

func (g *generated) Spec() *spec.Element { return g.spec }
func (*generated) Cardinality() int64    { return dataset.Unknown }

// walks numbers the walks over generators in this process.
var walks atomic.Int64

// mostReplayed bounds how many elements are made again to take up a walk.
const mostReplayed = 1 << 40

func (g *generated) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	const op = "from_generator"
	at, err := from.Numbers(op, 1)
	if err != nil {
		return nil, err
	}
	if at[0] > mostReplayed {
		return nil, errs.New(errs.StateMismatch, op, "its state is at element %d", at[0])
	}
	it := &generating{generated: g, scope: s, walk: walks.Add(1)}
	if g.Stateful && from != nil && from.Data != nil {
		it.passed, it.state, it.resume = at[0], from.Data, from.Data
		return it, nil
	}
	var made block.Buffer
	for it.passed < at[0] {
		made.Reset()
		if _, err := it.Next(at[0]-it.passed, &made); errors.Is(err, io.EOF) {
			return nil, errs.New(errs.StateMismatch, op, "the generator ends after %d elements; the state is behind %d: it gives others than when the state was saved", it.passed, at[0])
		} else if s.Err() != nil {
			return nil, s.Err()
		} else if errs.KindOf(err) == errs.StateMismatch { // no call will give anything else
			return nil, err
		}
	}
	return it, nil
}

type generating struct {
	*generated
	scope  *dataset.Scope
	walk   int64
	passed int64  // elements and errors
	state  []byte // of the generator, after these
	resume []byte // state that the next call goes on from
	fail   error  // what comes next, when set
	made   block.Buffer
}

var request = &spec.Element{
	Structure:  spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
	Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{3}}, {DType: spec.Text}},
}

// Next implements dataset.Iterator.
func (g *generating) Next(limit int64, dst dataset.Sink) (int64, error) {
	if g.fail != nil {
		return 0, g.failed()
	}
	var in block.Buffer
	row, err := in.Block(request, 1)
	if err != nil {
		return 0, err
	}
	for i, x := range []int64{g.walk, g.passed, limit} {
		binary.LittleEndian.PutUint64(row.Columns[0].Data[8*i:], uint64(x))
	}
	row.Columns[1].Text.Append(g.resume)
	g.resume = nil
	counted := &counting{dst: dst}
	if g.Stateful {
		g.made.Reset()
		counted.dst = &g.made
	}
	_, g.fail = g.Function.Run(g.scope, row, dataset.Chance{}, counted)
	switch {
	case counted.rows > limit:
		return 0, errs.New(errs.Internal, "from_generator", "%d elements; %d were asked for", counted.rows, limit)
	case counted.rows == 0:
		return 0, g.failed()
	}
	if g.Stateful {
		if err := g.strip(dst); err != nil {
			return 0, err
		}
	}
	g.passed += counted.rows
	return counted.rows, nil
}

// failed passes the error that comes next; the end is not passed.
func (g *generating) failed() error {
	err := g.fail
	if !errors.Is(err, io.EOF) {
		g.fail = nil
		g.passed++
	}
	return err
}

// strip takes the states off the elements that were made.
func (g *generating) strip(dst dataset.Sink) error {
	for _, b := range g.made.Blocks() {
		n := len(b.Columns) - 1
		shapes := &spec.Element{Structure: g.spec.Structure, Components: b.Shapes.Components[:n]}
		out, err := dst.Block(shapes, b.Rows)
		if err != nil {
			return err
		}
		out.Take(block.Block{Rows: b.Rows, Shapes: shapes, Columns: b.Columns[:n]})
		g.state = append([]byte(nil), b.Columns[n].Text.At(int(b.Rows)-1)...)
	}
	return nil
}

// Token implements dataset.Iterator.
func (g *generating) Token() *dataset.Token {
	return &dataset.Token{At: []int64{g.passed}, Data: g.state}
}

// counting is a sink that counts rows.
type counting struct {
	dst  dataset.Sink
	rows int64
}

func (c *counting) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	c.rows += rows
	return c.dst.Block(shapes, rows)
}
