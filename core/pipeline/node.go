package pipeline

import (
	"infeed/core/dataset"
	"infeed/core/errs"
)

// Op is one operation with its arguments.
type Op interface {
	// inputs is how many datasets the operation works on; some: one or more.
	inputs() int
	// build returns the dataset that the operation makes of its inputs. height is
	// how many datasets lie under it.
	build(inputs []dataset.Definition, height int) (dataset.Definition, error)
	// text names the operation and its arguments, as they are written in Python.
	text() string
}

const some = -1

// Node is an operation and the nodes whose datasets it works on.
type Node struct {
	Op     Op
	Inputs []*Node

	built *Dataset // that was checked before
}

// origin returns the node that was built, of which n may be a copy.
func (n *Node) origin() *Node {
	if n.built != nil {
		return n.built.root.origin()
	}
	return n
}

// Chain returns the node of the last of ops, each of which works on the one
// before it.
func Chain(ops ...Op) *Node {
	var n *Node
	for _, op := range ops {
		next := &Node{Op: op}
		if n != nil {
			next.Inputs = []*Node{n}
		}
		n = next
	}
	return n
}

// maxDepth bounds how many operations a definition has on one another.
const maxDepth = 1000

// build returns the dataset of a node and how many others it has under it.
func (n *Node) build() (dataset.Definition, int, error) {
	d := n.built
	if d == nil {
		var err error
		if d, err = (&building{}).node(n); err != nil {
			return nil, 0, err
		}
	}
	return d.def, d.height, nil
}

// building knows what was built below others, since several may work on one.
type building struct{ done map[*Node]*Dataset }

func (b *building) input(n *Node) (*Dataset, error) {
	if n.built != nil {
		return n.built, nil
	}
	if d := b.done[n]; d != nil {
		return d, nil
	}
	d, err := b.node(n)
	if err != nil {
		return nil, err
	}
	if b.done == nil {
		b.done = map[*Node]*Dataset{}
	}
	b.done[n] = d
	return d, nil
}

func (b *building) node(n *Node) (*Dataset, error) {
	if n.Op == nil {
		return nil, errs.New(errs.InvalidArgument, "definition", "a node without an operation")
	}
	if want := n.Op.inputs(); want != len(n.Inputs) && (want != some || len(n.Inputs) == 0) {
		return nil, errs.New(errs.InvalidArgument, "definition", "%s works on %d datasets; %d were given", n.Op.text(), want, len(n.Inputs))
	}
	d := &Dataset{root: n}
	var inputs []dataset.Definition
	for _, input := range n.Inputs {
		in, err := b.input(input)
		if err != nil {
			return nil, err
		}
		inputs, d.height = append(inputs, in.def), max(d.height, in.height+1)
	}
	if d.height > maxDepth {
		return nil, errs.New(errs.InvalidArgument, "definition", "more than %d operations on one another", maxDepth)
	}
	if _, bare := n.Op.(*Indexed); bare { // it looks at what its input is
		inputs[0] = uncounted(inputs[0])
	}
	made, err := n.made(inputs, d.height)
	if err != nil {
		return nil, err
	}
	d.def = count(made, n)
	return d, nil
}

// builtOnNode is an operation that needs more of its inputs than their datasets.
type builtOnNode interface {
	buildOn(n *Node, inputs []dataset.Definition) (dataset.Definition, error)
}

// made returns the dataset that the operation makes of its inputs.
func (n *Node) made(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	if op, ok := n.Op.(builtOnNode); ok {
		return op.buildOn(n, inputs)
	}
	return n.Op.build(inputs, height)
}

// visit calls f for every node, inputs first, each once. Where one is met again, again
// is called, unless it is nil, with its place among them.
func (n *Node) visit(f func(*Node), again func(place int)) {
	(&visiting{f, again, map[*Node]int{}}).node(n)
}

type visiting struct {
	f      func(*Node)
	again  func(place int)
	places map[*Node]int
}

func (v *visiting) node(n *Node) {
	if place, seen := v.places[n.origin()]; seen {
		if v.again != nil {
			v.again(place)
		}
		return
	}
	for _, input := range n.Inputs {
		v.node(input)
	}
	v.places[n.origin()] = len(v.places)
	v.f(n)
}
