package transform

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type scan struct {
	in      dataset.Definition
	initial block.Block
	program dataset.Program
	height  uint64
	spec    *spec.Element
}

// Scan returns what a program makes of a state and each element, one after the other.
// It is given pairs of both, and gives pairs of the next state and an element. The
// first state is the only row of initial.
func Scan(in dataset.Definition, initial block.Block, p dataset.Program, height uint64) (dataset.Definition, error) {
	const op = "scan"
	e := p.Spec()
	if e.Structure.Kind != spec.Tuple || len(e.Structure.Items) != 2 {
		return nil, errs.New(errs.InvalidArgument, op, "scan_func must return a pair of the new state and the output; it returns %v", e)
	}
	n := e.Structure.Items[0].Leaves()
	if err := holds(op, initial, &spec.Element{Structure: e.Structure.Items[0], Components: e.Components[:n]}); err != nil {
		return nil, err
	}
	first, err := ownBlock(initial)
	if err != nil {
		return nil, err
	}
	out := &spec.Element{Structure: e.Structure.Items[1], Components: e.Components[n:]}
	return &scan{in: in, initial: first, program: p, height: height, spec: out}, nil
}

// holds fails where a state is not what a program makes of it.
func holds(op string, state block.Block, next *spec.Element) error {
	if _, ok := merge(state.Shapes, next); !ok || state.Rows != 1 {
		return errs.New(errs.InvalidArgument, op, "the new state must be like initial_state, which is %v; it is %v: give an initial_state of that dtype and shape, or convert the new one", state.Shapes, next)
	}
	return nil
}

func (d *scan) Spec() *spec.Element { return d.spec }
func (d *scan) Cardinality() int64  { return d.in.Cardinality() }

func (d *scan) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := openCursor("scan", d.in, s, pass, from, 1)
	if err != nil {
		return nil, err
	}
	it := &scanIterator{scan: d, in: in, number: at[0]}
	it.folder = folder{running: running{s, d.program, chanceKey(pass, d.height)}, op: "scan", states: len(d.initial.Columns), state: d.initial}
	if from == nil {
		return it, nil
	}
	e := d.program.Spec()
	described := &spec.Element{Structure: d.initial.Shapes.Structure, Components: e.Components[:it.states]}
	if it.state, _, err = readBlock("scan", anyShape(described), from.Data); err == nil && it.state.Rows != 1 {
		err = errs.New(errs.StateMismatch, "scan", "its state has %d rows", it.state.Rows)
	}
	return it, err
}

// anyShape describes elements of as many dimensions: the first state may have others
// than those that follow.
func anyShape(e *spec.Element) *spec.Element {
	out := &spec.Element{Structure: e.Structure}
	for _, c := range e.Components {
		shape := make([]int64, len(c.Shape))
		for i := range shape {
			shape[i] = -1
		}
		out.Components = append(out.Components, spec.Component{DType: c.DType, Shape: shape})
	}
	return out
}

type scanIterator struct {
	*scan
	folder
	in     *dataset.Cursor
	number int64 // of the next element
	failed error // of the element that comes next
	made   block.Buffer
	runs   []block.Block // blocks of made, as far as they are filled
	room   int64         // elements for which the last of them has room
	views  views
}

func (it *scanIterator) Token() *dataset.Token {
	t := dataset.Over(it.in.Token(), it.number)
	t.Data = appendBlock(nil, it.state)
	return t
}

func (it *scanIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	b, err := it.in.Peek(limit)
	if err != nil {
		it.number += passed(0, err)
		return 0, err
	}
	rows := int64(0)
	it.made.Reset()
	it.runs = it.runs[:0]
	for ; rows < b.Rows && it.failed == nil; rows++ {
		out, err := it.step(b, rows, it.number+rows)
		if err == nil {
			err = it.add(out, b.Rows-rows)
		}
		if err != nil {
			it.failed = err
			break
		}
	}
	if rows == 0 {
		err, it.failed = it.failed, nil
		it.in.Take(1)
		it.number++
		return 0, err
	}
	for _, run := range it.runs {
		out, err := dst.Block(run.Shapes, run.Rows)
		if err != nil {
			return 0, err
		}
		out.Copy(0, run)
	}
	it.in.Take(rows)
	it.number += rows
	return rows, nil
}

// add appends the element of a result; more says how many may follow it.
func (it *scanIterator) add(out block.Block, more int64) error {
	shapes := it.views.get(out.Shapes, func() *spec.Element {
		return &spec.Element{Structure: it.spec.Structure, Components: out.Shapes.Components[it.states:]}
	})
	last := len(it.runs) - 1
	if last < 0 || it.room == 0 || !it.runs[last].Shapes.Same(shapes) {
		if last >= 0 && it.room == 0 {
			more = min(more, 2*it.runs[last].Rows)
		} else if last >= 0 || !it.spec.Known() { // the next may be of another shape
			more = 1
		}
		b, err := it.made.Block(shapes, more)
		if err != nil {
			return err
		}
		b.Rows = 0
		for i := range b.Columns {
			b.Columns[i].Data = b.Columns[i].Data[:0]
		}
		it.runs = append(it.runs, b)
		it.room = more
		last++
	}
	it.room--
	run := &it.runs[last]
	for i := range run.Columns {
		c, src := &run.Columns[i], out.Columns[it.states+i]
		if c.Text != nil {
			c.Text.AppendRange(src.Text, 0, src.Text.Len())
		} else {
			c.Data = append(c.Data, src.Data...)
		}
	}
	run.Rows++
	return nil
}
