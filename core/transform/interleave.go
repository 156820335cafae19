package transform

import (
	"errors"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
)

// InterleaveOptions says how Interleave mixes.
type InterleaveOptions struct {
	// CycleLength is how many datasets are open at once; BlockLength how many elements
	// are taken of one before it is the next one's turn.
	CycleLength, BlockLength int64
	// Parallel is how many of them are read at the same time, ahead of what is taken;
	// 0: none is read ahead; -1: as many as there are workers. Nothing but speed
	// depends on it.
	Parallel int64
	// Height is how many datasets lie under the operation.
	Height uint64
}

type interleave struct {
	nested
	o InterleaveOptions
}

// mostOpen bounds CycleLength.
const mostOpen = 1 << 20

// Interleave returns the elements of the datasets that a builder makes out of the
// elements of the input: a few of one, then a few of the next, in a cycle of datasets
// that are open. A dataset that ends leaves its place in the cycle to another, which
// is opened when it is that place's turn again.
func Interleave(in dataset.Definition, f dataset.Builder, o InterleaveOptions) (dataset.Definition, error) {
	const op = "interleave"
	switch {
	case o.CycleLength < 1 || o.CycleLength > mostOpen:
		return nil, errs.New(errs.InvalidArgument, op, "cycle_length is %d; it must be at least 1 and at most %d", o.CycleLength, mostOpen)
	case o.BlockLength < 1:
		return nil, errs.New(errs.InvalidArgument, op, "block_length is %d; it must be at least 1", o.BlockLength)
	case o.Parallel < -1:
		return nil, errs.New(errs.InvalidArgument, op, "num_parallel_calls is %d; it must be at least 1, None or AUTOTUNE", o.Parallel)
	case o.Parallel > o.CycleLength:
		return nil, errs.New(errs.InvalidArgument, op, "num_parallel_calls is %d; it can be no more than cycle_length, %d", o.Parallel, o.CycleLength)
	}
	return &interleave{nested{op: op, in: in, f: f, height: o.Height}, o}, nil
}

func (d *interleave) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, open, err := d.read(from)
	if err != nil {
		return nil, err
	}
	it := &interleaveIterator{interleave: d, slots: make([]*lane, d.o.CycleLength), cycle: at[0], block: at[1], lost: from.Own()}
	o, err := d.walk(s, pass, in, at[2])
	if err != nil {
		return nil, err
	}
	it.lanes = newLanes(o, d.o)
	return it, d.reopen(s, pass, open, func(in reopening, row block.Block) error {
		l, err := it.lanes.resume(in, row)
		it.slots[in.slot] = l
		it.open++
		return err
	})
}

// read returns what a token says: the place in the cycle, how many elements of its
// block were taken, the number of the next element of the input; the token before
// that; and what is open.
func (d *interleave) read(t *dataset.Token) (at []int64, in *dataset.Token, open []reopening, err error) {
	if t == nil {
		return make([]int64, 3), nil, nil, nil
	}
	n := (len(t.At) - 3) / 2
	if at, err = t.Numbers(d.op, 3+2*max(n, 0)); err != nil {
		return nil, nil, nil, err
	}
	bad := errs.New(errs.StateMismatch, d.op, "its state is not one of cycle_length=%d, block_length=%d", d.o.CycleLength, d.o.BlockLength)
	if len(t.In) != 1+2*n || at[0] >= d.o.CycleLength || at[1] >= d.o.BlockLength {
		return nil, nil, nil, bad
	}
	used := map[int64]bool{}
	for i := range n {
		o := reopening{slot: at[3+2*i], number: at[4+2*i], before: t.In[1+2*i], from: t.In[2+2*i]}
		if o.slot >= d.o.CycleLength || used[o.slot] || o.number >= at[2] {
			return nil, nil, nil, bad
		}
		used[o.slot] = true
		open = append(open, o)
	}
	return at[:3], t.In[0], open, nil
}

// interleaveIterator goes round the cycle. When the input has ended, places that are
// empty are taken out of it.
type interleaveIterator struct {
	*interleave
	lanes *lanes
	slots []*lane // nil: empty
	open  int
	cycle int64 // whose turn it is
	block int64 // elements of this turn
	plan  []planned
	lost  *dataset.Lost // in datasets that have ended
}

// planned is consecutive rows of a block that Next will give.
type planned struct {
	block   block.Block
	from, n int64
}

