package transform

import (
	"encoding/binary"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
)

type unique struct{ in dataset.Definition }

// Unique returns each element the first time that it comes: those whose shapes and
// bytes are not those of an earlier one. All of them are remembered.
func Unique(in dataset.Definition) dataset.Definition { return &unique{in} }

func (u *unique) Spec() *spec.Element { return u.in.Spec() }
func (u *unique) Cardinality() int64  { return dataset.Unknown }

// Iterate reads everything before the token again, to know what came.
func (u *unique) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("unique", 1)
	if err != nil {
		return nil, err
	}
	if at[0] > mostReplayed {
		return nil, early("unique", at[0], mostReplayed)
	}
	it := &uniqueIterator{scope: s, seen: map[string]struct{}{}}
	if it.in, err = u.in.Iterate(s, pass, nil); err != nil {
		return nil, err
	}
	for it.passed < at[0] {
		if err := it.read(min(skipped, at[0]-it.passed)); isEnd(err) || s.Err() != nil {
			return nil, early("unique", at[0], it.passed)
		}
	}
	return it, nil
}

// mostReplayed bounds how many elements are read again, far beyond what is patient.
const mostReplayed = 1 << 40

type uniqueIterator struct {
	scope  *dataset.Scope
	in     dataset.Iterator
	passed int64 // elements of the input
	buffer block.Buffer
	fresh  [][]int64 // of each block, the rows that were not seen before
	seen   map[string]struct{}
	key    []byte
}

// Token has the count of what its input left out, for those who ask: it is counted
// again when the input is read again.
func (it *uniqueIterator) Token() *dataset.Token {
	t := dataset.At(it.passed)
	t.Lost = it.in.Token().Losses()
	return t
}

// read reads elements and finds the fresh ones.
func (it *uniqueIterator) read(limit int64) error {
	it.buffer.Reset()
	n, err := it.in.Next(limit, &it.buffer)
	it.passed += passed(n, err)
	if n == 0 {
		it.buffer.Reset()
	}
	for i, b := range it.buffer.Blocks() {
		if i == len(it.fresh) {
			it.fresh = append(it.fresh, nil)
		}
		it.fresh[i] = it.fresh[i][:0]
		for r := range b.Rows {
			it.key = appendKey(it.key[:0], b, r)
			if _, known := it.seen[string(it.key)]; !known {
				it.seen[string(it.key)] = struct{}{}
				it.fresh[i] = append(it.fresh[i], r)
			}
		}
	}
	return err
}

func (it *uniqueIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	for {
		if err := it.read(limit); err != nil {
			return 0, err
		}
		made := int64(0)
		for i, b := range it.buffer.Blocks() {
			if err := keep(b, it.fresh[i], dst); err != nil {
				return 0, err
			}
			made += int64(len(it.fresh[i]))
		}
		if made > 0 {
			return made, nil
		}
		if err := it.scope.Err(); err != nil {
			return 0, err
		}
	}
}

// appendKey appends what tells a row from all rows that are not equal to it.
func appendKey(key []byte, b block.Block, row int64) []byte {
	for i, c := range b.Columns {
		component := b.Shapes.Components[i]
		for _, d := range component.Shape {
			key = binary.AppendUvarint(key, uint64(d))
		}
		if c.Text == nil {
			key = append(key, c.Data[row*c.RowBytes:(row+1)*c.RowBytes]...)
			continue
		}
		n := component.Count()
		for k := row * n; k < (row+1)*n; k++ {
			text := c.Text.At(int(k))
			key = binary.AppendUvarint(key, uint64(len(text)))
			key = append(key, text...)
		}
	}
	return key
}
