package fault

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
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

// thirds is a shard_func: the rest by three of an element's number.
type thirds struct{}

func (thirds) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'u', Size: 1}}}}
}

func (thirds) Calls() int { return 1 }

func (p thirds) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(p.Spec(), in.Rows)
	for r := range in.Rows {
		out.Columns[0].Data[r] = in.Columns[0].Data[8*r] % 3
	}
	return in.Rows, err
}

// inPartsAndNot runs a test for a snapshot in one part, and one in three.
func inPartsAndNot(t *testing.T, f func(t *testing.T, shard dataset.Program)) {
	t.Run("whole", func(t *testing.T) { f(t, nil) })
	t.Run("parts", func(t *testing.T) { f(t, thirds{}) })
}

// keep returns a snapshot of the source that commits every few elements.
func keep(t testing.TB, made *int64, shard dataset.Program) dataset.Definition {
	t.Helper()
	k, err := snapshot.Keep(source{elements, made}, folder, snapshot.Options{ChunkBytes: 150, Shard: shard}, snapshot.KeepOptions{})
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

// told is what scopes of walk were told that went wrong.
var told []string

// walk reads the first elements of a pass, a few at a time, until one fails.
func walk(t testing.TB, fs vfs.FS, d dataset.Definition, count int64) ([]datasettest.Element, error) {
	t.Helper()
	return walkWith(t, fs, d, count, 0)
}

// walkWith is walk with workers.
func walkWith(t testing.TB, fs vfs.FS, d dataset.Definition, count int64, workers int) ([]datasettest.Element, error) {
	t.Helper()
	s := dataset.NewScope(fs, workers)
	s.Notice = func(text string) { told = append(told, text) }
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	if err != nil {
		return []datasettest.Element{}, err
	}
	return datasettest.TakeUntil(it, 3, count)
}
