package transform

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// nested is an input out of whose elements a builder makes datasets.
type nested struct {
	op     string
	in     dataset.Definition
	f      dataset.Builder
	height uint64 // how many datasets lie under this one
}

func (n *nested) Spec() *spec.Element { return n.f.Spec() }

// Cardinality implements dataset.Definition: nobody knows before the datasets are
// made.
func (n *nested) Cardinality() int64 { return dataset.Unknown }

// inner is the dataset of one element, open. Its scope ends when the dataset does,
// so that no more files are open than are read.
type inner struct {
	number int64          // of the element
	before *dataset.Token // of the input, before the element
	scope  *dataset.Scope
	it     dataset.Iterator
}

// open opens the dataset of an element, the only row of a block, at a place of it.
func (n *nested) open(s *dataset.Scope, pass rng.Key, number int64, row block.Block, from *dataset.Token) (*inner, error) {
	in := &inner{number: number, scope: s.Child()}
	datasets, err := datasetsIn(n.in.Spec().Structure, row)
	var d dataset.Definition
	if err == nil {
		d, err = n.f.Build(in.scope, row, datasets...)
	}
	if err == nil {
		err = conform(n.op, n.f.Spec(), d.Spec())
	}
	if err == nil {
		in.it, err = d.Iterate(in.scope, pass.Derive(n.height, uint64(number)), from)
	}
	if err == nil {
		err = s.Err() // a child of a scope that has ended is nobody's to close
	}
	if err != nil {
		in.scope.Close()
		return nil, err
	}
	return in, nil
}

// conform fails where elements are not what was promised of them.
func conform(op string, promised, got *spec.Element) error {
	if promised == got {
		return nil
	}
	fits := len(promised.Components) == len(got.Components) && promised.Structure.Equal(got.Structure)
	for i := 0; fits && i < len(promised.Components); i++ {
		p, g := promised.Components[i], got.Components[i]
		fits = p.DType == g.DType && len(p.Shape) == len(g.Shape)
		for d := 0; fits && d < len(p.Shape); d++ {
			fits = p.Shape[d] < 0 || p.Shape[d] == g.Shape[d]
		}
	}
	if !fits {
		return errs.New(errs.InvalidArgument, op, "the function gave a dataset of %v for this element; all of its datasets must have elements like those of the first, %v", got, promised)
	}
	return nil
}

// outer reads the elements that datasets are made of, one after the other.
type outer struct {
	*nested
	scope  *dataset.Scope
	pass   rng.Key
	cursor *dataset.Cursor
	number int64 // of the next element
	limit  int64 // of what is read at once
}

// walk reads the input from a token on, which is before the element with a number.
func (n *nested) walk(s *dataset.Scope, pass rng.Key, from *dataset.Token, number int64) (*outer, error) {
	o := &outer{nested: n, scope: s, pass: pass, number: number, limit: 1}
	var err error
	o.cursor, err = dataset.NewCursor(n.op, from, func(from *dataset.Token) (dataset.Iterator, error) {
		return n.in.Iterate(s, pass, from)
	})
	return o, err
}

const (
	outerLimit = 64
	outerBytes = 64 << 10
)

// next returns the number of the next element, the token before it, and the element,
// which stays valid until the next call. With an error, but for the end, the element
// is passed.
func (o *outer) next() (number int64, before *dataset.Token, row block.Block, err error) {
	number, before = o.number, o.cursor.Token()
	if err := o.scope.Err(); err != nil { // loops over datasets without elements end here
		return number, before, row, err
	}
	b, err := o.cursor.Peek(o.limit)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			o.number++
		}
		return number, before, row, err
	}
	if o.limit < outerLimit && b.Rows == o.limit && b.Bytes() < outerBytes && !o.scope.Single {
		o.limit *= 2
	}
	o.cursor.Take(1)
	o.number++
	return number, before, b.Slice(0, 1), nil
}

// reopening is an open input of a state.
type reopening struct {
	slot         int64
	number       int64          // of the element
	before, from *dataset.Token // before the element, and in its dataset
}

// farApart is how many elements are read for nothing rather than to begin the input
// at another token.
const farApart = 64

// reopen reads the elements of open inputs again and gives each to open.
func (n *nested) reopen(s *dataset.Scope, pass rng.Key, inputs []reopening, open func(in reopening, row block.Block) error) error {
	inputs = slices.SortedFunc(slices.Values(inputs), func(a, b reopening) int { return cmp.Compare(a.number, b.number) })
	var scope *dataset.Scope
	var o *outer
	defer func() {
		if scope != nil {
			scope.Close()
		}
	}()
	for _, in := range inputs {
		if o == nil || in.number-o.number > farApart {
			if scope != nil {
				scope.Close()
			}
			scope = s.Child()
			var err error
			if o, err = n.walk(scope, pass, in.before, in.number); err != nil {
				return err
			}
		}
		row, err := o.seek(in.number)
		if err != nil {
			return errs.Wrap(err, errs.StateMismatch, n.op, "element %d of the input, which its state is in, cannot be read again", in.number)
		}
		if err := open(in, row); err != nil {
			return err
		}
	}
	return nil
}

// seek returns the element with a number, which is not behind.
func (o *outer) seek(number int64) (block.Block, error) {
	for {
		at, _, row, err := o.next()
		switch {
		case err == nil && at == number:
			return row, nil
		case err != nil && (errors.Is(err, io.EOF) || o.number > number || o.scope.Err() != nil):
			return block.Block{}, err
		case err == nil && at > number:
			return block.Block{}, errs.New(errs.StateMismatch, o.op, "its state has element %d twice", number)
		}
	}
}

// noting is a sink that knows whether it was asked for memory.
type noting struct {
	dataset.Sink
	asked bool
}

// Block implements dataset.Sink.
func (s *noting) Block(shapes *spec.Element, rows int64) (block.Block, error) {
	s.asked = true
	return s.Sink.Block(shapes, rows)
}
