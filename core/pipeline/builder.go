package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/op"
	"infeed/core/spec"
)

// Subdataset is a function that returns a dataset: a template, or a function of
// Python.
//
// A template is a definition in which {"$value": k} as an argument, or in a list of
// arguments, stands for the k-th result of a program of the element: a number, a
// string, or a list of such. {"$const": k} as the attributes of a constant of a
// program makes it a value of any shape, {"$bytes": k} is a string in base64. These operations are in templates only:
//
//	{"op": "input", "args": {"index": k}}                   the k-th dataset that the element has
//	{"op": "slices_of_values", "args": {"structure": s, "values": [k, ...]}}
//	{"op": "tensors_of_values", "args": the same}           the source of these results
//
// A function of Python returns a template as text, and after it the values that this
// refers to.
type Subdataset struct {
	// Name is how the function is called in messages and descriptions.
	Name     string          `json:"name"`
	Template json.RawMessage `json:"template"`
	Program  json.RawMessage `json:"program"` // of the values; null: there are none
	// Call is the number of a function of Python, instead of a template.
	Call *int64 `json:"call"`
	// Spec describes the elements of the datasets.
	Spec *spec.Element `json:"spec"`
	// Seed is for what a function of Python gives no seed.
	Seed uint64 `json:"seed"`

	skeleton *skeleton
	failed   error // why there is none
	find     Finding
}

// resolve reads the template, and finds the datasets that it names by handle.
func (s *Subdataset) resolve(find Finding) (err error) {
	s.find = find
	if s.Call == nil {
		s.skeleton, err = readSkeleton(s.Template, find)
	}
	return err
}

// builder returns what makes datasets out of elements.
func (s *Subdataset) builder(in *spec.Element) (dataset.Builder, error) {
	if s.Spec == nil {
		return nil, errs.New(errs.InvalidArgument, "function", "%s has no spec of the elements of its datasets", s.Name)
	}
	if s.Call != nil {
		return &calledBuilder{Subdataset: s}, nil
	}
	if s.failed != nil {
		return nil, s.failed
	}
	if s.skeleton == nil {
		if err := s.resolve(nil); err != nil {
			return nil, err
		}
	}
	b := &templateBuilder{Subdataset: s}
	if isNull(s.Program) {
		return b, nil
	}
	var err error
	b.values, err = op.Parse(s.Program, in)
	return b, err
}

func isNull(b json.RawMessage) bool { return len(b) == 0 || string(b) == "null" }

// text names the function in the structure of a dataset.
func (s *Subdataset) text() string {
	parts := []string{}
	if s.skeleton != nil {
		s.skeleton.visit(func(n *part) { parts = append(parts, n.text()) },
			func(place int) { parts = append(parts, fmt.Sprintf("again(%d)", place)) })
	}
	sum := ""
	if len(s.Program) > 0 {
		h := sha256.Sum256(s.Program)
		sum = "#" + hex.EncodeToString(h[:4])
	}
	return fmt.Sprintf("%s%s{%s}", s.Name, sum, strings.Join(parts, ", "))
}

// seeds returns the seeds of its operations, which may have been drawn.
func (s *Subdataset) seeds() []uint64 {
	if s.skeleton == nil {
		return []uint64{s.Seed}
	}
	var out []uint64
	s.skeleton.visit(func(n *part) { out = append(out, n.seeds()...) }, nil)
	return out
}

// withSeeds returns the function with the first of seeds, as many as it has.
func (s *Subdataset) withSeeds(seeds *[]uint64) *Subdataset {
	out := *s
	if s.skeleton == nil {
		out.Seed, *seeds = (*seeds)[0], (*seeds)[1:]
		return &out
	}
	var err error
	if out.skeleton, err = s.skeleton.withSeeds(seeds); err != nil {
		out.skeleton, out.failed = nil, err // build tells
	}
	return &out
}

// templateBuilder is dataset.Builder for a template.
type templateBuilder struct {
	*Subdataset
	values dataset.Program // nil: the template has none
}

func (b *templateBuilder) Spec() *spec.Element { return b.Subdataset.Spec }

func (b *templateBuilder) Build(s *dataset.Scope, in block.Block, inputs ...dataset.Definition) (dataset.Definition, error) {
	var v values
	if b.values != nil {
		var made block.Buffer // which the dataset may refer to
		if done, err := b.values.Run(s, in, dataset.Chance{}, &made); err != nil || done != 1 {
			return nil, err
		}
		v = values{made.Blocks()[0]}
	}
	return b.skeleton.build(v, inputs)
}

// calledBuilder is dataset.Builder for a function of Python.
type calledBuilder struct {
	*Subdataset
	last atomic.Pointer[skeletonOf]
}

// skeletonOf is the skeleton of a text. Functions mostly return the same one with
// other values.
type skeletonOf struct {
	text     string
	skeleton *skeleton
}

func (b *calledBuilder) Spec() *spec.Element { return b.Subdataset.Spec }

func (b *calledBuilder) Build(s *dataset.Scope, in block.Block, inputs ...dataset.Definition) (dataset.Definition, error) {
	if s.Caller == nil {
		return nil, errs.New(errs.Internal, "function", "nobody is there to call %s", b.Name)
	}
	var made block.Buffer
	if _, err := s.Caller.Call(s, *b.Call, []block.Block{in}, &made); err != nil {
		return nil, err
	}
	if len(made.Blocks()) != 1 || len(made.Blocks()[0].Columns) == 0 || made.Blocks()[0].Columns[0].Text == nil {
		return nil, errs.New(errs.Internal, "function", "%s gave no definition", b.Name)
	}
	row := made.Blocks()[0]
	skeleton, err := b.read(string(row.Columns[0].Text.At(0)))
	if err != nil {
		return nil, err
	}
	row.Columns = row.Columns[1:]
	row.Shapes = &spec.Element{Components: row.Shapes.Components[1:]}
	return skeleton.build(values{row}, inputs)
}

func (b *calledBuilder) read(text string) (*skeleton, error) {
	if last := b.last.Load(); last != nil && last.text == text {
		return last.skeleton, nil
	}
	sk, err := readSkeleton(json.RawMessage(text), b.find)
	if err != nil {
		return nil, errs.Wrap(err, errs.KindOf(err), "function", "the dataset of %s", b.Name)
	}
	if sk, err = sk.drawnAs(b.Seed); err != nil {
		return nil, err
	}
	b.last.Store(&skeletonOf{text, sk})
	return sk, nil
}
