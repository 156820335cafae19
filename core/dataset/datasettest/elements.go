package datasettest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
)

// T is the part of testing.TB that is needed.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	FailNow()
}

// Element is one element as it can be compared: its shapes and the bytes of its
// components, of text each string; or the error that is in its place.
type Element struct {
	Shapes string
	Data   [][]byte
	Texts  [][]string
	Err    string
}

// Int64s returns the first component as the int64 values it is.
func (e Element) Int64s() []int64 {
	out := make([]int64, len(e.Data[0])/8)
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(e.Data[0][8*i:]))
	}
	return out
}

// Scope returns a scope for files of this machine, which its caller closes.
func Scope(workers int) *dataset.Scope { return dataset.NewScope(vfs.Local(), workers) }

// Read makes the elements with the given numbers in one Fetch.
func Read(t T, access dataset.RandomAccess, index ...int64) []Element {
	t.Helper()
	var b block.Buffer
	require.NoError(t, access.Fetch(append([]int64(nil), index...), &b))
	return Split(&b)
}

// ReadAll reads a pass element by element, of a long one the first limit elements;
// errors are elements too.
func ReadAll(t T, def dataset.Definition, pass rng.Key, limit int64) []Element {
	t.Helper()
	s := Scope(0)
	defer s.Close()
	it, err := def.Iterate(s, pass, nil)
	require.NoError(t, err)
	out, _ := Take(t, it, 1, limit)
	return out
}

// Take reads count elements from an iterator, in runs of at most size, and returns
// them with the tokens before each run, by how many elements were read then.
func Take(t T, it dataset.Iterator, size, count int64) ([]Element, map[int]*dataset.Token) {
	t.Helper()
	out, tokens := []Element{}, map[int]*dataset.Token{}
	var b block.Buffer
	for again := 0; int64(len(out)) < count; {
		tokens[len(out)] = it.Token()
		b.Reset()
		limit := min(size, count-int64(len(out)))
		n, err := it.Next(limit, &b)
		switch {
		case errors.Is(err, io.EOF):
			_, err = it.Next(limit, &b)
			require.Equal(t, io.EOF, err, "after the end")
			return out, tokens
		case err != nil:
			require.Zero(t, n)
			out = append(out, Element{Err: err.Error()})
		case n == 0:
			again++
			require.Less(t, again, 1000, "it asks to be asked again, over and over")
		default:
			require.True(t, n <= limit, "%d elements; at most %d were asked for", n, limit)
			require.Equal(t, n, b.Rows(), "elements in memory")
			out = append(out, Split(&b)...)
		}
	}
	tokens[len(out)] = it.Token()
	return out, tokens
}

// Split returns the elements in a buffer.
func Split(b *block.Buffer) []Element {
	var out []Element
	for _, b := range b.Blocks() {
		for r := range b.Rows {
			e := Element{Shapes: b.Shapes.Shapes()}
			for i, c := range b.Slice(r, r+1).Columns {
				if c.Text == nil {
					e.Data = append(e.Data, append([]byte{}, c.Data...))
					continue
				}
				texts := []string{}
				for k := range c.Text.Len() {
					texts = append(texts, string(c.Text.At(k)))
				}
				if n := b.Shapes.Components[i].Count(); n != int64(len(texts)) {
					e.Err = fmt.Sprintf("component %d has %d strings; its shape asks for %d", i, len(texts), n)
				}
				e.Texts = append(e.Texts, texts)
			}
			out = append(out, e)
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

// Cardinality implements dataset.Definition.
func (r Range) Cardinality() int64 { return int64(r) }

// Iterate implements dataset.Definition.
func (r Range) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(r, s, pass, from)
}

// Open implements dataset.Indexed.
func (r Range) Open(_ *dataset.Scope, _ rng.Key) (dataset.RandomAccess, error) { return r, nil }

// Fetch implements dataset.RandomAccess.
func (r Range) Fetch(index []int64, dst dataset.Sink) error {
	b, err := dst.Block(r.Spec(), int64(len(index)))
	if err != nil {
		return err
	}
	for i, x := range index {
		if x < 0 || r >= 0 && x >= int64(r) {
			return fmt.Errorf("element %d of %d was asked for", x, r)
		}
		binary.LittleEndian.PutUint64(b.Columns[0].Data[8*i:], uint64(x))
		index[i] = -1 // index is scratch memory: nobody may count on it afterwards
	}
	return nil
}

// Stream hides that a dataset is indexed, and how many elements it has.
type Stream struct{ dataset.Definition }

// Cardinality implements dataset.Definition.
func (Stream) Cardinality() int64 { return dataset.Unknown }

// TakeUntil reads up to count elements from an iterator, in runs of at most size, until
// one fails, and returns those before it with its error; the end is none.
func TakeUntil(it dataset.Iterator, size, count int64) ([]Element, error) {
	out := []Element{}
	var b block.Buffer
	for int64(len(out)) < count {
		b.Reset()
		n, err := it.Next(min(size, count-int64(len(out))), &b)
		switch {
		case errors.Is(err, io.EOF):
			return out, nil
		case err != nil:
			return out, err
		case n > 0:
			out = append(out, Split(&b)...)
		}
	}
	return out, nil
}
