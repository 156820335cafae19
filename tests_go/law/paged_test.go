package law

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/rng"
	"infeed/core/snapshot"
	"infeed/core/spec"
	"infeed/core/transform"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// wide is n elements of 4 KiB that begin with their number.
type wide int64

const wideBytes = 4096

func (wide) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{wideBytes}}}}
}
func (w wide) Cardinality() int64 { return int64(w) }
func (w wide) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(w, s, pass, from)
}
func (w wide) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return w, nil }
func (w wide) Fetch(index []int64, dst dataset.Sink) error {
	b, err := dst.Block(w.Spec(), int64(len(index)))
	if err != nil {
		return err
	}
	clear(b.Columns[0].Data)
	for r, i := range index {
		for k := range 8 {
			b.Columns[0].Data[r*wideBytes+k] = byte(i >> (8 * k))
		}
	}
	return nil
}

// reading counts what is read of chunks.
type reading struct {
	vfs.FS
	reads atomic.Int64
}

type readFile struct {
	vfs.File
	of *reading
}

func (r *reading) Open(path string) (vfs.File, error) {
	f, err := r.FS.Open(path)
	if err != nil || !strings.HasSuffix(path, ".chunk") {
		return f, err
	}
	return &readFile{f, r}, nil
}

func (f *readFile) ReadAt(b []byte, at int64) (int, error) {
	f.of.reads.Add(1)
	return f.File.ReadAt(b, at)
}

// walked returns the numbers of a pass, and how often chunks were read.
func walked(t *testing.T, fs *reading, d dataset.Definition) ([]int64, int64) {
	t.Helper()
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	before := fs.reads.Load()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	var out []int64
	var b block.Buffer
	for {
		b.Reset()
		n, err := it.Next(64, &b)
		if err != nil {
			return out, fs.reads.Load() - before
		}
		for r := range n {
			number := int64(0)
			for k := range 8 {
				number |= int64(b.Blocks()[0].Columns[0].Data[r*wideBytes+int64(k)]) << (8 * k)
			}
			out = append(out, number)
		}
	}
}

// A compressed snapshot that is larger than what a reader keeps of it is decompressed
// about once when it is shuffled by pages.
func TestAPagedShuffleReadsBlocksOnce(t *testing.T) {
	const n = 24 << 10 // 96 MiB
	fs := &reading{FS: memfs.New()}
	save, err := snapshot.Save(wide(n), "/s", snapshot.Options{Compression: snapshot.Snappy})
	require.NoError(t, err)
	s := dataset.NewScope(fs, 0)
	it, err := save.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, err = it.Next(1, new(block.Buffer))
	require.NoError(t, err)
	s.Close()
	d, err := snapshot.Load(fs, "/s")
	require.NoError(t, err)
	_, blocks := walked(t, fs, d)
	require.Greater(t, blocks, int64(90))
	for _, page := range []int64{1000, 2048} { // not of whole blocks, and of whole ones
		shuffled, err := transform.Shuffle(d, transform.ShuffleOptions{Seed: 5, Page: page, Window: 4 * page})
		require.NoError(t, err)
		numbers, reads := walked(t, fs, shuffled)
		require.Len(t, numbers, n)
		seen := make([]bool, n)
		for _, x := range numbers {
			require.False(t, seen[x])
			seen[x] = true
		}
		t.Logf("pages of %d elements: %d reads; %d in order", page, reads, blocks)
		require.LessOrEqual(t, reads, blocks+blocks/3)
	}
}
