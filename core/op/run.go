package op

import (
	"encoding/binary"
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// program implements dataset.Program.
type program struct {
	inputs   int
	nodes    []*node
	values   []spec.Component // of inputs, then of results of nodes
	maker    []int            // of each value after the inputs, its node
	outputs  []int
	spec     *spec.Element
	segments []*segment
	remakes  bool // what the last function needs is made again for rows that it did not reach
	runs     sync.Pool
}

// Spec implements dataset.Program.
func (p *program) Spec() *spec.Element { return p.spec }

// Calls implements dataset.Program: it is all computing.
func (p *program) Calls() int { return 0 }

// run is the memory of one run, which the next one uses again.
type run struct {
	whole   []operand      // values on all rows; what segments need and give
	now     []operand      // values on the rows that are being made
	views   []block.Text   // texts of now that are parts of others
	texts   []block.Text   // texts that steps made
	in      []operand      // of the step that runs
	out     []block.Column // of the results, for the rows that are being made
	scratch []byte
	tiles   []byte
	given   [][]byte // memory of values that segments give
	calls   []*call
	shapes  []byte         // of what the segment that runs needs
	chance  dataset.Chance // of the rows that are being made
}

func (p *program) newRun() *run {
	n := len(p.values)
	r := &run{whole: make([]operand, n), now: make([]operand, n), views: make([]block.Text, n), texts: make([]block.Text, n), given: make([][]byte, n)}
	for _, s := range p.segments {
		if s.function == nil {
			continue
		}
		c := &call{run: r, in: make([]operand, len(s.function.In))}
		for range s.function.bound.out {
			c.results = append(c.results, &result{})
		}
		r.calls = append(r.calls, c)
	}
	return r
}

// Run implements dataset.Program.
func (p *program) Run(s *dataset.Scope, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	r, _ := p.runs.Get().(*run)
	if r == nil {
		r = p.newRun()
	}
	defer p.runs.Put(r)
	most := in.Rows // at a time
	for done := int64(0); done < in.Rows; {
		rest, from := in, at
		if rows := min(most, in.Rows-done); rows < in.Rows {
			rest, from = in.Slice(done, done+rows), at.From(done)
		}
		n, err := p.part(s, r, rest, from, dst)
		if done += n; err != nil {
			return done, err
		}
		if p.remakes {
			most = 2 * n
		}
	}
	return in.Rows, nil
}

// part makes the results of the first rows of in, those whose results have equal
// shapes, and returns how many. With an error, it is the row after these that fails.
func (p *program) part(s *dataset.Scope, r *run, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	for i, c := range in.Columns {
		r.whole[i] = operand{Component: in.Shapes.Components[i], Column: c}
	}
	rows, calls := in.Rows, r.calls
	var failed error
	for _, seg := range p.segments {
		plan, err := p.plan(seg, r)
		if err != nil {
			return 0, err
		}
		if seg.function == nil {
			out, err := dst.Block(plan.out, rows)
			if err != nil {
				return 0, err
			}
			p.make(plan, r, rows, at, out)
			break
		}
		p.give(plan, r, rows)
		p.make(plan, r, rows, at, block.Block{})
		for _, v := range seg.gives {
			r.whole[v] = r.now[v]
		}
		n, err := p.call(s, seg, r, calls[0], rows, at)
		if n == 0 && err == nil {
			err = errs.New(errs.Internal, seg.function.Op, "it made nothing of %d rows", rows)
		}
		if calls, rows = calls[1:], n; err != nil {
			failed = err
		}
		if rows == 0 {
			return 0, failed
		}
	}
	return rows, failed
}

// give makes room for what a segment makes on all rows.
func (p *program) give(plan *plan, r *run, rows int64) {
	for _, v := range plan.made {
		o := plan.operand(v)
		if o.IsText() {
			r.texts[v] = block.Text{Starts: r.texts[v].Starts[:0], Ends: r.texts[v].Ends[:0]} // it may borrow its bytes
			o.Text = &r.texts[v]
		} else {
			r.given[v] = grown(r.given[v], rows*o.RowBytes)
			o.Data = r.given[v]
		}
		r.whole[v] = o
	}
}

// call runs the function of a segment on all rows.
func (p *program) call(s *dataset.Scope, seg *segment, r *run, c *call, rows int64, at dataset.Chance) (int64, error) {
	c.scope, c.chance, c.rows = s, at, rows
	for i, v := range seg.function.In {
		c.in[i] = r.whole[v]
	}
	n, err := seg.function.bound.function.run(c)
	if n > 0 {
		for i, res := range c.results {
			r.whole[seg.function.out+i] = res.operand
		}
	}
	return n, err
}

// make runs the steps of a plan, a few rows at a time, so that what is between them
// stays in the cache.
func (p *program) make(plan *plan, r *run, rows int64, at dataset.Chance, out block.Block) {
	each := rows
	if plan.scratch > 0 && plan.out != nil {
		each = min(rows, max(1, cacheBytes/plan.scratch))
	}
	r.scratch = grown(r.scratch, plan.scratch*each+int64(plan.parts)*block.Align)
	r.tiles = grown(r.tiles, plan.tiles)
	for from := int64(0); from < rows; from += each {
		n := min(each, rows-from)
		r.chance = at.From(from)
		plan.place(r, from, n, rows, out)
		for _, s := range plan.steps {
			s(r, n)
		}
	}
}

// cacheBytes is how much memory what is between steps takes; it fits in the second
// level cache.
const cacheBytes = 256 << 10

// grown returns memory of n bytes, that of b if it is enough.
func grown(b []byte, n int64) []byte {
	if int64(cap(b)) < n {
		return make([]byte, n)
	}
	return b[:n]
}

// maxBytes bounds the memory of one value of all rows, far beyond what there is.
const maxBytes = 1 << 40

// sizeOf returns the size of one value, when rows of them can be had.
func sizeOf(c spec.Component, rows int64) (int64, error) {
	n, known := c.Bytes()
	if !known || n > 0 && rows > maxBytes/n {
		return 0, errs.New(errs.ResourceExhausted, "map", "%d values %s take too much memory", rows, c)
	}
	return n, nil
}

// plans keeps the plans of a segment by the shapes that they are for.
type plans struct {
	sync.RWMutex
	all map[string]*plan
}

// maxPlanned is how many values the plans of a segment have at most: a few megabytes.
const maxPlanned = 1 << 15

// plan returns the plan of a segment for the shapes of what it needs in r.
func (p *program) plan(seg *segment, r *run) (*plan, error) {
	r.shapes = r.shapes[:0]
	for _, v := range seg.needs {
		r.shapes = append(r.shapes, byte(len(r.whole[v].Shape)))
		for _, d := range r.whole[v].Shape {
			r.shapes = binary.LittleEndian.AppendUint64(r.shapes, uint64(d))
		}
	}
	seg.plans.RLock()
	found := seg.plans.all[string(r.shapes)]
	seg.plans.RUnlock()
	if found != nil {
		return found, nil
	}
	made, err := p.newPlan(seg, r)
	if err != nil {
		return nil, err
	}
	seg.plans.Lock()
	defer seg.plans.Unlock()
	if seg.plans.all == nil || len(seg.plans.all)*len(p.values) >= maxPlanned {
		seg.plans.all = map[string]*plan{}
	}
	seg.plans.all[string(r.shapes)] = made
	return made, nil
}
