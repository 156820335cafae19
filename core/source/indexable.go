package source

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// indexable is the dataset of what a function makes for each number.
type indexable struct {
	function dataset.Program
	n        int64
}

// Indexable returns the dataset of n elements that a function makes: it gets their
// numbers, a row each.
func Indexable(function dataset.Program, n int64) (dataset.Definition, error) {
	if n < 0 {
		return nil, errs.New(errs.InvalidArgument, "from_indexable", "its length is %d", n)
	}
	return &indexable{function, n}, nil
}

func (x *indexable) Spec() *spec.Element { return x.function.Spec() }
func (x *indexable) Cardinality() int64  { return x.n }

func (x *indexable) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(x, s, pass, from)
}

func (x *indexable) Open(s *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) {
	return &indexing{x, s}, nil
}

type indexing struct {
	*indexable
	scope *dataset.Scope
}

func (x *indexing) Fetch(index []int64, dst dataset.Sink) error {
	var in block.Buffer
	rows, err := in.Block(int64Scalar, int64(len(index)))
	if err != nil {
		return err
	}
	for i, k := range index {
		if k < 0 || k >= x.n {
			return errs.New(errs.Internal, "from_indexable", "element %d of %d", k, x.n)
		}
		binary.LittleEndian.PutUint64(rows.Columns[0].Data[8*i:], uint64(k))
	}
	_, err = x.function.Run(x.scope, rows, dataset.Chance{}, dst)
	return err
}
