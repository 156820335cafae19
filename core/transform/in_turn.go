package transform

import (
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

type inTurn struct{ in dataset.Indexed }

// InTurn returns the elements of the input for who takes them one after the other: those
// of an indexed input are made ahead, by as many goroutines as there are workers.
func InTurn(in dataset.Definition) dataset.Definition {
	if indexed, ok := in.(dataset.Indexed); ok {
		return &inTurn{indexed}
	}
	return in
}

func (d *inTurn) Spec() *spec.Element { return d.in.Spec() }
func (d *inTurn) Cardinality() int64  { return d.in.Cardinality() }

func (d *inTurn) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return eachRow("iterator", d.in, s, s.Workers, pass, from, nil)
}
