package pipeline

import (
	"fmt"

	"infeed/core/dataset"
	"infeed/core/transform"
)

// Unique is each element the first time that it comes.
type Unique struct{ onOne }

func (*Unique) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Unique(inputs[0]), nil
}

func (*Unique) text() string { return "unique()" }

// IgnoreErrors is the elements that can be made.
type IgnoreErrors struct{ onOne }

func (*IgnoreErrors) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.IgnoreErrors(inputs[0]), nil
}

func (*IgnoreErrors) text() string { return "ignore_errors()" }

// Cache keeps elements in memory.
type Cache struct{ onOne }

func (*Cache) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Cache(inputs[0]), nil
}

func (*Cache) text() string { return "cache()" }

// Prefetch reads ahead, up to BufferSize elements; -1: as many as memory allows.
type Prefetch struct {
	onOne
	BufferSize int64 `json:"buffer_size"`
}

// prefetchBytes bounds what one prefetch holds.
const prefetchBytes = 64 << 20

func (p *Prefetch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Prefetch(inputs[0], p.BufferSize, prefetchBytes)
}

// text leaves out the size, on which nothing depends.
func (p *Prefetch) text() string { return "prefetch()" }

// AssertCardinality says how many elements there are.
type AssertCardinality struct {
	onOne
	ExpectedCardinality int64 `json:"expected_cardinality"`
}

func (a *AssertCardinality) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.AssertCardinality(inputs[0], a.ExpectedCardinality)
}

func (a *AssertCardinality) text() string {
	return fmt.Sprintf("assert_cardinality(%d)", a.ExpectedCardinality)
}
