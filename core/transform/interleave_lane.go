package transform

import (
	"errors"
	"io"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
)

// lanes reads the datasets of an interleave: those whose turn comes, and the ones
// that will be opened next.
type lanes struct {
	*outer
	parallel int
	working  chan struct{} // one for each that works
	pace     pace
	futures  []future // in the order of the input
	ended    bool     // the last of them is the end
	retired  []retired
}

// future is a dataset that is to be opened, or the error in its place.
type future struct {
	number int64
	before *dataset.Token
	lane   *lane
	err    error
}

// retired is memory that a plan may still refer to.
type retired struct {
	lane   *lane
	filled *filled
}

// lane is one dataset, read into one buffer while another is taken from.
type lane struct {
	*inner // nil before it is opened, and when that failed
	number int64
	before *dataset.Token // of the input, before the element

	element block.Buffer   // what the dataset is made of, until it is opened
	idle    []*filled      // to be filled
	ready   chan *filled   // filled
	asked   bool           // one will be ready
	last    *dataset.Token // of the dataset, where nothing was read after it
	current *filled        // is taken from
	at      int            // block of it
	row     int64          // in that block
	taken   int64          // rows of all its blocks
}

// filled is what a dataset gave: elements, or an error instead.
type filled struct {
	buffer        block.Buffer
	before, after *dataset.Token
	err           error
	unopened      bool  // the error is that of opening
	bytes         int64 // of the budget
}

func newLanes(o *outer, options InterleaveOptions) *lanes {
	p := &lanes{outer: o, parallel: int(options.Parallel)}
	if options.Parallel < 0 {
		p.parallel = int(min(int64(o.scope.Workers), options.CycleLength))
	}
	if o.scope.Workers == 0 {
		p.parallel = 0
	}
	p.working = make(chan struct{}, max(p.parallel, 1))
	all := min(aheadBytes, o.scope.Budget.Limit()/2)
	p.pace = pace{bytes: max(laneLeast, min(laneMost, all/(2*(options.CycleLength+int64(p.parallel)))))}
	return p
}

const (
	aheadBytes = 64 << 20 // of all lanes
	laneLeast  = 4 << 10
	laneMost   = 1 << 20
)

func (p *lanes) newLane(number int64, before *dataset.Token) *lane {
	return &lane{number: number, before: before, idle: []*filled{{}, {}}, ready: make(chan *filled, 1)}
}

// place returns where the input is: before the first element that has no place in the
// cycle yet.
func (p *lanes) place() (*dataset.Token, int64) {
	if len(p.futures) > 0 {
		return p.futures[0].before, p.futures[0].number
	}
	return p.cursor.Token(), p.number
}

// prepare begins to open datasets for empty places, and some more.
func (p *lanes) prepare(empty int) {
	for !p.ended && len(p.futures) < empty+p.parallel && p.mayAsk() {
		p.more()
	}
}

// more reads an element of the input.
func (p *lanes) more() {
	f := future{}
	var row block.Block
	if f.number, f.before, row, f.err = p.next(); f.err == nil {
		f.lane = p.newLane(f.number, f.before)
		var own block.Block
		if own, f.err = f.lane.element.Block(row.Shapes, 1); f.err == nil {
			own.Copy(0, row)
			p.ask(f.lane)
		}
	}
	p.ended = errors.Is(f.err, io.EOF)
	p.futures = append(p.futures, f)
}

// head returns the next dataset that is to be opened, open.
func (p *lanes) head() (*lane, error) {
	if len(p.futures) == 0 {
		p.more()
	}
	f := p.futures[0]
	if f.err != nil {
		return nil, f.err
	}
	if err := p.wait(f.lane); err != nil {
		return nil, err
	}
	if f.lane.current.unopened {
		return nil, f.lane.current.err
	}
	return f.lane, nil
}

// pop says that the head was taken.
func (p *lanes) pop() { p.futures = p.futures[1:] }

// ask has a lane filled.
func (p *lanes) ask(l *lane) {
	f := l.idle[0]
	l.idle = l.idle[1:]
	l.asked = true
	f.bytes = p.pace.expected()
	p.scope.Budget.Hold(f.bytes)
	if p.parallel == 0 {
		p.fill(l, f)
		return
	}
	scope := p.scope
	if l.inner != nil {
		scope = l.scope
	}
	scope.Go(func() {
		select {
		case p.working <- struct{}{}:
		case <-scope.Done():
			return
		}
		defer func() { <-p.working }()
		p.fill(l, f)
	})
}

