package transform

import (
	"encoding/binary"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// directed is elements of several inputs, in an order that a selector says.
type directed struct {
	op          string
	in          []dataset.Definition
	spec        *spec.Element
	stopOnEmpty bool
	endless     bool // there are choices without end
	selector    func(s *dataset.Scope, pass rng.Key, from *dataset.Token) (selector, error)
}

// selector says from which input each element comes.
type selector interface {
	// peek returns the choices that come next, limit at most. An error is passed.
	peek(draw, limit int64) ([]int64, error)
	// take says that the first n of them were used.
	take(n int64)
	token() *dataset.Token
}

// ChooseFromDatasets returns elements of inputs, from the one whose number is the next
// element of choices, int64 scalars. An input that has ended is passed over, or with
// stopOnEmpty ends it all.
func ChooseFromDatasets(choices dataset.Definition, stopOnEmpty bool, in ...dataset.Definition) (dataset.Definition, error) {
	const op = "choose_from_datasets"
	e, err := describeAll(op, in)
	if err != nil {
		return nil, err
	}
	if c := choices.Spec(); len(c.Components) != 1 || !c.Components[0].Equal(spec.Component{DType: int64s}) {
		return nil, errs.New(errs.InvalidArgument, op, "choice_dataset must have int64 scalars; it has %v", c)
	}
	d := &directed{op: op, in: in, spec: e, stopOnEmpty: stopOnEmpty, endless: choices.Cardinality() == dataset.Infinite}
	d.selector = func(s *dataset.Scope, pass rng.Key, from *dataset.Token) (selector, error) {
		c, err := dataset.NewCursor(op, from, func(from *dataset.Token) (dataset.Iterator, error) { return choices.Iterate(s, pass, from) })
		return &chosen{Cursor: c}, err
	}
	return d, nil
}

// describeAll describes elements of any of the inputs.
func describeAll(op string, in []dataset.Definition) (*spec.Element, error) {
	if len(in) == 0 {
		return nil, errs.New(errs.InvalidArgument, op, "datasets is empty; give at least one")
	}
	return common(op, in)
}

// chosen are choices that are elements of a dataset.
type chosen struct {
	*dataset.Cursor
	choices []int64
}

func (c *chosen) peek(_, limit int64) ([]int64, error) {
	b, err := c.Peek(limit)
	c.choices = c.choices[:0]
	for i := range b.Rows {
		c.choices = append(c.choices, int64(binary.LittleEndian.Uint64(b.Columns[0].Data[8*i:])))
	}
	return c.choices, err
}

func (c *chosen) take(n int64)          { c.Take(n) }
func (c *chosen) token() *dataset.Token { return c.Token() }

func (d *directed) Spec() *spec.Element { return d.spec }

// Cardinality is infinite when there are choices without end, and inputs for them.
func (d *directed) Cardinality() int64 {
	endless := 0
	for _, in := range d.in {
		if in.Cardinality() == dataset.Infinite {
			endless++
		}
	}
	if d.endless && (endless == len(d.in) || endless > 0 && !d.stopOnEmpty) {
		return dataset.Infinite
	}
	return dataset.Unknown
}

func (d *directed) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers(d.op, 1)
	if err != nil {
		return nil, err
	}
	it := &directedIterator{directed: d, scope: s, draw: at[0]}
	before, err := from.Input(d.op, 0)
	if err != nil {
		return nil, err
	}
	if it.choices, err = d.selector(s, pass, before); err != nil {
		return nil, err
	}
	for i, in := range d.in {
		if before, err = from.Input(d.op, i+1); err != nil {
			return nil, err
		}
		c, err := dataset.NewCursor(d.op, before, func(from *dataset.Token) (dataset.Iterator, error) { return in.Iterate(s, pass, from) })
		if err != nil {
			return nil, err
		}
		it.lanes = append(it.lanes, &directedLane{in: c})
	}
	return it, nil
}

