package fault

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/rng"
	"infeed/core/snapshot"
	"infeed/core/spec"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// source is a stream of elements with a number, a text and bytes whose length differs.
// It counts what it makes.
type source struct {
	n    int64
	made *int64
}

var sourceSpec = &spec.Element{
	Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 3)},
	Components: []spec.Component{
		{DType: spec.DType{Kind: 'i', Size: 8}},
		{DType: spec.Text},
		{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{-1}},
	},
}

func (s source) Spec() *spec.Element { return sourceSpec }
func (s source) Cardinality() int64  { return s.n }

func (s source) Iterate(scope *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(s, scope, pass, from)
}

func (s source) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return s, nil }

func (s source) Fetch(index []int64, dst dataset.Sink) error {
	for _, i := range index {
		*s.made++
		shapes := &spec.Element{Structure: sourceSpec.Structure, Components: append([]spec.Component{}, sourceSpec.Components...)}
		shapes.Components[2].Shape = []int64{i % 3}
		b, err := dst.Block(shapes, 1)
		if err != nil {
			return err
		}
		for k := range 8 {
			b.Columns[0].Data[k] = byte(i >> (8 * k))
		}
		b.Columns[1].Text.Append(fmt.Appendf(nil, "element %d", i))
		for k := range b.Columns[2].Data {
			b.Columns[2].Data[k] = byte(i + int64(k))
		}
	}
	return nil
}

const (
	folder   = "/snapshots/fingerprint"
	elements = 20
)

// keep returns a snapshot of the source that commits every few elements.
func keep(t testing.TB, made *int64) dataset.Definition {
	t.Helper()
	k, err := snapshot.Keep(source{elements, made}, folder, snapshot.Options{ChunkBytes: 150}, snapshot.KeepOptions{})
	require.NoError(t, err)
	return k
}

// wanted returns the elements of the source.
var wanted = sync.OnceValue(func() []datasettest.Element {
	scope := dataset.NewScope(memfs.New(), 0)
	defer scope.Close()
	it, err := source{elements, new(int64)}.Iterate(scope, dataset.PassKey(0), nil)
	if err != nil {
		panic(err)
	}
	out, err := datasettest.TakeUntil(it, 1, elements)
	if err != nil {
		panic(err)
	}
	return out
})

// walk reads the first elements of a pass, a few at a time, until one fails.
// told is what scopes of walk were told that went wrong.
var told []string

func walk(t testing.TB, fs vfs.FS, d dataset.Definition, count int64) ([]datasettest.Element, error) {
	t.Helper()
	s := dataset.NewScope(fs, 0)
	s.Notice = func(text string) { told = append(told, text) }
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	if err != nil {
		return []datasettest.Element{}, err
	}
	return datasettest.TakeUntil(it, 3, count)
}
