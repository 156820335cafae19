package source

import (
	"encoding/binary"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// random is the dataset of random numbers.
type random struct {
	seed     uint64
	eachPass bool
}

var int64Scalar = scalar(spec.DType{Kind: 'i', Size: 8})

// Random returns random int64 numbers from 0 to 2^32-1 without end: the same in every
// pass, or others in each.
func Random(seed uint64, eachPass bool) dataset.Definition { return random{seed, eachPass} }

func (random) Spec() *spec.Element { return int64Scalar }
func (random) Cardinality() int64  { return dataset.Infinite }

func (r random) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(r, s, pass, from)
}

func (r random) Open(_ *dataset.Scope, pass rng.Key) (dataset.RandomAccess, error) {
	const what = 0x72616e646f6d // "random"
	if r.eachPass {
		return drawn(pass.Derive(what, r.seed)), nil
	}
	return drawn(rng.NewKey(r.seed, what)), nil
}

// drawn is the numbers of a key.
type drawn rng.Key

func (d drawn) Fetch(index []int64, dst dataset.Sink) error {
	b, err := dst.Block(int64Scalar, int64(len(index)))
	if err != nil {
		return err
	}
	for i, k := range index {
		if k < 0 {
			return errs.New(errs.Internal, "random", "element %d", k)
		}
		binary.LittleEndian.PutUint64(b.Columns[0].Data[8*i:], rng.Key(d).Uint64(uint64(k))>>32)
	}
	return nil
}
