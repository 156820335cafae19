package pipeline

import (
	"encoding/json"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// resolving is an operation whose arguments name datasets by handle.
type resolving interface {
	resolve(find func(handle uint64) (*Dataset, error)) error
}

// containing is an operation with seeds in the datasets that its functions return.
type containing interface {
	Op
	seeds() []uint64
	withSeeds(seeds *[]uint64) Op
}

// skeleton is a template that was read and checked as far as it can be.
type skeleton struct{ root *part }

// part is an operation of a template. It is of one of these kinds: a dataset of the
// element, a source of values, a dataset that was built already since it depends on
// nothing, an operation whose arguments are known, and one with values in them.
type part struct {
	op     string
	input  int // of the element's datasets; -1: none
	source *valuesSource
	built  dataset.Definition // with its height
	height int
	made   Op
	pieces [][]byte // of the arguments; hole i is between pieces i and i+1
	holes  []hole
	// seed is that of an operation with values; drawn says that the user gave none.
	seed   *uint64
	drawn  bool
	inputs []*part
}

// hole is where a value goes into arguments, and how.
type hole struct {
	value int
	kind  string // $value: as it is; $const: as the attributes of a constant; $bytes: in base64
}

// valuesSource is the arguments of slices_of_values and tensors_of_values.
type valuesSource struct {
	Structure spec.Structure `json:"structure"`
	Values    []int          `json:"values"`
}

const (
	opInput   = "input"
	opSlices  = "slices_of_values"
	opTensors = "tensors_of_values"
)

func readSkeleton(text json.RawMessage, find func(uint64) (*Dataset, error)) (*skeleton, error) {
	root, err := readPart(text, find, 0)
	if err != nil {
		return nil, err
	}
	return settled(root)
}

// settled builds what depends on no element.
func settled(root *part) (*skeleton, error) {
	return &skeleton{root}, root.settle()
}

func (p *part) settle() error {
	fixed := p.made != nil
	for _, in := range p.inputs {
		if err := in.settle(); err != nil {
			return err
		}
		fixed = fixed && in.built != nil
	}
	if !fixed {
		return nil
	}
	var err error
	p.built, p.height, err = p.build(values{}, nil)
	return err
}

func readPart(text json.RawMessage, find func(uint64) (*Dataset, error), depth int) (*part, error) {
	if depth > maxDepth {
		return nil, errs.New(errs.InvalidArgument, "definition", "more than %d operations on one another", maxDepth)
	}
	var handle uint64
	if err := json.Unmarshal(text, &handle); err == nil {
		return namedPart(handle, find)
	}
	var head struct {
		Op     string            `json:"op"`
		Inputs []json.RawMessage `json:"inputs"`
		Args   json.RawMessage   `json:"args"`
	}
	if err := strictly(text, &head); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "definition", "cannot read %.80s", text)
	}
	p := &part{op: head.Op, input: -1}
	for _, input := range head.Inputs {
		in, err := readPart(input, find, depth+1)
		if err != nil {
			return nil, err
		}
		p.inputs = append(p.inputs, in)
	}
	return p, p.read(head.Args, find)
}

// namedPart is a dataset that was checked before.
func namedPart(handle uint64, find func(uint64) (*Dataset, error)) (*part, error) {
	if find == nil {
		return nil, errs.New(errs.InvalidArgument, "definition", "nobody knows dataset %d", handle)
	}
	d, err := find(handle)
	if err != nil {
		return nil, err
	}
	return treePart(d.root), nil
}

// treePart is a tree of operations that were made already.
func treePart(n *Node) *part {
	p := &part{op: n.Op.text(), input: -1, made: n.Op}
	for _, in := range n.Inputs {
		p.inputs = append(p.inputs, treePart(in))
	}
	return p
}

// read reads the arguments.
func (p *part) read(args json.RawMessage, find func(uint64) (*Dataset, error)) error {
	switch p.op {
	case opInput:
		var a struct {
			Index int `json:"index"`
		}
		if err := strictly(args, &a); err != nil || a.Index < 0 {
			return errs.New(errs.InvalidArgument, "definition", "the arguments %.80s of input", args)
		}
		p.input = a.Index
		return nil
	case opSlices, opTensors:
		p.source = &valuesSource{}
		if err := strictly(args, p.source); err != nil {
			return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", p.op)
		}
		return nil
	}
	make, known := ops[p.op]
	if !known {
		return errs.New(errs.InvalidArgument, "definition", "there is no operation %q", p.op)
	}
	if err := p.cut(args); err != nil {
		return err
	}
	op := make()
	if err := p.readSeed(args, op); err != nil || len(p.holes) > 0 {
		return err
	}
	p.made = op
	if err := strictly(args, p.made); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", p.op)
	}
	if r, ok := p.made.(resolving); ok {
		return r.resolve(find)
	}
	return nil
}

// readSeed finds whether a seed was drawn, and that of an operation with values in
// other arguments.
func (p *part) readSeed(args json.RawMessage, like Op) error {
	if _, ok := like.(seeded); !ok {
		return nil
	}
	var a struct {
		Seed  json.RawMessage `json:"seed"`
		Drawn bool            `json:"drawn"`
	}
	if err := json.Unmarshal(args, &a); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", p.op)
	}
	var seed uint64
	if json.Unmarshal(a.Seed, &seed) == nil {
		p.drawn = a.Drawn
		if len(p.holes) > 0 {
			p.seed = &seed
		}
	}
	return nil
}
