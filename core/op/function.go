package op

import (
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// function is an operation that looks at one row after the other: it may fail at a
// row, and its results may have other shapes from row to row. Any number of
// goroutines may run it.
type function interface {
	// run makes the results of the first rows and returns of how many: those with
	// results of equal shapes. The program asks again for the rows that are left.
	// With an error, it is the row after these that fails.
	run(c *call) (rows int64, err error)
}

// call is what a function is run with.
type call struct {
	scope  *dataset.Scope
	chance dataset.Chance
	rows   int64 // there is at least one
	in     []operand
	// own is what the function kept from an earlier call, to use its memory again.
	own any

	run     *run
	results []*result
}

// operand is a value: its dtype and shape, all dimensions of which are known, and
// the rows. Where it is uniform there is one row, which holds for all.
type operand struct {
	spec.Component
	block.Column
	uniform bool
}

// row returns row i of an operand that is not text.
func (o *operand) row(i int64) []byte {
	if o.uniform {
		i = 0
	}
	return o.Data[i*o.RowBytes : (i+1)*o.RowBytes : (i+1)*o.RowBytes]
}

// texts returns how many strings a row has, and the number of the first one of row i.
func (o *operand) texts(i int64) (each, first int) {
	each = int(o.Count())
	if o.uniform {
		return each, 0
	}
	return each, each * int(i)
}

// result is memory for a result of a function.
type result struct {
	operand
	memory []byte
	text   block.Text
}

// make returns memory for result i of all rows, when each has this shape, all
// dimensions of which are known. Texts are to be appended.
func (c *call) make(i int, dtype spec.DType, shape ...int64) (block.Column, error) {
	r := c.results[i]
	r.Component = spec.Component{DType: dtype, Shape: append(r.Shape[:0], shape...)}
	if dtype == spec.Text {
		r.text.Reset()
		r.Column = block.Column{Text: &r.text}
		return r.Column, nil
	}
	n, err := sizeOf(r.Component, c.rows)
	if err != nil {
		return block.Column{}, err
	}
	if err := block.Fits(n * c.rows); err != nil {
		return block.Column{}, errs.Wrap(err, errs.ResourceExhausted, "map", "%d values %s", c.rows, r.Component)
	}
	r.memory = grown(r.memory, n*c.rows)
	r.Column = block.Column{Data: r.memory, RowBytes: n}
	return r.Column, nil
}
