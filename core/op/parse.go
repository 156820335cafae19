package op

import (
	"encoding/json"
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// node is an operation of a program.
type node struct {
	Op    string          `json:"op"`
	In    []int           `json:"in"`
	Attrs json.RawMessage `json:"attrs"`

	out   int // its first result; the others follow
	bound *binding
}

// attrs reads the attributes of a node.
func (n *node) attrs(into any) error {
	if len(n.Attrs) == 0 {
		return nil
	}
	if err := json.Unmarshal(n.Attrs, into); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, n.Op, "attributes %.200s", n.Attrs)
	}
	return nil
}

// refuse returns the error for operands that an operation does not take.
func (n *node) refuse(in []spec.Component) error {
	return errs.New(errs.InvalidArgument, n.Op, "not for %v", in)
}

// binding is an operation bound to its attributes and what its operands are like.
// It has one of loop, view, step, constant and function.
type binding struct {
	out      []spec.Component
	loop     loop
	view     bool // the operand's values in its order, with another shape
	step     step
	constant *block.Column
	function function
}

// binder binds a node for operands like these; their dimensions may be -1.
type binder func(n *node, in []spec.Component) (*binding, error)

// binders is the operations by name. It is filled by the init functions of this
// package.
var binders = map[string]binder{}

// Limits of what is read, far beyond what functions are traced to.
const (
	maxNodes = 1 << 16
	maxRank  = 64
)

// Parse reads a program of elements like in; see the package comment.
func Parse(text []byte, in *spec.Element) (dataset.Program, error) {
	var form struct {
		Nodes     []*node        `json:"nodes"`
		Outputs   []int          `json:"outputs"`
		Structure spec.Structure `json:"structure"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "map", "the program cannot be read")
	}
	if len(form.Nodes) > maxNodes {
		return nil, errs.New(errs.InvalidArgument, "map", "a program of %d operations", len(form.Nodes))
	}
	p := &program{inputs: len(in.Components), outputs: form.Outputs, nodes: form.Nodes}
	p.values = slices.Clone(in.Components)
	for i, n := range p.nodes {
		if err := p.bind(n); err != nil {
			return nil, err
		}
		p.maker = append(p.maker, slices.Repeat([]int{i}, len(n.bound.out))...)
	}
	p.spec = &spec.Element{Structure: form.Structure}
	for _, v := range form.Outputs {
		if v < 0 || v >= len(p.values) {
			return nil, errs.New(errs.InvalidArgument, "map", "the program has no value %d", v)
		}
		p.spec.Components = append(p.spec.Components, p.values[v])
	}
	if form.Structure.Leaves() != len(form.Outputs) {
		return nil, errs.New(errs.InvalidArgument, "map", "%d results in a structure of %d", len(form.Outputs), form.Structure.Leaves())
	}
	p.cut()
	return p, nil
}

func (p *program) bind(n *node) error {
	f := binders[n.Op]
	if f == nil {
		return errs.New(errs.InvalidArgument, "map", "there is no operation %q", n.Op)
	}
	in := make([]spec.Component, len(n.In))
	for i, v := range n.In {
		if v < 0 || v >= len(p.values) {
			return errs.New(errs.InvalidArgument, n.Op, "there is no value %d before it", v)
		}
		in[i] = p.values[v]
	}
	var err error
	if n.bound, err = f(n, in); err != nil {
		return err
	}
	n.out = len(p.values)
	for _, c := range n.bound.out {
		if len(c.Shape) > maxRank {
			return errs.New(errs.InvalidArgument, n.Op, "%d dimensions; %d is the most", len(c.Shape), maxRank)
		}
		if known(c) {
			if _, err := sizeOf(c, 1); err != nil {
				return err
			}
		}
	}
	p.values = append(p.values, n.bound.out...)
	return nil
}

// segment is nodes that run together. All but the last end with a function.
type segment struct {
	nodes    []*node
	function *node
	needs    []int // values from before it
	gives    []int // values of its nodes that others need
	plans    plans
}

// cut divides the nodes that outputs depend on into segments: functions, with what
// they depend on, come first.
func (p *program) cut() {
	live, early := make([]bool, len(p.nodes)), make([]bool, len(p.nodes))
	for _, v := range p.outputs {
		p.mark(live, v)
	}
	for i, n := range p.nodes {
		if live[i] && n.bound.function != nil {
			early[i] = true
			for _, v := range n.In {
				p.mark(early, v)
			}
		}
	}
	now := &segment{}
	for i, n := range p.nodes {
		switch {
		case !early[i]:
		case n.bound.function != nil:
			now.function = n
			p.segments = append(p.segments, now)
			now = &segment{}
		default:
			now.nodes = append(now.nodes, n)
		}
	}
	for i, n := range p.nodes {
		if live[i] && !early[i] {
			now.nodes = append(now.nodes, n)
		}
	}
	p.segments = append(p.segments, now)
	p.remakes = len(p.segments) > 2 || len(p.segments) > 1 && len(p.segments[0].nodes) > 0
	p.connect()
}

// mark marks what value v depends on.
func (p *program) mark(marks []bool, v int) {
	if v < p.inputs || marks[p.maker[v-p.inputs]] {
		return
	}
	i := p.maker[v-p.inputs]
	marks[i] = true
	for _, in := range p.nodes[i].In {
		p.mark(marks, in)
	}
}

// connect finds which values go from segment to segment.
func (p *program) connect() {
	needed := map[int]bool{} // by the segments after the one that is looked at
	for _, v := range p.outputs {
		needed[v] = true
	}
	for i := len(p.segments) - 1; i >= 0; i-- {
		s := p.segments[i]
		if s.function != nil {
			for _, v := range s.function.In {
				needed[v] = true
			}
		}
		inside := map[int]bool{}
		for _, n := range s.nodes {
			inside[n.out] = true
		}
		for v := range inside {
			if needed[v] {
				s.gives = append(s.gives, v)
				delete(needed, v)
			}
		}
		outside := map[int]bool{}
		for _, n := range s.nodes {
			for _, v := range n.In {
				if !inside[v] {
					outside[v] = true
				}
			}
		}
		if s.function == nil {
			for _, v := range p.outputs {
				if !inside[v] {
					outside[v] = true
				}
			}
		}
		for v := range outside {
			s.needs, needed[v] = append(s.needs, v), true
		}
		slices.Sort(s.needs)
		slices.Sort(s.gives)
	}
}
