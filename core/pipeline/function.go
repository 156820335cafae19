package pipeline

import (
	"encoding/json"
	"fmt"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/op"
	"infeed/core/spec"
)

// Function is a function of elements: a program that the engine runs, or a function
// of Python that it has called.
type Function struct {
	// Name is how the function is called in messages and descriptions.
	Name    string          `json:"name"`
	Program json.RawMessage `json:"program"`

	// Call is the number of a function of Python; Spec describes its results.
	Call *int64        `json:"call"`
	Spec *spec.Element `json:"spec"`
	// Calls is how many calls are made at once; 0: one.
	Calls int `json:"calls"`
	// Hash tells apart functions that states must not mix up; not in use for
	// functions of Python, whose text may change.
	Hash string `json:"hash"`
}

// program returns what computes the function of elements.
func (f *Function) program(in *spec.Element) (dataset.Program, error) {
	if f.Call == nil {
		return op.Parse(f.Program, in)
	}
	if f.Spec == nil {
		return nil, errs.New(errs.InvalidArgument, "function", "%s has no spec of its results", f.Name)
	}
	return &called{function: *f.Call, spec: f.Spec, calls: min(max(f.Calls, 1), mostWorkers), name: f.Name}, nil
}

// text names the function in the structure of a dataset.
func (f *Function) text() string {
	if f.Hash == "" {
		return f.Name
	}
	return fmt.Sprintf("%s#%s", f.Name, f.Hash)
}

// called is a function of Python.
type called struct {
	function int64
	spec     *spec.Element
	calls    int
	name     string
}

func (c *called) Spec() *spec.Element { return c.spec }
func (c *called) Calls() int          { return c.calls }

func (c *called) Run(s *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	return c.RunAll(s, []block.Block{in}, dst)
}

// RunAll implements dataset.Gathering: to call Python costs more than most functions.
func (c *called) RunAll(s *dataset.Scope, in []block.Block, dst dataset.Sink) (int64, error) {
	if len(in) == 0 {
		return 0, nil
	}
	if s.Caller == nil {
		return 0, errs.New(errs.Internal, "map", "nobody is there to call %s", c.name)
	}
	return s.Caller.Call(s, c.function, in, &checked{c, dst})
}

// checked is a sink that refuses results of another kind than were promised.
type checked struct {
	*called
	dst dataset.Sink
}

// Block implements dataset.Sink.
func (c *checked) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	same := len(shapes.Components) == len(c.spec.Components)
	for i := 0; same && i < len(shapes.Components); i++ {
		want, got := c.spec.Components[i], shapes.Components[i]
		same = want.DType == got.DType && len(want.Shape) == len(got.Shape)
		for d := 0; same && d < len(want.Shape); d++ {
			same = want.Shape[d] < 0 || want.Shape[d] == got.Shape[d]
		}
	}
	if !same {
		return block.Block{}, errs.New(errs.InvalidArgument, "map", "%s returned %v; before, it returned %v", c.name, shapes, c.spec)
	}
	return c.dst.Block(&spec.Element{Structure: c.spec.Structure, Components: shapes.Components}, rows)
}