func (it *interleaveIterator) Token() *dataset.Token {
	before, number := it.lanes.place()
	t := dataset.Over(before, it.cycle, it.block, number)
	t.Lost = it.lost
	for i, l := range it.slots {
		if l != nil {
			t.At = append(t.At, int64(i), l.number)
			t.In = append(t.In, l.before.Uncounted(), l.token())
		}
	}
	return t
}

func (it *interleaveIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	defer it.lanes.release()
	it.lanes.prepare(len(it.slots) - it.open)
	it.plan = it.plan[:0]
	for rows := int64(0); rows < limit; {
		n, err := it.step(limit-rows, rows == 0)
		rows += n
		if errors.Is(err, errLater) || errors.Is(err, io.EOF) && rows > 0 {
			break
		}
		if err != nil {
			return 0, err
		}
	}
	return it.carry(dst)
}

// errLater says that nothing more can be planned before the plan is carried out.
var errLater = errors.New("later")

// step plans up to limit elements of the dataset whose turn it is, or opens or ends
// it. What fails is passed only when it is the first of a plan.
func (it *interleaveIterator) step(limit int64, first bool) (int64, error) {
	l := it.slots[it.cycle]
	if l == nil {
		return 0, it.begin(first)
	}
	b, row, err := it.lanes.peek(l)
	switch {
	case errors.Is(err, io.EOF):
		return 0, it.close(l)
	case errors.Is(err, errLater):
		return 0, err
	case err != nil && !first:
		return 0, errLater
	case err != nil:
		l.passError()
		return 0, err
	}
	n := min(limit, it.o.BlockLength-it.block, b.Rows-row)
	it.plan = append(it.plan, planned{b, row, n})
	l.take(n)
	if it.block += n; it.block == it.o.BlockLength {
		it.turn()
	}
	return n, nil
}

func (it *interleaveIterator) turn() {
	it.block = 0
	it.cycle = (it.cycle + 1) % int64(len(it.slots))
}

// begin puts the dataset of the next element at its place.
func (it *interleaveIterator) begin(first bool) error {
	l, err := it.lanes.head()
	switch {
	case errors.Is(err, io.EOF):
		return it.shrink()
	case err != nil && !first:
		return errLater
	}
	it.lanes.pop()
	if err == nil {
		it.slots[it.cycle] = l
		it.open++
	}
	return err
}

// close ends the dataset whose turn it is.
func (it *interleaveIterator) close(l *lane) error {
	it.lost = it.lost.Plus(l.current.after.Losses())
	l.scope.Close()
	it.slots[it.cycle] = nil
	it.open--
	it.turn()
	return nil
}

// shrink takes the empty places out of the cycle. It returns io.EOF when no other is
// left.
func (it *interleaveIterator) shrink() error {
	if it.open == 0 {
		it.slots, it.cycle, it.block = []*lane{nil}, 0, 0
		return io.EOF
	}
	kept, cycle := it.slots[:0], int64(0)
	for i, l := range it.slots {
		if l == nil {
			continue
		}
		kept = append(kept, l)
		if int64(i) < it.cycle {
			cycle++
		}
	}
	it.slots, it.cycle, it.block = kept, cycle%int64(len(kept)), 0
	return nil
}

// carry makes the elements of the plan in dst.
func (it *interleaveIterator) carry(dst dataset.Sink) (int64, error) {
	rows := int64(0)
	for i := 0; i < len(it.plan); {
		shapes, n := it.plan[i].block.Shapes, int64(0)
		j := i
		for ; j < len(it.plan) && it.plan[j].block.Shapes.Same(shapes); j++ {
			n += it.plan[j].n
		}
		out, err := dst.Block(shapes, n)
		if err != nil {
			return 0, err
		}
		at := int64(0)
		for ; i < j; i++ {
			it.plan[i].copy(out, at)
			at += it.plan[i].n
		}
		rows += n
	}
	return rows, nil
}

// copy makes rows from at on of dst. Those before are made already.
func (s planned) copy(dst block.Block, at int64) {
	for i, c := range dst.Columns {
		src := s.block.Columns[i]
		if c.Text != nil {
			n := dst.Shapes.Components[i].Count()
			c.Text.AppendRange(src.Text, int(s.from*n), int((s.from+s.n)*n))
		} else {
			copy(c.Data[at*c.RowBytes:], src.Data[s.from*c.RowBytes:(s.from+s.n)*c.RowBytes])
		}
	}
}
