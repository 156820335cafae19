package pipeline

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sort"

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

// cut divides arguments at the values.
func (p *part) cut(args json.RawMessage) error {
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "definition", "the arguments of %s", p.op)
	}
	c := cutter{}
	if err := c.write(tree); err != nil {
		return err
	}
	p.pieces, p.holes = append(c.pieces, c.now), c.holes
	return nil
}

// cutter writes JSON in pieces.
type cutter struct {
	pieces [][]byte
	holes  []hole
	now    []byte
}

func (c *cutter) write(tree any) error {
	switch t := tree.(type) {
	case map[string]any:
		for name, value := range t {
			if k, ok := value.(json.Number); ok && len(t) == 1 && (name == "$value" || name == "$const" || name == "$bytes") {
				return c.hole(k, name)
			}
		}
		return c.object(t)
	case []any:
		c.now = append(c.now, '[')
		for i, x := range t {
			if i > 0 {
				c.now = append(c.now, ',')
			}
			if err := c.write(x); err != nil {
				return err
			}
		}
		c.now = append(c.now, ']')
		return nil
	}
	b, err := json.Marshal(tree)
	c.now = append(c.now, b...)
	return err
}

func (c *cutter) hole(k json.Number, kind string) error {
	n, err := k.Int64()
	if err != nil || n < 0 || n > 1<<20 {
		return errs.New(errs.InvalidArgument, "definition", "value %s", k)
	}
	c.pieces, c.holes, c.now = append(c.pieces, c.now), append(c.holes, hole{int(n), kind}), nil
	return nil
}

// object writes an object. Templates in it have values of their own.
func (c *cutter) object(t map[string]any) error {
	keys := make([]string, 0, len(t))
	for k := range t {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		sep := byte(',')
		if i == 0 {
			sep = '{'
		}
		name, err := json.Marshal(k)
		if err != nil {
			return err
		}
		c.now = append(append(append(c.now, sep), name...), ':')
		if k == "template" {
			b, err := json.Marshal(t[k])
			if err != nil {
				return err
			}
			c.now = append(c.now, b...)
		} else if err := c.write(t[k]); err != nil {
			return err
		}
	}
	if len(keys) == 0 {
		c.now = append(c.now, '{')
	}
	c.now = append(c.now, '}')
	return nil
}

// build returns the dataset for values and the datasets of an element.
func (s *skeleton) build(v values, inputs []dataset.Definition) (dataset.Definition, error) {
	d, _, err := s.root.build(v, inputs)
	return d, err
}

func (p *part) build(v values, given []dataset.Definition) (dataset.Definition, int, error) {
	switch {
	case p.built != nil:
		return p.built, p.height, nil
	case p.input >= len(given):
		return nil, 0, errs.New(errs.InvalidArgument, "function", "input %d of an element with %d datasets", p.input, len(given))
	case p.input >= 0:
		return given[p.input], 0, nil
	case p.source != nil:
		d, err := v.source(p.source.Structure, p.source.Values, p.op == opSlices)
		return d, 0, err
	}
	op := p.made
	if op == nil {
		var err error
		if op, err = p.filled(v); err != nil {
			return nil, 0, err
		}
	}
	if want := op.inputs(); want != len(p.inputs) && (want != some || len(p.inputs) == 0) {
		return nil, 0, errs.New(errs.InvalidArgument, "definition", "%s works on %d datasets; %d were given", op.text(), want, len(p.inputs))
	}
	inputs, height := make([]dataset.Definition, len(p.inputs)), 0
	for i, in := range p.inputs {
		d, h, err := in.build(v, given)
		if err != nil {
			return nil, 0, err
		}
		inputs[i], height = d, max(height, h+1)
	}
	d, err := op.build(inputs, height)
	return d, height, err
}

// filled returns the operation with values as arguments.
func (p *part) filled(v values) (Op, error) {
	var args []byte
	for i, piece := range p.pieces {
		args = append(args, piece...)
		if i == len(p.holes) {
			break
		}
		var err error
		if args, err = v.fill(args, p.holes[i]); err != nil {
			return nil, err
		}
	}
	op := ops[p.op]()
	if err := strictly(args, op); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, p.op, "the arguments %.200s", args)
	}
	if r, ok := op.(resolving); ok {
		if err := r.resolve(nil); err != nil {
			return nil, err
		}
	}
	if p.seed != nil {
		op = op.(seeded).reseeded(*p.seed)
	}
	return op, nil
}

// visit calls f for every part, inputs first.
func (s *skeleton) visit(f func(*part)) { s.root.visit(f) }

func (p *part) visit(f func(*part)) {
	for _, in := range p.inputs {
		in.visit(f)
	}
	f(p)
}

// text names the operation and its arguments.
func (p *part) text() string {
	switch {
	case p.made != nil:
		return p.made.text()
	case p.input >= 0:
		return fmt.Sprintf("input %d", p.input)
	case p.source != nil:
		return fmt.Sprintf("%s(%v)", p.op, p.source.Values)
	}
	return fmt.Sprintf("%s(of %v)", p.op, p.holes)
}

// seeds returns the seeds that may have been drawn.
func (p *part) seeds() []uint64 {
	switch op := p.made.(type) {
	case seeded:
		return []uint64{op.seed()}
	case containing:
		return op.seeds()
	}
	if p.seed != nil {
		return []uint64{*p.seed}
	}
	return nil
}

// withSeeds returns a copy with the first of seeds, as many as there are.
func (s *skeleton) withSeeds(seeds *[]uint64) (*skeleton, error) {
	next := func() uint64 {
		seed := (*seeds)[0]
		*seeds = (*seeds)[1:]
		return seed
	}
	return settled(s.root.copied(func(p *part) {
		switch op := p.made.(type) {
		case seeded:
			p.made = op.reseeded(next())
		case containing:
			p.made = op.withSeeds(seeds)
		}
		if p.seed != nil {
			seed := next()
			p.seed = &seed
		}
	}))
}

// drawnAs returns a copy in which seeds that were drawn are this one.
func (s *skeleton) drawnAs(seed uint64) (*skeleton, error) {
	return settled(s.root.copied(func(p *part) {
		if op, ok := p.made.(seeded); ok && p.drawn {
			p.made = op.reseeded(seed)
		} else if p.drawn && p.seed != nil {
			p.seed = &seed
		}
	}))
}

// copied returns a copy of a tree whose parts f has changed, inputs first.
func (p *part) copied(f func(*part)) *part {
	out := *p
	out.built = nil
	out.inputs = make([]*part, len(p.inputs))
	for i, in := range p.inputs {
		out.inputs[i] = in.copied(f)
	}
	f(&out)
	return &out
}
