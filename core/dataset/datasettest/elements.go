package datasettest

import (
	"encoding/binary"
	"fmt"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

// T is the part of testing.TB that is needed.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// Element is one element as it can be compared: its shapes and its bytes.
type Element struct {
	Shapes string
	Data   [][]byte
}

// Int64s returns the first component as the int64 values it is.
func (e Element) Int64s() []int64 {
	out := make([]int64, len(e.Data[0])/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(e.Data[0][8*i:]))
	}
	return out
}

// Read makes the elements with the given numbers in one Gather.
func Read(t T, access dataset.RandomAccess, shapes *spec.Element, index ...int64) []Element {
	t.Helper()
	b := newBlock(t, shapes, len(index))
	require.NoError(t, access.Gather(append([]int64(nil), index...), b))
	return split(b, shapes)
}

// ReadAll reads a pass element by element, of an infinite one the first limit.
func ReadAll(t T, def dataset.Definition, pass rng.Key, limit int64) []Element {
	t.Helper()
	access := def.Open(pass)
	out := []Element{}
	for i := range length(def, limit) {
		count, shapes, err := access.Like(i, 1)
		require.NoError(t, err)
		require.EqualValues(t, 1, count, "of one element, %d are alike", count)
		out = append(out, Read(t, access, shapes, i)...)
	}
	return out
}

func length(def dataset.Definition, limit int64) int64 {
	if n := def.Cardinality(); n >= 0 {
		return min(n, limit)
	}
	return limit
}

// newBlock returns a block in memory that shows when it was not written.
func newBlock(t T, shapes *spec.Element, rows int) block.Block {
	t.Helper()
	l, err := block.NewLayout(shapes, int64(rows))
	require.NoError(t, err)
	memory := make([]byte, l.Bytes)
	for i := range memory {
		memory[i] = 0xa5
	}
	return l.Over(memory)
}

func split(b block.Block, shapes *spec.Element) []Element {
	out := make([]Element, b.Rows)
	for r := range out {
		out[r].Shapes = shapes.Shapes()
		for _, c := range b.Slice(int64(r), int64(r)+1).Columns {
			out[r].Data = append(out[r].Data, c.Data)
		}
	}
	return out
}

// Range is the dataset of the int64 numbers from 0 to n-1, or without end.
type Range int64

// Spec implements dataset.Definition.
func (r Range) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}
}

// Bound implements dataset.Definition.
func (r Range) Bound() *spec.Element { return r.Spec() }

// Cardinality implements dataset.Definition.
func (r Range) Cardinality() int64 { return int64(r) }

// Open implements dataset.Definition.
func (r Range) Open(_ rng.Key) dataset.RandomAccess { return r }

// Like implements dataset.RandomAccess.
func (r Range) Like(_, limit int64) (int64, *spec.Element, error) { return limit, r.Spec(), nil }

// Gather implements dataset.RandomAccess.
func (r Range) Gather(index []int64, dst block.Block) error {
	for i, x := range index {
		if x < 0 || r >= 0 && x >= int64(r) {
			return fmt.Errorf("element %d of %d was asked for", x, r)
		}
		binary.LittleEndian.PutUint64(dst.Columns[0].Data[8*i:], uint64(x))
		index[i] = -1 // index is scratch memory: nobody may count on it afterwards
	}
	return nil
}
