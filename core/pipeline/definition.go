package pipeline

import (
	"bytes"
	"encoding/json"

	"infeed/core/errs"
)

// A definition as text is a JSON list of operations, each behind those that it works
// on, which it names by their places in the list:
//
//	[{"op": "range", "args": {...}}, {"op": "batch", "args": {...}, "inputs": [0]}]
//
// So one that is used twice is written once. {"handle": h} stands for a dataset that was
// read before. The last of them is what is defined.

// written is an operation as the list has it, or the handle of a dataset.
type written struct {
	Op     string          `json:"op"`
	Args   json.RawMessage `json:"args"`
	Inputs []int           `json:"inputs"`
	Handle uint64          `json:"handle"`
}

// readList reads a definition and checks that it is a list of operations.
func readList(text []byte) ([]written, error) {
	var list []written
	if err := strictly(text, &list); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "definition", "%.80s cannot be read", text)
	}
	if len(list) == 0 {
		return nil, errs.New(errs.InvalidArgument, "definition", "there is no operation in it")
	}
	for i, w := range list {
		for _, in := range w.Inputs {
			if in < 0 || in >= i {
				return nil, errs.New(errs.InvalidArgument, "definition", "operation %d works on number %d; it must be one before it", i, in)
			}
		}
	}
	return list, nil
}

func strictly(b []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(into)
}

// Finding returns the dataset that a handle names.
type Finding func(handle uint64) (*Dataset, error)

func (find Finding) dataset(handle uint64) (*Dataset, error) {
	if find == nil {
		return nil, errs.New(errs.InvalidArgument, "definition", "nobody knows dataset %d", handle)
	}
	return find(handle)
}

// operation reads the operation and its arguments.
func (w *written) operation(find Finding) (Op, error) {
	make, known := ops[w.Op]
	if !known {
		return nil, errs.New(errs.InvalidArgument, "definition", "there is no operation %q", w.Op)
	}
	op := make()
	if err := strictly(w.Args, op); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", w.Op)
	}
	if op, ok := op.(resolving); ok {
		return op.(Op), op.resolve(find)
	}
	return op, nil
}

// Parse reads a definition and checks it. It returns the datasets of all that is in it;
// those that it names by handle are the ones that find gives.
func Parse(text []byte, find Finding) ([]*Dataset, error) {
	list, err := readList(text)
	if err != nil {
		return nil, err
	}
	out, nodes := make([]*Dataset, len(list)), make([]*Node, len(list))
	for i, w := range list {
		n, err := w.node(nodes, find)
		if err != nil {
			return nil, err
		}
		if out[i] = n.built; w.Handle == 0 {
			if out[i], err = New(n); err != nil {
				return nil, err
			}
		}
		nodes[i] = out[i].node()
	}
	return out, nil
}

// readNode reads a definition that is built later.
func readNode(text []byte, find Finding) (*Node, error) {
	list, err := readList(text)
	if err != nil {
		return nil, err
	}
	nodes := make([]*Node, len(list))
	for i, w := range list {
		if nodes[i], err = w.node(nodes, find); err != nil {
			return nil, err
		}
	}
	return nodes[len(nodes)-1], nil
}

// node returns the node of what is behind others in a list.
func (w *written) node(before []*Node, find Finding) (*Node, error) {
	if w.Handle != 0 {
		d, err := find.dataset(w.Handle)
		if err != nil {
			return nil, err
		}
		return d.node(), nil
	}
	op, err := w.operation(find)
	if err != nil {
		return nil, err
	}
	n := &Node{Op: op}
	for _, in := range w.Inputs {
		n.Inputs = append(n.Inputs, before[in])
	}
	return n, nil
}

// node returns the dataset as what another operation works on.
func (d *Dataset) node() *Node { return &Node{Op: d.root.Op, Inputs: d.root.Inputs, built: d} }
