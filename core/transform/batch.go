package transform

import (
	"sync"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

type batch struct {
	in            dataset.Definition
	size          int64
	dropRemainder bool
	spec, bound   *spec.Element
}

// Batch stacks size consecutive elements into one. The last batch has what is
// left, unless dropRemainder.
func Batch(in dataset.Definition, size int64, dropRemainder bool) (dataset.Definition, error) {
	if size < 1 {
		return nil, errs.New(errs.InvalidArgument, "batch", "batch_size is %d; it must be at least 1", size)
	}
	b := &batch{in: in, size: size, dropRemainder: dropRemainder}
	if dropRemainder {
		b.spec = in.Spec().Batched(size)
	} else {
		b.spec = in.Spec().Batched(-1)
	}
	b.bound = in.Bound().Batched(size)
	if n := in.Cardinality(); n >= 0 && n < size {
		b.bound = in.Bound().Batched(n)
	}
	if _, err := block.NewLayout(b.bound, 1); err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, "batch", "batch_size is %d", size)
	}
	return b, nil
}

func (b *batch) Spec() *spec.Element  { return b.spec }
func (b *batch) Bound() *spec.Element { return b.bound }

func (b *batch) Cardinality() int64 {
	n := b.in.Cardinality()
	if n < 0 {
		return n
	}
	full := n / b.size
	if n%b.size != 0 && !b.dropRemainder {
		full++
	}
	return full
}

func (b *batch) Open(pass rng.Key) dataset.RandomAccess {
	return &batches{in: b.in.Open(pass), n: b.in.Cardinality(), size: b.size}
}

type batches struct {
	in      dataset.RandomAccess
	n, size int64 // elements of the input, elements of a batch
}

// rows returns how many elements batch k has.
func (b *batches) rows(k int64) int64 {
	if b.n < 0 {
		return b.size
	}
	return min(b.size, b.n-k*b.size)
}

func (b *batches) Like(start, limit int64) (int64, *spec.Element, error) {
	rows := b.rows(start)
	elements := rows
	if rows == b.size {
		if last := start + limit - 1; b.rows(last) < b.size {
			limit--
		}
		elements = limit * b.size
	}
	first := start * b.size
	count, shapes, err := b.in.Like(first, elements)
	if err != nil {
		return 0, nil, err
	}
	if count < rows {
		_, other, err := b.in.Like(first+count, 1)
		if err != nil {
			return 0, nil, err
		}
		return 0, nil, errs.New(errs.InvalidArgument, "batch", "elements of different shapes cannot be batched: element %d has %s and element %d has %s",
			first, shapes.Shapes(), first+count, other.Shapes())
	}
	return count / rows, shapes.Batched(rows), nil
}

// scratch keeps the memory in which batches write the numbers of their elements.
var scratch = sync.Pool{New: func() any { return new([]int64) }}

func (b *batches) Gather(index []int64, dst block.Block) error {
	if len(index) == 0 {
		return nil
	}
	rows := b.rows(index[0])
	p := scratch.Get().(*[]int64)
	defer scratch.Put(p)
	elements := (*p)[:0]
	for _, k := range index {
		for i := range rows {
			elements = append(elements, k*b.size+i)
		}
	}
	*p = elements
	return b.in.Gather(elements, dst.Split(rows))
}
