package pipeline

import (
	"encoding/json"
	"fmt"
	"strconv"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/source"
	"infeed/core/spec"
)

// noInputs is for operations that are sources.
type noInputs struct{}

func (noInputs) inputs() int { return 0 }

// Range is the numbers from Start up to Stop, Step apart.
type Range struct {
	noInputs
	Start      int64  `json:"start"`
	Stop       int64  `json:"stop"`
	Step       int64  `json:"step"`
	OutputType string `json:"output_type"` // NumPy's dtype.str
}

func (r *Range) build([]dataset.Definition, int) (dataset.Definition, error) {
	dtype, err := spec.ParseDType(r.OutputType)
	if err != nil {
		return nil, err
	}
	return source.Range(r.Start, r.Stop, r.Step, dtype)
}

func (r *Range) text() string { return fmt.Sprintf("range(%d, %d, %d)", r.Start, r.Stop, r.Step) }

// Counter is the numbers from Start on, Step apart: both are integers, or any numbers
// where the dtype is of such.
type Counter struct {
	noInputs
	Start json.Number `json:"start"`
	Step  json.Number `json:"step"`
	DType string      `json:"dtype"` // NumPy's dtype.str
}

func (c *Counter) build([]dataset.Definition, int) (dataset.Definition, error) {
	dtype, err := spec.ParseDType(c.DType)
	if err != nil {
		return nil, err
	}
	start, err := strconv.ParseInt(c.Start.String(), 10, 64)
	if err == nil {
		var step int64
		if step, err = strconv.ParseInt(c.Step.String(), 10, 64); err == nil {
			return source.Counter(start, step, dtype)
		}
	}
	var real [2]float64
	for i, text := range []json.Number{c.Start, c.Step} {
		if real[i], err = text.Float64(); err != nil {
			return nil, errs.New(errs.InvalidArgument, "counter", "%q is no number", text)
		}
	}
	return source.RealCounter(real[0], real[1], dtype)
}

func (c *Counter) text() string { return fmt.Sprintf("counter(%s, %s)", c.Start, c.Step) }

// Random is random numbers.
type Random struct {
	noInputs
	Seed uint64 `json:"seed"`
	// Drawn says that the user gave no seed: a state's seed then counts.
	Drawn                    bool `json:"drawn"`
	RerandomizeEachIteration bool `json:"rerandomize_each_iteration"`
}

func (r *Random) build([]dataset.Definition, int) (dataset.Definition, error) {
	return source.Random(r.Seed, r.RerandomizeEachIteration), nil
}

func (r *Random) seed() uint64 { return r.Seed }

func (r *Random) reseeded(seed uint64) Op {
	copied := *r
	copied.Seed = seed
	return &copied
}

func (r *Random) text() string {
	seed := "None"
	if !r.Drawn {
		seed = fmt.Sprint(r.Seed)
	}
	return fmt.Sprintf("random(seed=%s, rerandomize_each_iteration=%s)", seed, python(r.RerandomizeEachIteration))
}

// Generator is what a generator of Python gives; see source.Generator.
type Generator struct {
	noInputs
	Function
	Stateful bool `json:"stateful"`
}

// requests describes what the function of a generator gets.
var requests = &spec.Element{
	Structure:  spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
	Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}, Shape: []int64{3}}, {DType: spec.Text}},
}

func (g *Generator) build([]dataset.Definition, int) (dataset.Definition, error) {
	program, err := g.program(requests)
	if err != nil {
		return nil, err
	}
	return source.FromGenerator(source.Generator{Function: program, Stateful: g.Stateful})
}

func (g *Generator) text() string { return "from_generator(" + g.Function.text() + ")" }

// Indexable is what a function makes for each number from 0 to Length-1.
type Indexable struct {
	noInputs
	Function
	Length int64 `json:"length"`
}

func (x *Indexable) build([]dataset.Definition, int) (dataset.Definition, error) {
	program, err := x.program(&spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}})
	if err != nil {
		return nil, err
	}
	return source.Indexable(program, x.Length)
}

func (x *Indexable) text() string {
	return fmt.Sprintf("from_indexable(%s, length=%d)", x.Function.text(), x.Length)
}
