package pipeline

import (
	"fmt"
	"math"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/transform"
)

// Map is what MapFunc makes of each element.
type Map struct {
	onOne
	MapFunc Function `json:"map_func"`
}

func (m *Map) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	p, err := m.MapFunc.program(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.Map(inputs[0], p, uint64(height)), nil
}

func (m *Map) text() string { return fmt.Sprintf("map(%s)", m.MapFunc.text()) }

// Filter is the elements for which Predicate is true.
type Filter struct {
	onOne
	Predicate Function `json:"predicate"`
}

func (f *Filter) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	p, err := f.Predicate.program(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.Filter(inputs[0], p, uint64(height))
}

func (f *Filter) text() string { return fmt.Sprintf("filter(%s)", f.Predicate.text()) }

// TakeWhile is the elements before the first for which Predicate is false.
type TakeWhile struct {
	onOne
	Predicate Function `json:"predicate"`
}

func (t *TakeWhile) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	p, err := t.Predicate.program(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.TakeWhile(inputs[0], p, uint64(height))
}

func (t *TakeWhile) text() string { return fmt.Sprintf("take_while(%s)", t.Predicate.text()) }

// Scan is what ScanFunc makes of a state and each element.
type Scan struct {
	onOne
	InitialState Tensors  `json:"initial_state"`
	ScanFunc     Function `json:"scan_func"`
}

func (s *Scan) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	initial, p, err := folding(&s.InitialState, &s.ScanFunc, inputs[0])
	if err != nil {
		return nil, err
	}
	return transform.Scan(inputs[0], initial, p, uint64(height))
}

func (s *Scan) text() string { return fmt.Sprintf("scan(%s)", s.ScanFunc.text()) }

// Reduce is the one state that ReduceFunc makes of a first one and all elements.
type Reduce struct {
	onOne
	InitialState Tensors  `json:"initial_state"`
	ReduceFunc   Function `json:"reduce_func"`
}

func (r *Reduce) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	initial, p, err := folding(&r.InitialState, &r.ReduceFunc, inputs[0])
	if err != nil {
		return nil, err
	}
	return transform.Reduce(inputs[0], initial, p, uint64(height))
}

func (r *Reduce) text() string { return fmt.Sprintf("reduce(%s)", r.ReduceFunc.text()) }

// folding returns the first state of a scan, in memory of its own, and the program of
// pairs of a state and an element.
func folding(state *Tensors, f *Function, in dataset.Definition) (block.Block, dataset.Program, error) {
	first, err := state.block()
	if err != nil {
		return first, nil, err
	}
	e := in.Spec()
	pair := &spec.Element{
		Structure:  spec.Structure{Kind: spec.Tuple, Items: []spec.Structure{first.Shapes.Structure, e.Structure}},
		Components: append(append([]spec.Component{}, first.Shapes.Components...), e.Components...),
	}
	p, err := f.program(pair)
	return first, p, err
}

// block returns the tensors as the only row of a block.
func (t *Tensors) block() (block.Block, error) {
	var kept block.Buffer
	_, err := arrays(t.Structure, t.Arrays, 1, func(e *spec.Element, numbers [][]byte, texts []*block.Text) (dataset.Definition, error) {
		b, err := kept.Block(e, 1)
		if err != nil {
			return nil, err
		}
		for i, c := range b.Columns {
			if c.Text != nil {
				c.Text.AppendRange(texts[0], 0, texts[0].Len())
				texts = texts[1:]
			} else if copy(c.Data, numbers[i]) != len(c.Data) {
				return nil, errs.New(errs.InvalidArgument, "tensors", "component%s has %d bytes; %d were expected", e.Name(i), len(numbers[i]), len(c.Data))
			}
		}
		return nil, nil
	})
	if err != nil {
		return block.Block{}, err
	}
	return kept.Blocks()[0], nil
}

// Enumerate is pairs of a number, counted from Start, and an element.
type Enumerate struct {
	onOne
	Start int64 `json:"start"`
}

func (e *Enumerate) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	if n := inputs[0].Cardinality(); n > 0 && e.Start > math.MaxInt64-(n-1) {
		return nil, errs.New(errs.InvalidArgument, "enumerate", "numbers of %d elements from %d on are more than an int64 holds; give a smaller start", n, e.Start)
	}
	return transform.Enumerate(inputs[0], e.Start), nil
}

func (e *Enumerate) text() string { return fmt.Sprintf("enumerate(start=%d)", e.Start) }

// Zip is elements of all inputs side by side, nested as Structure says.
type Zip struct {
	Structure spec.Structure `json:"structure"`
}

func (*Zip) inputs() int { return some }

func (z *Zip) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Zip(z.Structure, inputs...)
}

func (z *Zip) text() string { return "zip()" }

// Concatenate is the elements of one input after the other.
type Concatenate struct{}

func (*Concatenate) inputs() int { return some }

func (*Concatenate) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Concatenate(inputs...)
}

func (*Concatenate) text() string { return "concatenate()" }

// Unbatch is the rows of its input's elements.
type Unbatch struct{ onOne }

func (*Unbatch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Unbatch(inputs[0])
}

func (*Unbatch) text() string { return "unbatch()" }
