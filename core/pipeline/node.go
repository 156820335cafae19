package pipeline

import (
	"bytes"
	"encoding/json"

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

	handle uint64   // of the dataset that stands for this node; 0: none
	built  *Dataset // that was checked before
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

// UnmarshalJSON reads {"op": name, "inputs": [...], "args": {...}}, or a number: the
// handle of a dataset.
func (n *Node) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, &n.handle); err == nil {
		return nil
	}
	var head struct {
		Op     string            `json:"op"`
		Inputs []json.RawMessage `json:"inputs"`
		Args   json.RawMessage   `json:"args"`
	}
	if err := strictly(b, &head); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "definition", "cannot read %.80s", b)
	}
	make, known := ops[head.Op]
	if !known {
		return errs.New(errs.InvalidArgument, "definition", "there is no operation %q", head.Op)
	}
	n.Op = make()
	if err := strictly(head.Args, n.Op); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", head.Op)
	}
	for _, input := range head.Inputs {
		child := &Node{}
		if err := child.UnmarshalJSON(input); err != nil {
			return err
		}
		n.Inputs = append(n.Inputs, child)
	}
	return nil
}

func strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// resolve finds the datasets that nodes name by handle.
func (n *Node) resolve(find func(handle uint64) (*Dataset, error)) error {
	if n.handle != 0 {
		d, err := find(n.handle)
		if err != nil {
			return err
		}
		*n = Node{Op: d.root.Op, Inputs: d.root.Inputs, built: d}
		return nil
	}
	if n.Op == nil {
		return errs.New(errs.InvalidArgument, "definition", "a node without an operation")
	}
	if op, ok := n.Op.(resolving); ok {
		if err := op.resolve(find); err != nil {
			return err
		}
	}
	for _, input := range n.Inputs {
		if err := input.resolve(find); err != nil {
			return err
		}
	}
	return nil
}

// build returns the dataset of a tree and its height.
func (n *Node) build(depth int) (dataset.Definition, int, error) {
	if n.built != nil && n.built.height < maxDepth {
		return n.built.def, n.built.height, nil
	}
	if depth > maxDepth {
		return nil, 0, errs.New(errs.InvalidArgument, "definition", "more than %d operations on one another", maxDepth)
	}
	if want := n.Op.inputs(); want != len(n.Inputs) && (want != some || len(n.Inputs) == 0) {
		return nil, 0, errs.New(errs.InvalidArgument, "definition", "%s works on %d datasets; %d were given", n.Op.text(), want, len(n.Inputs))
	}
	var inputs []dataset.Definition
	height := 0
	for _, input := range n.Inputs {
		d, h, err := input.build(depth + 1)
		if err != nil {
			return nil, 0, err
		}
		inputs, height = append(inputs, d), max(height, h+1)
	}
	if _, bare := n.Op.(*Indexed); bare { // it looks at what its input is
		inputs[0] = uncounted(inputs[0])
	}
	d, err := n.made(inputs, height)
	if err != nil {
		return nil, 0, err
	}
	return count(d, n), height, nil
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

// visit calls f for every node, inputs first.
func (n *Node) visit(f func(*Node)) {
	for _, input := range n.Inputs {
		input.visit(f)
	}
	f(n)
}
