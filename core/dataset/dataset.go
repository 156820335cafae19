package dataset

import (
	"infeed/core/block"
	"infeed/core/rng"
	"infeed/core/spec"
)

// Cardinalities that are no number of elements.
const (
	Infinite int64 = -1
	Unknown  int64 = -2
)

// Definition is an immutable description of a sequence of elements.
type Definition interface {
	// Spec describes the elements; a dimension is -1 where they differ.
	Spec() *spec.Element
	// Bound describes the largest element there can be: all dimensions are known,
	// and no element is larger in any.
	Bound() *spec.Element
	// Cardinality returns how many elements a pass has, or Infinite.
	Cardinality() int64
	// Open returns the elements of one pass. It is cheap: nothing is read.
	Open(pass rng.Key) RandomAccess
}

// RandomAccess is the elements of one pass. Any number of goroutines may use it.
type RandomAccess interface {
	// Like returns how many elements from start on have the shapes of the element
	// at start, and these shapes. It looks at limit elements at most; 0 <= start
	// and start+limit <= cardinality, limit >= 1. It fails where elements cannot
	// be made, such as a batch of elements of different shapes.
	Like(start, limit int64) (count int64, shapes *spec.Element, err error)
	// Gather makes the elements with the given numbers, all of the same shapes,
	// in the rows of dst. It may use index as scratch memory.
	Gather(index []int64, dst block.Block) error
}

// PassKey is the key of the k-th pass over a dataset.
func PassKey(k int64) rng.Key { return rng.NewKey(uint64(k)) }
