package snapshot

import (
	"path"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// metered counts the bytes that are read.
type metered struct {
	vfs.FS
	bytes *atomic.Int64
}

type meteredFile struct {
	vfs.File
	bytes *atomic.Int64
}

func (c metered) Open(at string) (vfs.File, error) {
	f, err := c.FS.Open(at)
	return meteredFile{f, c.bytes}, err
}

func (c meteredFile) ReadAt(b []byte, at int64) (int, error) {
	c.bytes.Add(int64(len(b)))
	return c.File.ReadAt(b, at)
}

// An element costs its pages where they were not read before, and then itself only.
func TestPagesAreCheckedOnce(t *testing.T) {
	fs := metered{memfs.New(), new(atomic.Int64)}
	in := wide{n: 30, size: 30001}
	save(t, fs, in, "/s", Options{})
	r, _, err := NewReader(fs, "/s")
	require.NoError(t, err)
	datasettest.Read(t, r, 0) // opens the chunk
	for _, i := range []int64{7, 29} {
		begin, end := i*in.size/pageBytes*pageBytes, (i+1)*in.size
		if end = (end + pageBytes - 1) / pageBytes * pageBytes; end > in.n*in.size {
			end = in.n * in.size
		}
		for round, want := range []int64{end - begin, in.size, in.size} {
			fs.bytes.Store(0)
			require.Equal(t, datasettest.Read(t, in, i), datasettest.Read(t, r, i))
			require.Equal(t, want, fs.bytes.Load(), "element %d, time %d", i, round)
		}
	}
}

// A flipped bit is found by whoever reads its page, however much else he reads, and by
// nobody else.
func TestDamagedPages(t *testing.T) {
	in := wide{n: 30, size: 30001}
	fs := memfs.New()
	save(t, fs, in, "/s", Options{})
	m, err := ReadManifest(fs, "/s")
	require.NoError(t, err)
	at := path.Join("/s", chunkFolder, m.Chunks[0].File)
	whole := fs.Bytes(at)
	total := in.n * in.size
	for _, bad := range []int64{0, 5000, pageBytes - 1, pageBytes, 3*pageBytes + 17, 20 * pageBytes, total - 1} {
		text := append([]byte{}, whole...)
		text[headerBytes+bad] ^= 4
		fs.Set(at, text)
		first, last := bad/pageBytes*pageBytes, min((bad/pageBytes+1)*pageBytes, total)
		for _, run := range [][2]int64{{bad / in.size, 1}, {0, 1}, {0, 2}, {in.n - 1, 1}, {2, 20}, {0, in.n}, {5, 9}, {in.n - 12, 12}} {
			r, _, err := NewReader(fs, "/s")
			require.NoError(t, err)
			var index []int64
			for i := range run[1] {
				index = append(index, run[0]+i)
			}
			err = r.Fetch(index, &block.Buffer{})
			if run[0]*in.size < last && (run[0]+run[1])*in.size > first {
				require.Equal(t, errs.DataLoss, errs.KindOf(err), "byte %d, elements %v", bad, run)
				name, offset := errs.Place(err)
				require.Equal(t, at, name)
				require.Equal(t, headerBytes+first, offset)
			} else {
				require.NoError(t, err, "byte %d, elements %v", bad, run)
			}
		}
	}
}

// Several goroutines that want parts of a block have it decompressed once, and it is
// not kept when all of it was used.
func TestBlocksAreDecompressedOnce(t *testing.T) {
	fs := metered{memfs.New(), new(atomic.Int64)}
	in := wide{n: 64, size: 30001}
	save(t, fs, in, "/s", Options{Compression: Snappy})
	r, m, err := NewReader(fs, "/s")
	require.NoError(t, err)
	r.helpers = 3
	want := datasettest.Read(t, in, 0, 1, 2, 3)
	require.Equal(t, want, datasettest.Read(t, r, 0, 1, 2, 3))
	fs.bytes.Store(0)
	scope := scopeOn(t, fs, 0)
	it, err := dataset.Walk(&loaded{Reader: r, elements: in.n}, scope, dataset.PassKey(0), dataset.At(4))
	require.NoError(t, err)
	got, _ := datasettest.Take(t, it, 20, in.n)
	require.Len(t, got, int(in.n)-4)
	require.Equal(t, datasettest.Read(t, in, 40), got[36:37])
	require.Less(t, fs.bytes.Load(), m.Chunks[0].Bytes)
	require.Zero(t, r.cache.bytes)
	require.Zero(t, r.cache.order.Len())
}
