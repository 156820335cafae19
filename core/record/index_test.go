package record

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/codec"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

func read(t *testing.T, ix *Index, numbers ...int64) []string {
	t.Helper()
	var b Block
	require.NoError(t, ix.Read(&b, numbers))
	var out []string
	for i := range b.Len() {
		out = append(out, string(b.Record(i)))
	}
	return out
}

func TestIndexReadsInAnyOrder(t *testing.T) {
	for _, f := range forms(t) {
		records := f.shape(sample(150))
		fs := memfs.New()
		fs.Set("a", f.write(t, records[:70]))
		fs.Set("empty", f.write(t, nil))
		fs.Set("b", f.write(t, records[70:]))
		ix, damage, err := NewIndex(fs, []string{"empty", "a", "empty", "b", "empty"}, f.format, Options{BlockBytes: 300, Compression: codec.Auto})
		require.NoError(t, err)
		require.Zero(t, damage)
		require.Equal(t, int64(150), ix.Len(), f.name)
		r := rand.New(rand.NewPCG(1, 2))
		for range 50 {
			var numbers []int64
			var want []string
			for range r.IntN(10) {
				from := r.IntN(150)
				for i := from; i < min(150, from+r.IntN(5)); i++ {
					numbers = append(numbers, int64(i))
					want = append(want, records[i])
				}
			}
			require.Equal(t, want, read(t, ix, numbers...), f.name)
		}
		all := make([]int64, 150)
		for i := range all {
			all[i] = int64(i)
		}
		require.Equal(t, records, read(t, ix, all...), f.name)
		for _, n := range []int64{-1, 150} {
			require.ErrorContains(t, ix.Read(new(Block), []int64{0, n}), "of 150")
		}
		ix.Close()
	}
}

func TestIndexOfLinesWithoutLastNewline(t *testing.T) {
	fs := memfs.New()
	fs.Set("a", []byte("one\r\n\ntwo\r"))
	ix, _, err := NewIndex(fs, []string{"a", "a"}, Lines(), Options{})
	require.NoError(t, err)
	defer ix.Close()
	require.Equal(t, []string{"two", "", "two", "one"}, read(t, ix, 5, 1, 2, 3))
}

func TestIndexAndDamage(t *testing.T) {
	bad := frames(t, five...)
	bad[offset(1)+12] ^= 1 // content
	bad[offset(3)+1] ^= 1  // length
	bad = append(bad, "torn"...)
	fs := memfs.New()
	fs.Set("a", bad)
	_, _, err := NewIndex(fs, []string{"a"}, TFRecord(), Options{})
	lossAt(t, err, "a", offset(3), "a length is found by the scan")
	ix, damage, err := NewIndex(fs, []string{"a", "a"}, TFRecord(), Options{Errors: Skip})
	require.NoError(t, err)
	require.Equal(t, int64(6), damage.Count)
	require.Equal(t, []string{"four", "zero", "", "four"}, read(t, ix, 5, 0, 1, 2))
	ix.Close()
	ix, damage, err = NewIndex(fs, []string{"a", "a"}, TFRecord(), Options{Errors: Truncate})
	require.NoError(t, err)
	require.Equal(t, int64(2), damage.Count)
	require.Equal(t, []string{"zero", "zero"}, read(t, ix, 0, 1))
	ix.Close()

	fs.Set("a", bad[:offset(3)])
	ix, _, err = NewIndex(fs, []string{"a"}, TFRecord(), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"zero", ""}, read(t, ix, 0, 2))
	lossAt(t, ix.Read(new(Block), []int64{1}), "a", offset(1), "content is checked when it is read")
	ix.Close()
}

func TestIndexNoticesOtherFiles(t *testing.T) {
	fs := memfs.New()
	for _, kind := range kinds[1:] {
		fs.Set("a", packed(t, kind, "x", "y"))
		_, _, err := NewIndex(fs, []string{"a"}, TFRecord(), Options{Compression: codec.Auto})
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		require.ErrorContains(t, err, "a is compressed with "+kind.String())
	}
	_, _, err := NewIndex(fs, []string{"absent"}, TFRecord(), Options{})
	require.Equal(t, errs.NotFound, errs.KindOf(err))
	fs.Set("a", frames(t, "x", "y"))
	ix, _, err := NewIndex(fs, []string{"a"}, TFRecord(), Options{})
	require.NoError(t, err)
	fs.Set("a", frames(t, "x", "z"))
	require.ErrorContains(t, ix.Read(new(Block), []int64{0}), "a at byte 0: the file changed after it was indexed")
	fs.Set("a", frames(t, "x", "y"))
	ix, _, err = NewIndex(fs, []string{"a"}, TFRecord(), Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"y"}, read(t, ix, 1))
	fs.Set("a", frames(t, "x")) // while it is open
	require.ErrorContains(t, ix.Read(new(Block), []int64{1}), "a at byte 17: the file changed after it was indexed")
	ix.Close()
	fixed, err := FixedLength(4, 0, 0)
	require.NoError(t, err)
	fs.Set("f", make([]byte, 9))
	_, _, err = NewIndex(fs, []string{"f"}, fixed, Options{})
	lossAt(t, err, "f", 8, "a rest")
	ix, damage, err := NewIndex(fs, []string{"f"}, fixed, Options{Errors: Truncate})
	require.NoError(t, err)
	require.Equal(t, []int64{2, 1}, []int64{ix.Len(), damage.Count})
}

