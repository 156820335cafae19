package snapshot

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
	"infeed/internal/testkit"
)

// golden is where snapshots of every version are kept for ever. Those of a new version
// are written with INFEED_WRITE_GOLDEN set, once.
func golden(t *testing.T, name string) string {
	return filepath.Join(testkit.Root(t), "testdata", "snapshots", "version-1", name)
}

func TestGoldenSnapshotsAreRead(t *testing.T) {
	fs := vfs.Local()
	for _, c := range []Compression{None, Gzip, Snappy, Zstd, Auto} {
		folder := golden(t, c.String())
		if os.Getenv("INFEED_WRITE_GOLDEN") != "" {
			writeGolden(t, fs, folder, c)
		}
		d, err := Load(fs, folder)
		require.NoError(t, err)
		require.Equal(t, read(t, fs, made{n: 20}), read(t, fs, d), "%v", c)
		m, err := ReadManifest(fs, folder)
		require.NoError(t, err)
		require.Equal(t, c.String(), m.Compression)
		require.Len(t, m.Chunks, 2)
		require.JSONEq(t, `{"of": "made"}`, string(m.About))
	}
}

// Parts are read in their order, and one by one.
func TestGoldenStreamsAreRead(t *testing.T) {
	fs, folder := vfs.Local(), golden(t, "streams")
	if os.Getenv("INFEED_WRITE_GOLDEN") != "" {
		w, err := NewWriter(fs, folder, madeSpec, Options{Compression: Auto, Replace: true, Shard: thirds{}})
		require.NoError(t, err)
		for i := range int64(20) {
			addMade(t, w, i, 2*(i%3))
			if i == 12 {
				w.Seal()
			}
		}
		require.NoError(t, w.Commit())
	}
	d, err := Load(fs, folder)
	require.NoError(t, err)
	require.Equal(t, read(t, fs, made{n: 20}), read(t, fs, d))
	d, err = LoadStream(fs, folder, 4)
	require.Equal(t, every(20, 2, 3), numbersIn(t, fs, d, err))
}

// What is written today is what was written then, where no library compresses it.
func TestWhatIsWrittenIsAsTheGoldenSnapshot(t *testing.T) {
	fs := memfs.New()
	writeGolden(t, fs, "/s", None)
	now, err := ReadManifest(fs, "/s")
	require.NoError(t, err)
	then, err := ReadManifest(vfs.Local(), golden(t, "NONE"))
	require.NoError(t, err)
	for i, c := range now.Chunks {
		old, err := os.ReadFile(filepath.Join(golden(t, "NONE"), chunkFolder, then.Chunks[i].File))
		require.NoError(t, err)
		require.Equal(t, old, fs.Bytes(path.Join("/s", chunkFolder, c.File)))
	}
}

func writeGolden(t *testing.T, fs vfs.FS, folder string, c Compression) {
	t.Helper()
	w, err := NewWriter(fs, folder, madeSpec, Options{Compression: c, Replace: true, About: []byte(`{"of": "made"}`)})
	require.NoError(t, err)
	for i := range int64(20) {
		addMade(t, w, i, 0)
		if i == 12 {
			w.Seal()
		}
	}
	require.NoError(t, w.Commit())
}

// A pass that was broken off then is gone on with now.
func TestGoldenJournalsAreGoneOnWith(t *testing.T) {
	for name, shard := range map[string]dataset.Program{"unfinished": nil, "unfinished-streams": thirds{}} {
		goneOnWith(t, golden(t, name), shard)
	}
}

func goneOnWith(t *testing.T, folder string, shard dataset.Program) {
	t.Helper()
	if os.Getenv("INFEED_WRITE_GOLDEN") != "" {
		w, err := NewWriter(vfs.Local(), folder, madeSpec, Options{Shard: shard})
		require.NoError(t, err)
		for i := range int64(12) {
			addMade(t, w, i, 2*(i%3))
			w.Mark(dataset.At(i + 1))
		}
		require.NoError(t, w.Close())
	}
	fs := memfs.New()
	require.NoError(t, filepath.WalkDir(folder, func(at string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, err := os.ReadFile(at)
			require.NoError(t, err)
			rest, err := filepath.Rel(folder, at)
			require.NoError(t, err)
			fs.Set(path.Join("/s", filepath.ToSlash(rest)), text)
		}
		return err
	}))
	count := int64(0)
	k, err := Keep(made{n: 20, made: &count}, "/s", Options{Shard: shard}, KeepOptions{})
	require.NoError(t, err)
	require.Equal(t, read(t, fs, made{n: 20}), read(t, fs, k))
	require.EqualValues(t, 8, count)
}

func addMade(t *testing.T, w *Writer, i, stream int64) {
	t.Helper()
	var b block.Buffer
	require.NoError(t, made{}.Fetch([]int64{i}, &b))
	require.NoError(t, w.Add(b.Blocks()[0], []int64{stream}))
}
