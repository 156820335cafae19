package source

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/vfs/memfs"
)

func TestRecordsKeepTheContracts(t *testing.T) {
	for name, source := range kinds(t) {
		for _, kind := range []codec.Kind{codec.None, codec.Gzip} { // others are much alike, and slow to take up
			t.Run(name+kind.String(), func(t *testing.T) {
				fs := memfs.New()
				source.write(fs, "a", kind, numbered("a", 7)...)
				source.write(fs, "b", kind, numbered("b", 1)...)
				source.write(fs, "c", kind, numbered("c", 6)...)
				for _, parallel := range []int64{0, 2, 7} {
					d, err := source.open(Files{Paths: []string{"a", "b", "c", "a"}, Compression: codec.Auto, BufferBytes: 64, ParallelReads: parallel})
					require.NoError(t, err)
					require.Equal(t, dataset.Unknown, d.Cardinality())
					require.Len(t, texts(t, on{d, fs}), 21)
					datasettest.Check(t, on{d, fs}, 40)
				}
			})
		}
	}
}

func TestRecordsAreThoseOfTheFiles(t *testing.T) {
	fs := memfs.New()
	for name, source := range kinds(t) {
		a, b := numbered("a", 3000), numbered("b", 7)
		source.write(fs, "a", codec.None, a...)
		paths := []string{"a"}
		for _, kind := range []codec.Kind{codec.Gzip, codec.Zlib, codec.Zstd} {
			paths = append(paths, kind.String())
			source.write(fs, kind.String(), kind, b...)
		}
		d, err := source.open(Files{Paths: paths, Compression: codec.Auto})
		require.NoError(t, err)
		got := texts(t, on{d, fs})
		require.Len(t, got, 3021, name)
		for i, want := range append(append(append(a, b...), b...), b...) {
			if name == "FixedLength" {
				want = fmt.Sprintf("%-20.20s", want)
			}
			require.Equal(t, want, got[i], "%s %d", name, i)
		}
	}
}

func TestTextLineTakesLinesAsTheyAre(t *testing.T) {
	fs := memfs.New()
	for text, want := range map[string][]string{
		"":                  {},
		"\n":                {""},
		"a":                 {"a"},
		"a\r\nb\rc\r\n\n\r": {"a", "b\rc", "", ""},
		"\xef\xbb\xbfa\n":   {"\xef\xbb\xbfa"},
		"a\x00b\nc":         {"a\x00b", "c"},
	} {
		fs.Set("x", []byte(text))
		d, err := TextLine(Files{Paths: []string{"x"}})
		require.NoError(t, err)
		require.Equal(t, want, texts(t, on{d, fs}), "%q", text)
	}
}

// The orders are those of tensorflow 2.21's TFRecordDataset(num_parallel_reads=n) over
// files a, b, ... with so many records each.
func TestParallelReadsTakeTurnsAsTensorFlow(t *testing.T) {
	for _, c := range []struct {
		lengths  []int
		parallel int64
		want     string
	}{
		{[]int{3, 3}, 1, "a0 a1 a2 b0 b1 b2"},
		{[]int{3, 3}, 10, "a0 b0 a1 b1 a2 b2"},
		{[]int{1, 3, 2, 2}, 2, "a0 b0 b1 c0 b2 c1 d0 d1"},
		{[]int{1, 3, 2, 2}, 3, "a0 b0 c0 b1 c1 d0 b2 d1"},
		{[]int{0, 2, 0, 3, 1}, 2, "b0 b1 d0 d1 e0 d2"},
		{[]int{0, 2, 0, 3, 1}, 3, "b0 d0 b1 e0 d1 d2"},
		{[]int{0, 2, 0, 3, 1}, 10, "b0 d0 e0 b1 d1 d2"},
		{[]int{2, 0, 0, 0, 3, 1}, 2, "a0 a1 e0 f0 e1 e2"},
		{[]int{2, 0, 0, 0, 3, 1}, 10, "a0 e0 f0 a1 e1 e2"},
		{[]int{5, 1, 1, 1, 1}, 2, "a0 b0 a1 a2 c0 a3 a4 d0 e0"},
		{[]int{5, 1, 1, 1, 1}, 3, "a0 b0 c0 a1 a2 d0 e0 a3 a4"},
		{[]int{1, 1, 1, 4, 0, 2}, 2, "a0 b0 c0 d0 d1 d2 f0 d3 f1"},
		{[]int{1, 1, 1, 4, 0, 2}, 3, "a0 b0 c0 d0 f0 d1 f1 d2 d3"},
		{[]int{0, 0}, 2, ""},
		{nil, 2, ""},
	} {
		fs := memfs.New()
		var paths []string
		for i, n := range c.lengths {
			path := string(rune('a' + i))
			var records []string
			for k := range n {
				records = append(records, fmt.Sprint(path, k))
			}
			tfrecord(t, fs, path, codec.None, records...)
			paths = append(paths, path)
		}
		d, err := TFRecord(Files{Paths: paths, ParallelReads: c.parallel})
		require.NoError(t, err)
		require.Equal(t, c.want, strings.Join(texts(t, on{d, fs}), " "), "%v, %d at once", c.lengths, c.parallel)
	}
}