// counting is a file system that knows how many files are open.
type counting struct {
	vfs.FS
	open, most, bytes atomic.Int64
}

type counted struct {
	vfs.File
	c      *counting
	closed *atomic.Bool
}

func (f counted) ReadAt(p []byte, off int64) (int, error) {
	runtime.Gosched() // others may close it now, if they dare
	if f.closed.Load() {
		return 0, os.ErrClosed
	}
	f.c.bytes.Add(int64(len(p)))
	return f.File.ReadAt(p, off)
}

func (c *counting) Open(path string) (vfs.File, error) {
	f, err := c.FS.Open(path)
	c.most.Store(max(c.most.Load(), c.open.Add(1)))
	return counted{f, c, new(atomic.Bool)}, err
}

func (f counted) Close() error {
	f.c.open.Add(-1)
	f.closed.Store(true)
	return f.File.Close()
}

func TestManyFilesAreNotOpenAtATime(t *testing.T) {
	mem := memfs.New()
	paths := make([]string, 300)
	for i := range paths {
		paths[i] = fmt.Sprint(i)
		mem.Set(paths[i], frames(t, paths[i], "x"))
	}
	fs := &counting{FS: mem}
	got, _, err := walk(t, fs, paths, TFRecord(), Options{}, Token{}, 10)
	require.NoError(t, err)
	require.Len(t, got, 600)
	require.Equal(t, int64(1), fs.most.Load())
	ix, _, err := NewIndex(fs, paths, TFRecord(), Options{})
	require.NoError(t, err)
	require.Zero(t, fs.open.Load())
	for _, ix.most = range []int{1, maxOpen} {
		readConcurrently(t, ix)
	}
	require.Len(t, ix.open, maxOpen)
	ix.most = 3
	closed := 0 // opening a file is what closes others
	for ix.open[closed] != nil {
		closed++
	}
	require.Equal(t, paths[closed:closed+1], read(t, ix, int64(2*closed)))
	require.Len(t, ix.open, 3)
	ix.Close()
	require.Zero(t, fs.open.Load())
	require.LessOrEqual(t, fs.most.Load(), int64(maxOpen+4), "those in use may go beyond")
}

// readConcurrently reads the files of TestManyFilesAreNotOpenAtATime.
func readConcurrently(t *testing.T, ix *Index) {
	t.Helper()
	var g sync.WaitGroup
	for k := range 4 {
		g.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			for range 200 {
				i := r.Int64N(300)
				require.Equal(t, []string{fmt.Sprint(i), "x"}, read(t, ix, 2*i, 2*i+1))
			}
		})
	}
	g.Wait()
}

// Blocks that end before their bytes do not make a compressed file be read again.
func TestCompressedFilesAreReadOnce(t *testing.T) {
	for _, kind := range kinds[1:] {
		mem := memfs.New()
		data := packed(t, kind, sample(3000)...)
		mem.Set("a", data)
		fs := &counting{FS: mem}
		_, _, err := walk(t, fs, []string{"a"}, TFRecord(), Options{Compression: kind, BlockBytes: 2000}, Token{}, 10)
		require.NoError(t, err)
		require.Less(t, fs.bytes.Load(), int64(len(data))+500_000, "%v", kind)
	}
}

func TestEveryFileOperationOfAnIndexCanFail(t *testing.T) {
	mem := memfs.New()
	mem.Set("a", frames(t, five...))
	for n := 0; ; n++ {
		fs := faultfs.New(mem, n)
		ix, _, err := NewIndex(fs, []string{"a"}, TFRecord(), Options{})
		if err != nil {
			require.ErrorContains(t, err, "injected fault")
			continue
		}
		var b Block
		if err := ix.Read(&b, []int64{3}); err != nil {
			require.ErrorContains(t, err, "injected fault")
			require.NoError(t, ix.Read(&b, []int64{3}))
		}
		require.Equal(t, "three", string(b.Record(0)))
		ix.Close()
		if !fs.Failed() {
			require.Greater(t, n, 6)
			break
		}
	}
}
