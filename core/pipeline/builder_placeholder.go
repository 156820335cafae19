package pipeline

import (
	"fmt"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Placeholder stands for a dataset that is known only when elements are: what is built
// on it tells what elements are like.
type Placeholder struct {
	noInputs
	Spec *spec.Element `json:"spec"`
}

func (p *Placeholder) build([]dataset.Definition, int) (dataset.Definition, error) {
	if p.Spec == nil {
		return nil, errs.New(errs.InvalidArgument, "placeholder", "it has no spec")
	}
	return placeholder{p.Spec}, nil
}

func (p *Placeholder) text() string { return fmt.Sprintf("placeholder(%v)", p.Spec) }

type placeholder struct{ spec *spec.Element }

func (p placeholder) Spec() *spec.Element { return p.spec }
func (p placeholder) Cardinality() int64  { return dataset.Unknown }

func (p placeholder) Iterate(*dataset.Scope, rng.Key, *dataset.Token) (dataset.Iterator, error) {
	return nil, errs.New(errs.InvalidArgument, "function", "a dataset that a function was given has elements only inside of what the function returns")
}
