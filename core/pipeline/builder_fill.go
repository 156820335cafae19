package pipeline

import (
	"fmt"

	"infeed/core/dataset"
	"infeed/core/errs"
)

// madePart is the dataset of a part, for one element.
type madePart struct {
	def    dataset.Definition
	height int
}

// build returns the dataset for values and the datasets of an element.
func (s *skeleton) build(v values, inputs []dataset.Definition) (dataset.Definition, error) {
	made := make([]madePart, len(s.parts))
	for _, place := range s.open {
		d, height, err := s.make(place, v, inputs, made)
		if err != nil {
			return nil, err
		}
		made[place] = madePart{d, height}
	}
	return made[len(made)-1].def, nil
}

// make returns the dataset of a part and its height; made has those that it works on,
// unless they are built already.
func (s *skeleton) make(place int, v values, given []dataset.Definition, made []madePart) (dataset.Definition, int, error) {
	p := s.parts[place]
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
		input := madePart{s.parts[in].built, s.parts[in].height}
		if input.def == nil {
			input = made[in]
		}
		inputs[i], height = input.def, max(height, input.height+1)
	}
	if height > maxDepth {
		return nil, 0, errs.New(errs.InvalidArgument, "definition", "more than %d operations on one another", maxDepth)
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

// visit calls f for every part, inputs first, each once; again, unless it is nil, where
// one is met once more.
func (s *skeleton) visit(f func(*part), again func(place int)) {
	places := map[int]int{}
	var at func(place int)
	at = func(place int) {
		if seen, met := places[place]; met {
			if again != nil {
				again(seen)
			}
			return
		}
		for _, in := range s.parts[place].inputs {
			at(in)
		}
		places[place] = len(places)
		f(s.parts[place])
	}
	at(len(s.parts) - 1)
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
	return s.copied(func(p *part) {
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
	})
}

// drawnAs returns a copy in which seeds that were drawn are this one.
func (s *skeleton) drawnAs(seed uint64) (*skeleton, error) {
	return s.copied(func(p *part) {
		if op, ok := p.made.(seeded); ok && p.drawn {
			p.made = op.reseeded(seed)
		} else if p.drawn && p.seed != nil {
			p.seed = &seed
		}
	})
}

// copied returns a copy whose parts f has changed, inputs first.
func (s *skeleton) copied(f func(*part)) (*skeleton, error) {
	copies, parts := map[*part]*part{}, make([]*part, len(s.parts))
	for i, p := range s.parts {
		out := *p
		out.built = nil
		copies[p], parts[i] = &out, &out
	}
	s.visit(func(p *part) { f(copies[p]) }, nil)
	return settled(parts)
}