// directedLane is one input.
type directedLane struct {
	in     *dataset.Cursor
	ended  bool
	failed error          // of the element that comes next; the cursor is past it
	before *dataset.Token // the cursor's, before that element
	rows   block.Block    // that come next
	used   int64          // of them, in the elements being made
}

func (l *directedLane) token() *dataset.Token {
	if l.failed != nil {
		return l.before
	}
	return l.in.Token()
}

// look finds out what comes next.
func (l *directedLane) look(want int64) {
	l.before = l.in.Token()
	b, err := l.in.Peek(want)
	l.rows, l.ended = b, isEnd(err)
	if err != nil && !l.ended {
		l.failed = err
	}
}

type directedIterator struct {
	*directed
	scope   *dataset.Scope
	choices selector
	draw    int64 // number of the next choice
	lanes   []*directedLane
	order   []pickedRow
}

func (it *directedIterator) Token() *dataset.Token {
	t := dataset.Over(it.choices.token(), it.draw)
	for _, l := range it.lanes {
		t.In = append(t.In, l.token())
	}
	return t
}

func (it *directedIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		if err := it.scope.Err(); err != nil {
			return 0, err
		}
		choices, err := it.choices.peek(it.draw, limit)
		if err != nil {
			it.draw += passed(0, err)
			return 0, err
		}
		draws, err := it.follow(choices)
		if n := int64(len(it.order)); n > 0 {
			if err := it.make(dst); err != nil {
				return 0, err
			}
			it.pass(draws)
			return n, nil
		}
		if isEnd(err) {
			return 0, err
		}
		it.pass(draws)
		if err != nil {
			return 0, err
		}
	}
}

// follow follows choices as far as rows are at hand that have equal shapes, and
// returns how many. An error is that of the last of them, and there are no rows.
func (it *directedIterator) follow(choices []int64) (int64, error) {
	it.order = it.order[:0]
	for _, l := range it.lanes {
		l.rows, l.used = block.Block{}, 0
	}
	for k, c := range choices {
		if c < 0 || c >= int64(len(it.lanes)) {
			return it.stop(k, errs.New(errs.InvalidArgument, it.op, "dataset %d was chosen; there are %d", c, len(it.lanes)))
		}
		l := it.lanes[c]
		if l.rows.Rows > 0 && l.used == l.rows.Rows {
			return int64(k), nil // more of it is known only after these were taken
		}
		if l.used == l.rows.Rows && !l.ended && l.failed == nil {
			l.look(count(choices[k:], c))
		}
		switch {
		case l.failed != nil:
			n, err := it.stop(k, l.failed)
			if err != nil {
				l.failed = nil
			}
			return n, err
		case l.ended && (it.stopOnEmpty || it.allEnded()):
			return it.stop(k, io.EOF)
		case l.ended:
			continue
		case len(it.order) > 0 && !l.rows.Shapes.Same(it.order[0].block.Shapes):
			return int64(k), nil
		}
		it.order = append(it.order, pickedRow{&l.rows, l.used})
		l.used++
	}
	return int64(len(choices)), nil
}

// stop ends before choice k, which is an error, or with it when nothing comes before.
func (it *directedIterator) stop(k int, err error) (int64, error) {
	if len(it.order) > 0 {
		return int64(k), nil
	}
	return int64(k) + 1, err
}

func count(choices []int64, c int64) int64 {
	n := int64(0)
	for _, x := range choices {
		if x == c {
			n++
		}
	}
	return n
}

func (it *directedIterator) allEnded() bool {
	for _, l := range it.lanes {
		if !l.ended {
			return false
		}
	}
	return true
}

// pass goes past choices, and the rows that were made of them.
func (it *directedIterator) pass(draws int64) {
	it.choices.take(draws)
	it.draw += draws
	for _, l := range it.lanes {
		if l.used > 0 {
			l.in.Take(l.used)
		}
	}
}

// make makes the rows in their order.
func (it *directedIterator) make(dst dataset.Sink) error {
	out, err := dst.Block(it.order[0].block.Shapes, int64(len(it.order)))
	if err != nil {
		return err
	}
	copyRows(out, it.order)
	return nil
}
