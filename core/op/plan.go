package op

import (
	"slices"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

// plan is how a segment is run on values of some shapes.
type plan struct {
	values  []spec.Component // all dimensions are known; those of the segment only
	places  []where
	made    []int // the values inWhole that the segment makes
	order   []int // the values that have a place, in the order of nodes
	steps   []func(r *run, rows int64)
	scratch int64 // bytes for a row
	parts   int   // of the scratch memory
	tiles   int64 // bytes
	out     *spec.Element
}

// where says where the values of one are.
type where struct {
	kind   place
	of     int           // inView: of which value; inOutput: the component; inScratch: the bytes of a row before it
	part   int           // inScratch: how many parts are before it
	column *block.Column // inConst
}

type place uint8

const (
	nowhere   place = iota
	inWhole         // made by another segment, or given
	inConst         // in the program
	inView          // where another value is
	inOutput        // in the memory that was asked of the sink
	inScratch       // in memory of the run
	inTile          // in a tile of a group of loops only
)

// operand returns a value without memory.
func (pl *plan) operand(v int) operand {
	n, _ := pl.values[v].Bytes()
	return operand{Component: pl.values[v], Column: block.Column{RowBytes: n}}
}

// planner makes a plan.
type planner struct {
	*plan
	p      *program
	seg    *segment
	bounds []*binding // of the nodes of the segment, for the shapes
	group  []int      // of each value: which group of loops makes it, from 1 on
	gives  map[int]bool
}

func (p *program) newPlan(seg *segment, r *run) (*plan, error) {
	n := len(p.values)
	pl := &planner{plan: &plan{values: make([]spec.Component, n), places: make([]where, n)}, p: p, seg: seg, group: make([]int, n), gives: map[int]bool{}}
	for _, v := range seg.needs {
		c := spec.Component{DType: r.whole[v].DType, Shape: slices.Clone(r.whole[v].Shape)}
		pl.values[v], pl.places[v] = c, where{kind: inWhole}
		if r.whole[v].uniform { // a constant that a segment gave
			column := r.whole[v].Column
			pl.places[v] = where{kind: inConst, column: &column}
		}
		pl.order = append(pl.order, v)
	}
	for _, v := range seg.gives {
		pl.gives[v] = true
	}
	if err := pl.bind(); err != nil {
		return nil, err
	}
	if err := pl.locate(); err != nil {
		return nil, err
	}
	pl.write()
	return pl.plan, nil
}

// bind binds the nodes for the shapes and divides loops into groups: those that
// follow one another and make values of the same shape.
func (pl *planner) bind() error {
	group, last := 0, []int64(nil)
	open := false
	for _, n := range pl.seg.nodes {
		in := make([]spec.Component, len(n.In))
		for i, v := range n.In {
			in[i] = pl.values[v]
		}
		b, err := pl.p.rebind(n, in)
		if err != nil {
			return err
		}
		if _, err := sizeOf(b.out[0], 1); err != nil {
			return err
		}
		pl.bounds, pl.values[n.out] = append(pl.bounds, b), b.out[0]
		pl.order = append(pl.order, n.out)
		switch {
		case b.constant != nil:
		case b.loop == nil:
			open = false
		default:
			if shape := b.out[0].Shape; !open || !slices.Equal(shape, last) {
				group, last, open = group+1, shape, true
			}
			pl.group[n.out] = group
		}
	}
	return nil
}

// rebind is the binding of a node for operands whose shapes are known now.
func (p *program) rebind(n *node, in []spec.Component) (*binding, error) {
	for i, v := range n.In {
		if !slices.Equal(in[i].Shape, p.values[v].Shape) {
			return binders[n.Op](n, in)
		}
	}
	return n.bound, nil
}

// locate gives each value its place.
func (pl *planner) locate() error {
	read := pl.read()
	outputs := map[int]int{}
	if pl.seg.function == nil {
		pl.out = &spec.Element{Structure: pl.p.spec.Structure}
		for k, v := range pl.p.outputs {
			pl.out.Components = append(pl.out.Components, pl.values[v])
			if _, twice := outputs[v]; !twice {
				outputs[v] = k
			}
		}
	}
	for i, n := range pl.seg.nodes {
		v, b := n.out, pl.bounds[i]
		k, isOutput := outputs[v]
		switch {
		case b.constant != nil:
			pl.places[v] = where{kind: inConst, column: b.constant}
		case b.view:
			pl.places[v] = where{kind: inView, of: n.In[0]}
		case isOutput && !pl.values[v].IsText():
			pl.places[v] = where{kind: inOutput, of: k}
		case pl.group[v] > 0 && !read[v] && !pl.gives[v]:
			pl.places[v] = where{kind: inTile}
		case pl.seg.function != nil: // others may see it, or a view of it
			pl.places[v] = where{kind: inWhole}
			pl.made = append(pl.made, v)
		default:
			size, _ := pl.values[v].Bytes()
			pl.places[v] = where{kind: inScratch, of: int(pl.scratch), part: pl.parts}
			pl.parts++
			pl.scratch += size
			if err := block.Fits(pl.scratch); err != nil {
				return errs.Wrap(err, errs.ResourceExhausted, "map", "a value %s", pl.values[v])
			}
		}
	}
	return nil
}

// read tells which values are read from memory: by what is not a loop of the group
// that makes them.
func (pl *planner) read() map[int]bool {
	read := map[int]bool{}
	for i, n := range pl.seg.nodes {
		for _, v := range n.In {
			if pl.bounds[i].loop == nil || pl.group[v] != pl.group[n.out] {
				read[v] = true
			}
		}
	}
	return read
}

// write makes the steps.
func (pl *planner) write() {
	for i := 0; i < len(pl.seg.nodes); i++ {
		n, b := pl.seg.nodes[i], pl.bounds[i]
		switch {
		case b.loop != nil:
			g := pl.group[n.out]
			from := i
			for i+1 < len(pl.seg.nodes) && (pl.group[pl.seg.nodes[i+1].out] == g || pl.bounds[i+1].constant != nil) {
				i++
			}
			pl.writeGroup(from, i+1)
		case b.step != nil:
			pl.steps = append(pl.steps, pl.writeStep(n, b.step))
		}
	}
	if pl.seg.function != nil {
		return
	}
	for k, v := range pl.p.outputs {
		if w := pl.places[v]; w.kind != inOutput || w.of != k {
			pl.steps = append(pl.steps, copyOutput(v, k))
		}
	}
}

func (pl *planner) writeStep(n *node, s step) func(r *run, rows int64) {
	return func(r *run, rows int64) {
		r.in = r.in[:0]
		for _, v := range n.In {
			r.in = append(r.in, r.now[v])
		}
		s(&r.chance, rows, r.in, &r.now[n.out])
	}
}

// copyOutput makes component k of the results a value that is elsewhere. Outputs are
// after the values in run.now.
func copyOutput(v, k int) func(r *run, rows int64) {
	return func(r *run, rows int64) {
		from, to := r.now[v], r.out[k]
		switch {
		case from.Text != nil && from.uniform:
			for range rows {
				to.Text.AppendRange(from.Text, 0, from.Text.Len())
			}
		case from.Text != nil:
			to.Text.AppendRange(from.Text, 0, from.Text.Len())
		case from.uniform:
			for i := range rows {
				copy(to.Data[i*to.RowBytes:], from.Data)
			}
		default:
			copy(to.Data, from.Data[:rows*from.RowBytes])
		}
	}
}

// place points run.now at the memory of n rows from row from on.
func (pl *plan) place(r *run, from, n, rows int64, out block.Block) {
	r.out = r.out[:0]
	for _, c := range out.Columns {
		if c.Text == nil {
			c.Data = c.Data[from*c.RowBytes : (from+n)*c.RowBytes]
		}
		r.out = append(r.out, c)
	}
	for _, v := range pl.order {
		w, o := pl.places[v], &r.now[v]
		if w.kind == inView {
			*o = r.now[w.of]
			o.Component = pl.values[v]
			continue
		}
		*o = pl.operand(v)
		switch w.kind {
		case inConst:
			o.Column, o.uniform = *w.column, true
		case inWhole:
			o.Column, o.uniform = r.part(v, from, n, rows), r.whole[v].uniform
		case inOutput:
			o.Column = r.out[w.of]
		case inScratch:
			if o.IsText() {
				r.texts[v] = block.Text{Starts: r.texts[v].Starts[:0], Ends: r.texts[v].Ends[:0]} // it may borrow its bytes
				o.Text = &r.texts[v]
				continue
			}
			at := block.AlignUp(int64(w.of)*n) + int64(w.part)*block.Align
			o.Data = r.scratch[at : at+n*o.RowBytes]
		}
	}
}

// part returns n rows of the rows that a value has, from row from on.
func (r *run) part(v int, from, n, rows int64) block.Column {
	c := r.whole[v].Column
	if n == rows || r.whole[v].uniform {
		return c
	}
	if c.Text == nil {
		return block.Column{Data: c.Data[from*c.RowBytes : (from+n)*c.RowBytes], RowBytes: c.RowBytes}
	}
	each := r.whole[v].Count()
	r.views[v] = block.Text{Data: c.Text.Data, Starts: c.Text.Starts[from*each : (from+n)*each], Ends: c.Text.Ends[from*each : (from+n)*each]}
	return block.Column{Text: &r.views[v]}
}
