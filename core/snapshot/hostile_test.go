package snapshot

import (
	"fmt"
	"math"
	"os"
	"path"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// allocated returns how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// hostileFooter is the footer of a chunk of numbers, of blocks of one piece.
type hostileFooter struct {
	specBytes, blocks, pieces uint32
	rows                      uint32
	raw, stored               uint64
	codec                     Compression
}

func (h hostileFooter) bytes(text []byte) []byte {
	b := le.AppendUint32(nil, h.specBytes)
	b = append(b, text...)
	b = le.AppendUint32(b, h.blocks)
	b = le.AppendUint32(b, h.pieces)
	b = le.AppendUint32(b, h.rows)
	b = le.AppendUint64(b, h.raw)
	b = le.AppendUint64(b, h.stored)
	b = append(b, byte(h.codec), 0, 0, 0)
	return le.AppendUint32(b, 0)
}

// Sizes that a chunk claims, with right checksums, are errors before memory is taken for
// them.
func TestHostileSizesAllocateNothing(t *testing.T) {
	text := []byte(`{"structure":null,"components":[{"dtype":"<i8","shape":[]}]}`)
	good := hostileFooter{specBytes: uint32(len(text)), blocks: 1, pieces: 1, rows: 8, raw: 64, stored: 64}
	const huge = 1 << 60
	for name, change := range map[string]func(h *hostileFooter){
		"a spec":                   func(h *hostileFooter) { h.specBytes = math.MaxUint32 },
		"blocks":                   func(h *hostileFooter) { h.blocks = math.MaxUint32 },
		"blocks that may be":       func(h *hostileFooter) { h.blocks = mostBlocks },
		"pieces":                   func(h *hostileFooter) { h.pieces = math.MaxUint32 },
		"rows":                     func(h *hostileFooter) { h.rows = math.MaxUint32 },
		"rows and their bytes":     func(h *hostileFooter) { h.rows, h.raw, h.stored = mostRows, 8*mostRows, 8*mostRows },
		"a piece":                  func(h *hostileFooter) { h.raw, h.stored = huge, huge },
		"a piece of negative size": func(h *hostileFooter) { h.raw, h.stored = math.MaxUint64, math.MaxUint64 },
		"a packed piece":           func(h *hostileFooter) { h.codec, h.raw = Zstd, huge },
		"a stored packed piece":    func(h *hostileFooter) { h.codec, h.stored = Snappy, huge },
	} {
		h := good
		change(&h)
		b, info := chunkOf(make([]byte, 64), h.bytes(text), 8)
		fs := memfs.New()
		fs.Set("/s/chunks/"+info.File, b)
		l := newLayout(orderSpec)
		var err error
		n := allocated(func() {
			r := newReader(fs, "/s", l, []ChunkInfo{info})
			err = r.Fetch([]int64{0}, new(block.Buffer))
			r.Close()
		})
		require.Equal(t, errs.DataLoss, errs.KindOf(err), name)
		require.Less(t, n, uint64(256<<10), "%s: %v", name, err)
	}
	// The same of elements in manifests: they are only counted.
	fs := memfs.New()
	for _, chunks := range []string{
		`[{"file":"0123456789abcdef-0000-000000.chunk","elements":281474976710656,"bytes":9223372036854775807,"footer":1}]`,
		`[{"file":"0123456789abcdef-0000-000000.chunk","elements":9223372036854775807,"bytes":1,"footer":1}]`,
	} {
		fs.Set("/s/manifest.json", sealed([]byte(fmt.Sprintf(
			`{"format":"infeed.snapshot","version":1,"writer":"0123456789abcdef","compression":"NONE","elements":281474976710656,"spec":%s,"about":null,"chunks":%s`, text, chunks))))
		n := allocated(func() {
			if d, err := Load(fs, "/s"); err == nil {
				s := dataset.NewScope(fs, 0)
				defer s.Close()
				access, err := d.Open(s, dataset.PassKey(0))
				require.NoError(t, err)
				require.Error(t, access.Fetch([]int64{1 << 40}, new(block.Buffer)))
			} else {
				require.Equal(t, errs.DataLoss, errs.KindOf(err))
			}
		})
		require.Less(t, n, uint64(256<<10))
	}
}

// A chunk that is cut, or gone, while it is read is an error with its name and the place,
// and no crash. What was read before stays right; a chunk that is whole again is read.
func TestChunksThatAreCutWhileOpen(t *testing.T) {
	for _, c := range []Compression{None, Snappy, Zstd, Gzip} {
		folder := t.TempDir()
		in := wide{n: 3000, size: 1000}
		save(t, vfs.Local(), in, folder, Options{Compression: c})
		d, err := Load(vfs.Local(), folder)
		require.NoError(t, err)
		access, err := d.Open(scopeOn(t, vfs.Local(), 0), dataset.PassKey(0))
		require.NoError(t, err)
		first := datasettest.Read(t, access, 0, 1)
		m, err := ReadManifest(vfs.Local(), folder)
		require.NoError(t, err)
		require.Len(t, m.Chunks, 1)
		file := path.Join(folder, chunkFolder, m.Chunks[0].File)
		whole, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.Truncate(file, 5000))
		err = access.Fetch([]int64{2999}, new(block.Buffer))
		var e *errs.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, errs.DataLoss, e.Kind, "%v", c)
		require.Equal(t, file, e.Path)
		require.GreaterOrEqual(t, e.Offset, int64(5000))
		require.ErrorContains(t, err, "it was cut")
		require.NoError(t, os.WriteFile(file, whole, 0o644)) // the same file, as long as before
		require.Equal(t, datasettest.Read(t, in, 2999, 0, 1), datasettest.Read(t, access, 2999, 0, 1))
		require.Equal(t, first, datasettest.Read(t, access, 0, 1))

		require.NoError(t, os.Remove(file)) // it is open
		require.Equal(t, datasettest.Read(t, in, 1500), datasettest.Read(t, access, 1500))
		fresh, err := Load(vfs.Local(), folder)
		require.NoError(t, err)
		access, err = fresh.Open(scopeOn(t, vfs.Local(), 0), dataset.PassKey(0))
		require.NoError(t, err)
		err = access.Fetch([]int64{0}, new(block.Buffer))
		require.Equal(t, errs.DataLoss, errs.KindOf(err))
		require.ErrorContains(t, err, "it is not there")
	}
}
