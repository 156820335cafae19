package snapshot

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
	"infeed/internal/testkit"
)

func saveTF(t testing.TB, fs vfs.FS, d dataset.Definition, folder string, c Compression, shard dataset.Program) {
	t.Helper()
	def, err := SaveTF(d, folder, c, shard)
	require.NoError(t, err)
	require.Equal(t, []int64{d.Cardinality()}, read(t, fs, def)[0].Int64s())
}

func TestWhatIsSavedForTensorFlowIsLoaded(t *testing.T) {
	for _, c := range []Compression{None, Gzip, Snappy, Auto} {
		for _, n := range []int64{0, 1, 300} {
			fs := memfs.New()
			saveTF(t, fs, made{n: n}, "/a folder/[x]", c, nil)
			d, err := LoadTF(fs, "/a folder/[x]", TFOptions{Compression: Auto})
			require.NoError(t, err)
			require.Equal(t, n, d.Cardinality())
			require.True(t, d.Spec().Equal(madeSpec))
			require.Equal(t, read(t, fs, made{n: n}), read(t, fs, d), "%v", c)
		}
	}
}

// What TensorFlow saved and what is made of it are the same bytes, where no library
// compresses them.
func TestWhatIsSavedIsWhatTensorFlowSaves(t *testing.T) {
	folders, err := filepath.Glob(testkit.TF(t, "save/*/dataset_spec.pb"))
	require.NoError(t, err)
	same := 0
	for _, elements := range folders {
		folder := filepath.Dir(elements)
		files, err := filepath.Glob(strings.NewReplacer("[", `\[`).Replace(folder) + "/*/*.shard/*.snapshot")
		require.NoError(t, err)
		d, err := LoadTF(vfs.Local(), folder, TFOptions{Compression: None})
		if err != nil || len(files) != 1 || slices.Contains([]string{"ragged", "ragged2", "sparse"}, filepath.Base(folder)) {
			continue // damaged, or with variants, which may be written in several ways
		}
		s := dataset.NewScope(vfs.Local(), 0)
		defer s.Close()
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		if _, err := datasettest.TakeUntil(it, 1, 1000); err != nil {
			continue // damaged, or compressed
		}
		to := t.TempDir()
		saveTF(t, vfs.Local(), d, to, None, nil)
		written, err := filepath.Glob(to + "/*/*.shard/*.snapshot")
		require.NoError(t, err)
		require.Len(t, written, 1)
		for from, to := range map[string]string{files[0]: written[0], elements: to + "/dataset_spec.pb"} {
			want, err := os.ReadFile(from)
			require.NoError(t, err)
			got, err := os.ReadFile(to)
			require.NoError(t, err)
			require.Equal(t, want, got, from)
		}
		was, err := readTFMeta(vfs.Local(), folder)
		require.NoError(t, err)
		now, err := readTFMeta(vfs.Local(), to)
		require.NoError(t, err)
		was.run, now.run, was.written, now.written = "", "", 0, 0
		require.Equal(t, was, now)
		same++
	}
	require.GreaterOrEqual(t, same, 12)
}

// Ragged and sparse tensors that TensorFlow saved are saved as such.
func TestVariantsAreSaved(t *testing.T) {
	for name, said := range map[string]string{"ragged2": ":ragged", "sparse": "SparseTensor", "unknown_rank": ":tensor"} {
		d, err := LoadTF(vfs.Local(), testkit.TF(t, "save/"+name), TFOptions{Compression: Auto})
		require.NoError(t, err)
		to := t.TempDir()
		saveTF(t, vfs.Local(), d, to, None, nil)
		again, err := LoadTF(vfs.Local(), to, TFOptions{Compression: Auto})
		require.NoError(t, err)
		require.Equal(t, said, again.Spec().Structure.Name)
		require.Equal(t, read(t, vfs.Local(), d), read(t, vfs.Local(), again), name)
		was, err := readTFMeta(vfs.Local(), testkit.TF(t, "save/"+name))
		require.NoError(t, err)
		now, err := readTFMeta(vfs.Local(), to)
		require.NoError(t, err)
		require.Equal(t, was.types, now.types)
	}
}

func TestRowsOfRaggedTensors(t *testing.T) {
	for name, c := range map[string]struct{ shapes, shape, splits, values []int64 }{
		"none":               {nil, []int64{0, 1}, []int64{0}, []int64{0}},
		"vectors":            {[]int64{2, 0, 3}, []int64{3, 1}, []int64{0, 2, 2, 5}, []int64{5}},
		"matrices":           {[]int64{2, 4, 1, 4}, []int64{2, 2}, []int64{0, 2, 3}, []int64{3, 4}},
		"one without values": {[]int64{0, 7, 1, 4, 0, 0}, []int64{3, 2}, []int64{0, 0, 1, 1}, []int64{1, 4}},
		"only such":          {[]int64{0, 7}, []int64{1, 2}, []int64{0, 0}, []int64{0, 0}},
	} {
		splits, values, err := rowsOf(c.shapes, c.shape)
		require.NoError(t, err, name)
		require.Equal(t, c.splits, splits, name)
		require.Equal(t, c.values, values, name)
	}
	_, _, err := rowsOf([]int64{2, 4, 1, 3}, []int64{2, 2})
	require.Equal(t, errs.Unimplemented, errs.KindOf(err))
	require.ErrorContains(t, err, "rows of shapes [2 4] and [1 3]")
}