// fill reads what comes next in a lane, which it opens when that was not done.
func (p *lanes) fill(l *lane, f *filled) {
	f.buffer.Reset()
	f.err = nil
	if l.inner == nil {
		l.inner, f.err = p.open(p.scope, p.pass, l.number, l.element.Blocks()[0], nil)
		f.unopened = f.err != nil
	}
	if f.err == nil {
		f.before = l.it.Token()
		f.err = p.pace.read(l, &f.buffer)
		f.after = l.it.Token()
	}
	p.scope.Budget.GiveBack(f.bytes)
	f.bytes = f.buffer.Bytes()
	p.scope.Budget.Hold(f.bytes)
	l.ready <- f
}

// wait waits until there is something to take from a lane, or an error.
func (p *lanes) wait(l *lane) error {
	if l.current != nil {
		return nil
	}
	select {
	case l.current = <-l.ready:
	case <-p.scope.Done():
		return p.scope.Err()
	}
	l.asked, l.at, l.row, l.taken = false, 0, 0, 0
	if l.current.err == nil && len(l.idle) > 0 && p.mayAsk() {
		p.ask(l)
	}
	return nil
}

// mayAsk tells whether a lane may be filled before it is its turn.
func (p *lanes) mayAsk() bool {
	yes, _ := p.scope.Budget.Room()
	return p.parallel > 0 && yes
}

// peek returns the block that the next elements of a lane are in, and the row of the
// first. It is valid until release.
func (p *lanes) peek(l *lane) (block.Block, int64, error) {
	for {
		if c := l.current; c != nil && (c.err != nil || l.at < len(c.buffer.Blocks())) {
			if c.err != nil {
				return block.Block{}, 0, c.err
			}
			return c.buffer.Blocks()[l.at], l.row, nil
		}
		if l.current != nil {
			p.retired = append(p.retired, retired{l, l.current})
			l.last, l.current = l.current.after, nil
		}
		if !l.asked && len(l.idle) == 0 {
			return block.Block{}, 0, errLater
		}
		if !l.asked {
			p.ask(l)
		}
		if err := p.wait(l); err != nil {
			return block.Block{}, 0, err
		}
	}
}

// take says that n elements were taken.
func (l *lane) take(n int64) {
	l.row += n
	l.taken += n
	if l.row == l.current.buffer.Blocks()[l.at].Rows {
		l.at, l.row = l.at+1, 0
	}
}

// passError says that the error which peek returned was given.
func (l *lane) passError() {
	l.idle = append(l.idle, l.current)
	l.last, l.current = l.current.after, nil
}

// release says that no block is referred to any more.
func (p *lanes) release() {
	for _, r := range p.retired {
		p.scope.Budget.GiveBack(r.filled.bytes)
		if r.filled.bytes > 4*p.pace.bytes { // and its memory is not kept for the next one
			r.filled.buffer = block.Buffer{}
		}
		r.filled.bytes = 0
		r.lane.idle = append(r.lane.idle, r.filled)
		if p.mayAsk() && !r.lane.asked && (r.lane.current == nil || r.lane.current.err == nil) {
			p.ask(r.lane)
		}
	}
	p.retired = p.retired[:0]
}

// token returns where a lane is.
func (l *lane) token() *dataset.Token {
	switch {
	case l.current == nil:
		return dataset.Over(l.last, 0)
	case l.current.err == nil && l.at == len(l.current.buffer.Blocks()):
		return dataset.Over(l.current.after, 0)
	}
	return dataset.Over(l.current.before, l.taken)
}

// resume opens the lane of a state.
func (p *lanes) resume(in reopening, row block.Block) (*lane, error) {
	at, err := in.from.Numbers(p.op, 1)
	if err != nil {
		return nil, err
	}
	from, err := in.from.Input(p.op, 0)
	if err != nil {
		return nil, err
	}
	l := p.newLane(in.number, in.before)
	l.last = from
	if l.inner, err = p.open(p.scope, p.pass, in.number, row, from); err != nil {
		return nil, err
	}
	for left := at[0]; left > 0; p.release() {
		b, row, err := p.peek(l)
		if err != nil {
			return nil, errs.Wrap(err, errs.StateMismatch, p.op, "the elements before its state cannot be read again")
		}
		n := min(left, b.Rows-row)
		l.take(n)
		left -= n
	}
	return l, nil
}
