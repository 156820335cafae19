package transform

import (
	"math"
	"slices"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type unbatch struct {
	in    dataset.Definition
	spec  *spec.Element
	parts []raggedPart // what components of batches are; nil where all of them are tensors
}

type indexedUnbatch struct {
	unbatch
	in   dataset.Indexed
	size int64 // of every batch
}

// Unbatch returns the elements that batches are stacked of. It keeps random access
// where all batches have one known size.
func Unbatch(in dataset.Definition) (dataset.Definition, error) {
	parts, err := partsOf("unbatch", in.Spec())
	if err == nil {
		err = denseOnly("unbatch", in.Spec())
	}
	if err != nil {
		return nil, err
	}
	size, each, err := unbatched("unbatch", in.Spec(), parts)
	if err != nil {
		return nil, err
	}
	u := unbatch{in: in, spec: each, parts: parts}
	indexed, ok := in.(dataset.Indexed)
	if !ok || size < 0 {
		return &u, nil
	}
	if n := in.Cardinality(); n > 0 && size > math.MaxInt64/n {
		return nil, errs.New(errs.InvalidArgument, "unbatch", "%d batches of %d are more elements than can be counted", n, size)
	}
	if size == 0 && in.Cardinality() < 0 {
		return &u, nil
	}
	return &indexedUnbatch{unbatch: u, in: indexed, size: size}, nil
}

// unbatched describes the elements that batches are stacked of, and how many they
// are, or -1. parts says what components of batches are; nil: all of them are tensors.
func unbatched(op string, e *spec.Element, parts []raggedPart) (int64, *spec.Element, error) {
	size, named := int64(-1), 0
	each := &spec.Element{Structure: e.Structure}
	if parts != nil {
		each.Structure = unbatchedStructure(e.Structure, e.Components)
	}
	for i, c := range e.Components {
		kind := plainPart
		if parts != nil {
			kind = parts[i].kind
		}
		if kind == valuesPart {
			each.Components = append(each.Components, spec.Component{DType: c.DType, Shape: []int64{-1}})
			continue
		}
		if len(c.Shape) == 0 {
			return 0, nil, errs.New(errs.InvalidArgument, op, "component%s is a scalar; elements must be batches, so put batch before", partName(e, parts, i))
		}
		if n := c.Shape[0]; n >= 0 && size < 0 {
			size, named = n, i
		} else if n >= 0 && n != size {
			return 0, nil, errs.New(errs.InvalidArgument, op, "component%s has %d elements and component%s has %d; they must have equally many", partName(e, parts, named), size, partName(e, parts, i), n)
		}
		if kind == shapesPart && len(c.Shape) == 2 { // arrays in the place of their values
			each.Components[len(each.Components)-1].Shape = slices.Repeat([]int64{-1}, int(c.Shape[1]))
			continue
		}
		each.Components = append(each.Components, spec.Component{DType: c.DType, Shape: c.Shape[1:]})
	}
	return size, each, nil
}

func (u *unbatch) Spec() *spec.Element { return u.spec }

func (u *unbatch) Cardinality() int64 {
	n := u.in.Cardinality()
	size, _, err := unbatched("unbatch", u.in.Spec(), u.parts)
	switch {
	case err != nil || size < 0 && n >= 0:
		return dataset.Unknown
	case n < 0:
		return n
	}
	return n * size
}

func (u *unbatch) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, in, err := openCursor("unbatch", u.in, s, pass, from, 1)
	if err != nil {
		return nil, err
	}
	it := &unbatchIterator{scope: s, in: in, row: at[0], size: 1, fails: 1}
	if u.parts != nil {
		it.ragged = &raggedRows{parts: u.parts}
	}
	if size, _, _ := unbatched("unbatch", u.in.Spec(), u.parts); size > 0 { // of batches without rows, one error tells
		it.fails = size
	}
	if s.Single && it.row > 0 { // it is in a batch, which it has to have
		it.before = it.in.Token()
		if _, err := it.in.Peek(1); err != nil && !isEnd(err) {
			it.failed = err
		}
	}
	return it, nil
}

// unbatchIterator is at a row of the batch that its cursor gives next. In the place of
// a batch that fails come as many errors as it was to have elements, where that is
// known.
type unbatchIterator struct {
	scope  *dataset.Scope
	in     *dataset.Cursor
	row    int64
	size   int64 // of the last batch
	fails  int64 // how many elements fail with a batch
	failed error // of the batch; the cursor is past it
	before *dataset.Token
	views  views
	rows   block.Block // of the batches that come next, where they are no ragged ones
	ragged *raggedRows // of the batch that comes next, when it is open; nil: no batch is ragged
	isOpen bool
}

func (it *unbatchIterator) Token() *dataset.Token {
	if it.failed != nil {
		return dataset.Over(it.before, it.row)
	}
	return dataset.Over(it.in.Token(), it.row)
}

// fail is the error of the next element of a batch that failed.
func (it *unbatchIterator) fail() error {
	err := it.failed
	if it.row++; it.row >= it.fails {
		it.failed, it.row = nil, 0
	}
	return err
}

func (it *unbatchIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		if it.failed != nil {
			return 0, it.fail()
		}
		it.before = it.in.Token()
		b, err := it.in.Peek(max(1, limit/it.size))
		if isEnd(err) {
			return 0, err
		}
		var size, rows int64
		if err == nil {
			if size, rows, err = it.open(b); err != nil {
				it.take(1)
			}
		}
		if it.failed = err; err != nil {
			if it.fails == 0 { // nor would there be elements
				it.failed = nil
			}
			continue
		}
		it.size = max(size, 1)
		if it.row > size {
			return 0, errs.New(errs.StateMismatch, "unbatch", "its state is before element %d of a batch of %d", it.row, size)
		}
		n := min(limit, rows-it.row)
		if n == 0 {
			it.take(b.Rows)
			it.row = 0
			if err := it.scope.Err(); err != nil {
				return 0, err
			}
			continue
		}
		if err := it.hand(n, dst); err != nil {
			return 0, err
		}
		it.row += n
		it.take(it.row / size)
		it.row %= size
		return n, nil
	}
}

// open says how many elements a batch has, and how many can be had of the batches: all
// of theirs, or where they are ragged those of the first.
func (it *unbatchIterator) open(b block.Block) (size, rows int64, err error) {
	if it.ragged != nil {
		if !it.isOpen {
			err = it.ragged.open("unbatch", b.Slice(0, 1))
			it.isOpen = err == nil
		}
		return it.ragged.size, it.ragged.size, err
	}
	each := it.views.get(b.Shapes, func() *spec.Element {
		var e *spec.Element
		_, e, err = unbatched("unbatch", b.Shapes, nil)
		return e
	})
	if err != nil {
		return 0, 0, err
	}
	size = b.Shapes.Components[0].Shape[0]
	it.rows = b.Split(size, each)
	return size, it.rows.Rows, nil
}

// hand makes the next n elements.
func (it *unbatchIterator) hand(n int64, dst dataset.Sink) error {
	if it.ragged != nil {
		return it.ragged.hand(it.row, it.row+n, dst)
	}
	out, err := dst.Block(it.rows.Shapes, n)
	if err == nil {
		out.Copy(0, it.rows.Slice(it.row, it.row+n))
	}
	return err
}

// take goes past batches.
func (it *unbatchIterator) take(n int64) {
	it.in.Take(n)
	it.isOpen = it.isOpen && n == 0
}