// Blocks of Snappy data are as TensorFlow can read them, whatever is written at a time.
func TestSnappyBlocksAreSmall(t *testing.T) {
	fs := memfs.New()
	f, err := fs.Create("/f")
	require.NoError(t, err)
	w := newSnappyWriter(f)
	var all []byte
	for i, n := range []int{0, 1, snappyBlock - 1, 3*snappyBlock + 5, 7} {
		piece := []byte(strings.Repeat(string(rune('a'+i)), n))
		all = append(all, piece...)
		written, err := w.Write(piece)
		require.NoError(t, err)
		require.Equal(t, n, written)
	}
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	in, err := fs.Open("/f")
	require.NoError(t, err)
	u := &unsnapped{File: in, path: "/f", held: -1}
	require.NoError(t, u.scan())
	for i := range len(u.offsets) - 1 {
		require.LessOrEqual(t, u.offsets[i+1]-u.offsets[i], int64(262144))
	}
	got := make([]byte, len(all))
	_, err = u.ReadAt(got, 0)
	require.NoError(t, err)
	require.Equal(t, all, got)
	require.EqualValues(t, len(all), u.offsets[len(u.offsets)-1])
}

func TestShardsForTensorFlow(t *testing.T) {
	fs := memfs.New()
	saveTF(t, fs, datasettest.Range(10), "/s", None, thirds{})
	m, err := readTFMeta(fs, "/s")
	require.NoError(t, err)
	names, err := fs.List("/s/" + m.run)
	require.NoError(t, err)
	require.Equal(t, []string{"00000000.shard", "00000002.shard", "00000004.shard"}, names)
	d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto})
	require.NoError(t, err)
	var got []int64
	for _, e := range read(t, fs, d) {
		got = append(got, e.Int64s()...)
	}
	require.Equal(t, []int64{0, 3, 6, 9, 1, 4, 7, 2, 5, 8}, got)
}

// What is saved takes the place of what was there, in either format; what fails leaves
// it as it was, and nothing behind.
func TestSavingForTensorFlowReplaces(t *testing.T) {
	fs := memfs.New()
	all := func() (out []string) {
		names, err := fs.List("/s")
		require.NoError(t, err)
		return names
	}
	saveTF(t, fs, made{n: 30}, "/s", None, nil)
	saveTF(t, fs, made{n: 3, seed: 1}, "/s", Gzip, nil)
	require.Len(t, all(), 3)
	saveTF(t, fs, datasettest.Range(5), "/s", None, thirds{}) // of another kind
	require.Len(t, all(), 3)
	failing, err := SaveTF(made{n: 9, bad: map[int64]bool{5: true}}, "/s", None, nil)
	require.NoError(t, err)
	require.Contains(t, read(t, fs, failing)[0].Err, "element 5")
	require.Len(t, all(), 3)
	d, err := LoadTF(fs, "/s", TFOptions{Compression: Auto})
	require.NoError(t, err)
	require.Len(t, read(t, fs, d), 5)

	save(t, fs, made{n: 4}, "/s", Options{})
	require.Equal(t, []string{"chunks", "manifest.json"}, all())
	saveTF(t, fs, made{n: 6}, "/s", None, nil)
	require.Len(t, all(), 3)
	d, err = LoadTF(fs, "/s", TFOptions{Compression: Auto})
	require.NoError(t, err)
	require.Len(t, read(t, fs, d), 6)
	save(t, fs, d, "/s", Options{}) // of itself
	own, err := Load(fs, "/s")
	require.NoError(t, err)
	require.Equal(t, read(t, fs, made{n: 6}), read(t, fs, own))
}

func TestWhatFailsLeavesNothing(t *testing.T) {
	for i := range 4 {
		tf, deep := i%2 == 0, i < 2
		above := filepath.Join(t.TempDir(), "new")
		folder := above
		if deep {
			folder = filepath.Join(above, "deeper", "in")
		}
		bad := made{n: 300, bad: map[int64]bool{250: true}}
		d, err := Save(bad, folder, Options{ChunkBytes: 1000})
		if tf {
			d, err = SaveTF(bad, folder, None, nil)
		}
		require.NoError(t, err)
		require.Contains(t, read(t, vfs.Local(), d)[0].Err, "element 250")
		require.NoDirExists(t, above)
	}
}

func TestWhatTensorFlowDoesNotHave(t *testing.T) {
	for text, e := range map[string]*spec.Element{
		"dtype datetime64":   {Components: []spec.Component{{DType: spec.DType{Kind: 'M', Size: 8, Label: "ns"}}}},
		"dtype float128":     {Components: []spec.Component{{DType: spec.DType{Kind: 'f', Size: 16}}}},
		"without components": {Structure: spec.Structure{Kind: spec.Tuple}},
	} {
		_, err := SaveTF(like{e}, "/s", None, nil)
		require.Equal(t, errs.Unimplemented, errs.KindOf(err), text)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, `save with format="infeed"`)
	}
	_, err := SaveTF(made{n: 1}, "/s", Zstd, nil)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, err = SaveTF(made{n: dataset.Infinite}, "/s", None, nil)
	require.ErrorContains(t, err, "infinite")
}

// like is a dataset with a spec, for questions only.
type like struct{ e *spec.Element }

func (l like) Spec() *spec.Element { return l.e }
func (like) Cardinality() int64    { return 0 }
func (l like) Iterate(s *dataset.Scope, pass rng.Key, _ *dataset.Token) (dataset.Iterator, error) {
	return made{}.Iterate(s, pass, nil)
}
