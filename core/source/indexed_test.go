package source

import (
	"fmt"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/codec"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/record"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

func TestIndexedRecords(t *testing.T) {
	for name, source := range kinds(t) {
		fs := &counted{FS: memfs.New()}
		for i, file := range []string{"a", "b", "c"} {
			source.write(fs.FS.(*memfs.FS), file, codec.None, numbered(file, 5*i+1)...)
		}
		stream, err := source.open(Files{Paths: []string{"a", "b", "c"}, ParallelReads: 1})
		require.NoError(t, err)
		d, err := Indexed(fs, stream)
		require.NoError(t, err)
		require.EqualValues(t, 18, d.Cardinality(), name)
		require.Equal(t, texts(t, on{stream, fs}), texts(t, d), name)
		datasettest.Check(t, d, 20)
		require.Zero(t, fs.open.Load(), "files left open")
	}
}

func TestIndexedRefusesWhatItCannotRead(t *testing.T) {
	fs := memfs.New()
	fs.Set("z", pack(t, codec.Gzip, "a\nb\n"))
	lines, err := TextLine(Files{Paths: []string{"z"}, Compression: codec.Auto, ParallelReads: 3})
	require.NoError(t, err)
	_, err = Indexed(fs, lines)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.ErrorContains(t, err, "z is compressed with GZIP")
	_, err = Indexed(fs, Random(1, false))
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.ErrorContains(t, err, "TFRecordDataset")
}

func TestIndexedCountsWhatItLeavesOut(t *testing.T) {
	fs := hurt(t, 12)
	stream, err := TFRecord(Files{Paths: []string{"a", "b"}, Errors: record.Skip})
	require.NoError(t, err)
	d, err := Indexed(fs, stream)
	require.NoError(t, err)
	require.EqualValues(t, 9, d.Cardinality())
	datasettest.Check(t, d, 20)
	counts(t, d, 1, "a at byte 36")
}

func TestIndexedErrorsAreAtTheirPlaces(t *testing.T) {
	fs := hurt(t, 12)
	stream, err := TFRecord(Files{Paths: []string{"a", "b"}})
	require.NoError(t, err)
	d, err := Indexed(fs, stream)
	require.NoError(t, err)
	got := texts(t, d)
	require.Len(t, got, 10)
	require.Contains(t, got[2], "a at byte 36")
	datasettest.Check(t, d, 20)
	tfrecord(t, fs, "b", codec.None, "other")
	got = texts(t, d)
	require.Contains(t, got[9], "b at byte 0: the file changed after it was indexed")
}

// TestManyFilesAndFewDescriptors reads 10,000 files with `ulimit -n 256`: a hundred,
// each a hundred times, which the index does not know.
func TestManyFilesAndFewDescriptors(t *testing.T) {
	folder, paths, fs := t.TempDir(), make([]string, 10_000), vfs.Local()
	for i := range paths {
		paths[i] = filepath.Join(folder, fmt.Sprint(i%100))
		if i < 100 {
			f, err := fs.Create(paths[i])
			require.NoError(t, err)
			_, err = fmt.Fprintf(f, "line of %d\n", i)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		}
	}
	var limit syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	low := syscall.Rlimit{Cur: 256, Max: limit.Max}
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)) }()
	stream, err := TextLine(Files{Paths: paths})
	require.NoError(t, err)
	d, err := Indexed(fs, stream)
	require.NoError(t, err)
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	access, err := d.(dataset.Indexed).Open(s, dataset.PassKey(0))
	require.NoError(t, err)
	var readers sync.WaitGroup
	for g := range 8 {
		readers.Go(func() {
			var b block.Buffer
			for i := range 1250 {
				k := int64(i*7919+g*1250) % 10_000
				b.Reset()
				if err := access.Fetch([]int64{k}, &b); err != nil {
					t.Error(err)
				} else if got := string(b.Blocks()[0].Columns[0].Text.At(0)); got != fmt.Sprintf("line of %d", k%100) {
					t.Errorf("record %d is %q", k, got)
				}
			}
		})
	}
	readers.Wait()
}
