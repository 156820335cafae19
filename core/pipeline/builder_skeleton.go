package pipeline

import (
	"encoding/json"
	"slices"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// resolving is an operation whose arguments name datasets by handle.
type resolving interface {
	resolve(find Finding) error
}

// containing is an operation with seeds in the datasets that its functions return.
type containing interface {
	Op
	seeds() []uint64
	withSeeds(seeds *[]uint64) Op
}

// skeleton is a template that was read and checked as far as it can be.
type skeleton struct {
	parts []*part // each behind those that it works on
	open  []int   // places of those that are built for each element, and of what these need
}

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
	inputs []int // places in the skeleton
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

func readSkeleton(text json.RawMessage, find Finding) (*skeleton, error) {
	list, err := readList(text)
	if err != nil {
		return nil, err
	}
	r := reading{find: find, places: map[*Node]int{}}
	places := make([]int, len(list)) // in the skeleton, of what is in the list
	for i, w := range list {
		if places[i], err = r.part(w, places); err != nil {
			return nil, err
		}
	}
	return settled(r.parts)
}

// reading makes a skeleton of a text.
type reading struct {
	find   Finding
	parts  []*part
	places map[*Node]int // of the operations that were made already
}

// part adds what is in a list and returns its place.
func (r *reading) part(w written, places []int) (int, error) {
	if w.Handle != 0 {
		d, err := r.find.dataset(w.Handle)
		if err != nil {
			return 0, err
		}
		return r.made(d.root), nil
	}
	p := &part{op: w.Op, input: -1}
	for _, in := range w.Inputs {
		p.inputs = append(p.inputs, places[in])
	}
	r.parts = append(r.parts, p)
	return len(r.parts) - 1, p.read(&w, r.find)
}

// made adds operations that were made already.
func (r *reading) made(n *Node) int {
	if place, there := r.places[n.origin()]; there {
		return place
	}
	p := &part{op: n.Op.text(), input: -1, made: n.Op}
	for _, in := range n.Inputs {
		p.inputs = append(p.inputs, r.made(in))
	}
	r.parts = append(r.parts, p)
	r.places[n.origin()] = len(r.parts) - 1
	return len(r.parts) - 1
}

// settled builds what depends on no element.
func settled(parts []*part) (*skeleton, error) {
	s := &skeleton{parts: parts}
	for place, p := range parts {
		fixed := p.made != nil
		for _, in := range p.inputs {
			fixed = fixed && parts[in].built != nil
		}
		if !fixed {
			continue
		}
		var err error
		if p.built, p.height, err = s.make(place, values{}, nil, nil); err != nil {
			return nil, err
		}
	}
	needed := make([]bool, len(parts))
	needed[len(parts)-1] = true
	for place := len(parts) - 1; place >= 0; place-- {
		if p := parts[place]; needed[place] {
			s.open = append(s.open, place)
			for _, in := range p.inputs {
				needed[in] = needed[in] || p.built == nil
			}
		}
	}
	slices.Reverse(s.open)
	return s, nil
}

// read reads the arguments.
func (p *part) read(w *written, find Finding) (err error) {
	switch p.op {
	case opInput:
		var a struct {
			Index int `json:"index"`
		}
		if err := strictly(w.Args, &a); err != nil || a.Index < 0 {
			return errs.New(errs.InvalidArgument, "definition", "the arguments %.80s of input", w.Args)
		}
		p.input = a.Index
		return nil
	case opSlices, opTensors:
		p.source = &valuesSource{}
		if err := strictly(w.Args, p.source); err != nil {
			return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", p.op)
		}
		return nil
	}
	make, known := ops[p.op]
	if !known {
		return errs.New(errs.InvalidArgument, "definition", "there is no operation %q", p.op)
	}
	if err := p.cut(w.Args); err != nil {
		return err
	}
	if err := p.readSeed(w.Args, make()); err != nil || len(p.holes) > 0 {
		return err
	}
	p.made, err = w.operation(find)
	return err
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
