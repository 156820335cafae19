package rng

import (
	"math/bits"
	"sync"

	"infeed/core/errs"
)

// tableMax is the largest n for which the order is kept as a table. Below it a
// table is exactly uniform and faster than computing; small Feistel networks are
// visibly not uniform.
const tableMax = 1 << 16

// Permutation is a bijection of [0, n) chosen by a key. It is immutable: any
// number of goroutines may use it. It holds at most 128 KiB.
type Permutation struct {
	n       int64
	table   []uint16 // for n <= tableMax
	inverse func() []uint16
	feistel feistel // for n > tableMax
}

// NewPermutation returns the permutation of [0, n) that key chooses. It panics
// for a negative n, which its callers have excluded.
func NewPermutation(n int64, key Key) *Permutation {
	if n < 0 {
		panic(errs.New(errs.Internal, "permutation", "of %d elements", n))
	}
	p := &Permutation{n: n}
	if n <= tableMax {
		p.table = shuffledTable(int(n), key)
		p.inverse = sync.OnceValue(p.invert)
	} else {
		p.feistel = newFeistel(n, key)
	}
	return p
}

// Len returns n.
func (p *Permutation) Len() int64 { return p.n }

// At returns the i-th element of the order. It panics for i outside [0, n).
func (p *Permutation) At(i int64) int64 {
	p.check(i, 1)
	if p.table != nil {
		return int64(p.table[i])
	}
	return int64(p.feistel.inside(uint64(i), uint64(p.n)))
}

// Inverse returns the place of the element x in the order: p.At(p.Inverse(x)) is x.
func (p *Permutation) Inverse(x int64) int64 {
	p.check(x, 1)
	if p.table != nil {
		return int64(p.inverse()[x])
	}
	i := p.feistel.backward(uint64(x))
	for i >= uint64(p.n) {
		i = p.feistel.backward(i)
	}
	return int64(i)
}

// Fill sets dst to the elements of the order from start on. It panics when they
// are not all there.
func (p *Permutation) Fill(dst []int64, start int64) {
	if len(dst) == 0 {
		return
	}
	p.check(start, int64(len(dst)))
	if p.table == nil {
		p.feistel.fill(dst, uint64(start), uint64(p.n))
		return
	}
	for i, x := range p.table[start : start+int64(len(dst))] {
		dst[i] = int64(x)
	}
}

func (p *Permutation) check(start, count int64) {
	if start < 0 || start > p.n-count {
		panic(errs.New(errs.Internal, "permutation", "places %d to %d of %d", start, start+count-1, p.n))
	}
}

// shuffledTable is Fisher and Yates's shuffle. The multiplication picks j with a
// bias below 2^-47, less than a key of 127 bits could show.
func shuffledTable(n int, key Key) []uint16 {
	t := make([]uint16, n)
	for i := range t {
		j, _ := bits.Mul64(key.Uint64(uint64(i)), uint64(i)+1)
		t[i] = t[j]
		t[j] = uint16(i)
	}
	return t
}

func (p *Permutation) invert() []uint16 {
	inv := make([]uint16, len(p.table))
	for i, x := range p.table {
		inv[x] = uint16(i)
	}
	return inv
}
