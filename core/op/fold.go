package op

import (
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/spec"
)

// folding is a program of a state and an element, each component of whose next state is
// one elementwise operation on the state's and on what depends on the element alone: a
// sum, a count, a largest value. It is the program of the latter, of many elements at
// once, and the operations, which are done one element after the other.
type folding struct {
	*program
	into []fold // of each component of the state
}

// fold is an operation; none leaves the component as it is.
type fold struct {
	loop  loop
	value int  // the column of what is folded in
	last  bool // the state is the second operand
}

// Apart implements dataset.Divisible.
func (p *program) Apart(states int) dataset.Folding {
	f := &folding{into: make([]fold, states)}
	if len(p.outputs) != states {
		return nil
	}
	var values []int // that are folded in
	for k, v := range p.outputs {
		if v == k {
			continue
		}
		value, last, ok := p.operandBeside(k, v)
		if !ok {
			return nil
		}
		f.into[k] = fold{p.nodes[p.maker[v-p.inputs]].bound.loop, len(values), last}
		values = append(values, value)
	}
	f.program = p.without(states, values)
	if f.program == nil {
		return nil
	}
	return f
}

// operandBeside returns the other operand, where value v is made by a loop of component k
// of the state and of another value like it; last tells that the state comes second.
func (p *program) operandBeside(k, v int) (value int, last, ok bool) {
	if v < p.inputs || !known(p.values[k]) {
		return 0, false, false
	}
	n := p.nodes[p.maker[v-p.inputs]]
	if n.bound.loop == nil || len(n.In) != 2 || n.In[0] == n.In[1] {
		return 0, false, false
	}
	i := slices.Index(n.In, k)
	if i < 0 {
		return 0, false, false
	}
	value = n.In[1-i]
	return value, i == 1, p.values[v].Equal(p.values[k]) && p.values[value].Equal(p.values[k])
}

// without returns the program of some values for elements without the first components,
// or nil where one depends on these.
func (p *program) without(first int, values []int) *program {
	out := &program{inputs: p.inputs - first, values: slices.Clone(p.values[first:p.inputs])}
	live, number := make([]bool, len(p.nodes)), map[int]int{}
	for _, v := range values {
		p.mark(live, v)
	}
	for v := first; v < p.inputs; v++ {
		number[v] = v - first
	}
	renumbered := func(in []int) (to []int, ok bool) {
		for _, v := range in {
			n, ok := number[v]
			if !ok {
				return nil, false
			}
			to = append(to, n)
		}
		return to, true
	}
	for i, n := range p.nodes {
		if !live[i] {
			continue
		}
		in, ok := renumbered(n.In)
		moved := &node{Op: n.Op, In: in, Attrs: n.Attrs}
		if !ok || out.bind(moved) != nil {
			return nil
		}
		out.nodes = append(out.nodes, moved)
		for k := range n.bound.out {
			number[n.out+k] = moved.out + k
			out.maker = append(out.maker, len(out.nodes)-1)
		}
	}
	var ok bool
	if out.outputs, ok = renumbered(values); !ok {
		return nil
	}
	out.spec = &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(values))}}
	for _, v := range out.outputs {
		out.spec.Components = append(out.spec.Components, out.values[v])
	}
	out.cut()
	return out
}

// Fold implements dataset.Folding.
func (f *folding) Fold(state []block.Column, values block.Block) {
	for k, fold := range f.into {
		if fold.loop == nil {
			continue
		}
		s, v, n := state[k].Data, values.Columns[fold.value].Data, int64(len(state[k].Data))
		for r := range values.Rows {
			if x := v[r*n : (r+1)*n]; fold.last {
				fold.loop(s, x, s, nil)
			} else {
				fold.loop(s, s, x, nil)
			}
		}
	}
}