func TestFilesRefuseWhatMakesNoSense(t *testing.T) {
	for text, f := range map[string]func() (dataset.Definition, error){
		"buffer_size is -1":        func() (dataset.Definition, error) { return TFRecord(Files{BufferBytes: -1}) },
		"num_parallel_reads is -2": func() (dataset.Definition, error) { return TextLine(Files{ParallelReads: -2}) },
		"record_bytes is 0":        func() (dataset.Definition, error) { return FixedLength(Files{}, 0, 0, 0) },
		"header_bytes is -1":       func() (dataset.Definition, error) { return FixedLength(Files{}, 1, -1, 0) },
	} {
		_, err := f()
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), text)
		require.ErrorContains(t, err, text)
	}
}

func TestStatesOfOtherFilesAreRefused(t *testing.T) {
	fs := memfs.New()
	tfrecord(t, fs, "a", codec.None, "x", "y")
	d, err := TFRecord(Files{Paths: []string{"a", "a"}, ParallelReads: 2})
	require.NoError(t, err)
	one, err := TFRecord(Files{Paths: []string{"a"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		d     dataset.Definition
		token *dataset.Token
	}{
		"a file that is not there":      {one, dataset.Over(dataset.At(2, 0, 0), 0)},
		"more elements than there are":  {one, dataset.Over(dataset.At(0, 0, 0), 3)},
		"a slot that is not there":      {d, dataset.At(2, 2, 0, 0)},
		"more files than there are":     {d, dataset.At(0, 3, 0, 0)},
		"a file that was not begun":     {d, &dataset.Token{At: []int64{0, 1, 2, 0}, In: []*dataset.Token{nil, nil}}},
		"an open file that has no more": {d, &dataset.Token{At: []int64{0, 1, 1, 0}}},
	} {
		s := dataset.NewScope(fs, 0)
		_, err := c.d.Iterate(s, dataset.PassKey(0), c.token)
		s.Close()
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), name)
	}
}

func TestStatesOfFilesAreSmall(t *testing.T) {
	fs := memfs.New()
	tfrecord(t, fs, "a", codec.None, numbered("a", 5000)...)
	d, err := TFRecord(Files{Paths: []string{"a", "a", "a", "a"}, ParallelReads: 4})
	require.NoError(t, err)
	s := dataset.NewScope(fs, 2)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, tokens := datasettest.Take(t, it, 1000, 7000)
	require.Less(t, len(asJSON(t, tokens[7000])), 4*100)
}

func TestRecordsOfManyFilesKeepOneOpen(t *testing.T) {
	fs := &counted{FS: memfs.New()}
	paths := make([]string, 10_000)
	for i := range paths {
		paths[i] = fmt.Sprint("f", i)
		tfrecord(t, fs.FS, paths[i], codec.None, fmt.Sprint(i))
	}
	for _, parallel := range []int64{0, 16} {
		fs.most.Store(0)
		d, err := TFRecord(Files{Paths: paths, ParallelReads: parallel})
		require.NoError(t, err)
		require.Len(t, texts(t, on{d, fs}), len(paths))
		require.LessOrEqual(t, fs.most.Load(), max(parallel, 1))
		require.Zero(t, fs.open.Load())
	}
}
