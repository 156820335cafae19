package snapshot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// made is the dataset of n elements that are a function of their number and seed:
// a number, floats of a fixed shape, ragged bytes, a text and ragged texts.
type made struct {
	n    int64
	seed uint64
	bad  map[int64]bool
	made *int64 // counts, unless nil
}

var madeSpec = &spec.Element{
	Structure: spec.Structure{Kind: spec.Dict, Keys: []string{"a", "b", "c", "d", "e", "f"}, Items: make([]spec.Structure, 6)},
	Components: []spec.Component{
		{DType: spec.DType{Kind: 'i', Size: 8}},
		{DType: spec.DType{Kind: 'f', Size: 4}, Shape: []int64{5, 3}},
		{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{-1, 2}},
		{DType: spec.Text},
		{DType: spec.Text, Shape: []int64{-1}},
		{DType: spec.DType{Kind: 'i', Size: 4}, Shape: []int64{0}},
	},
}

func (m made) Spec() *spec.Element { return madeSpec }
func (m made) Cardinality() int64  { return m.n }
func (m made) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(m, s, pass, from)
}
func (m made) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return m, nil }

func (m made) Fetch(index []int64, dst dataset.Sink) error {
	for _, i := range index {
		if m.bad[i] {
			return errs.New(errs.DataLoss, "made", "element %d", i)
		}
		if m.made != nil {
			*m.made++
		}
		r := rand.New(rand.NewPCG(uint64(i), m.seed))
		shapes := &spec.Element{Structure: madeSpec.Structure, Components: append([]spec.Component{}, madeSpec.Components...)}
		shapes.Components[2].Shape = []int64{int64(r.IntN(3)), 2}
		shapes.Components[4].Shape = []int64{int64(r.IntN(3))}
		b, err := dst.Block(shapes, 1)
		if err != nil {
			return err
		}
		le.PutUint64(b.Columns[0].Data, uint64(i))
		for k := range 15 {
			le.PutUint32(b.Columns[1].Data[4*k:], math.Float32bits(float32(i)+float32(k)/4))
		}
		for k := range b.Columns[2].Data {
			b.Columns[2].Data[k] = byte(r.Uint32())
		}
		b.Columns[3].Text.Append(fmt.Appendf(nil, "text %*d", r.IntN(20), i))
		for range shapes.Components[4].Shape[0] {
			b.Columns[4].Text.Append(make([]byte, r.IntN(4)))
		}
	}
	return nil
}

func scopeOn(t testing.TB, fs vfs.FS, workers int) *dataset.Scope {
	s := dataset.NewScope(fs, workers)
	t.Cleanup(s.Close)
	return s
}

func read(t testing.TB, fs vfs.FS, d dataset.Definition) []datasettest.Element {
	t.Helper()
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	out, _ := datasettest.Take(t, it, 7, 1<<40)
	return out
}

func save(t testing.TB, fs vfs.FS, d dataset.Definition, folder string, o Options) {
	t.Helper()
	def, err := Save(d, folder, o)
	require.NoError(t, err)
	require.Equal(t, []int64{d.Cardinality()}, read(t, fs, def)[0].Int64s())
}

func TestWhatIsSavedIsLoaded(t *testing.T) {
	for _, c := range []Compression{None, Gzip, Snappy, Zstd, Auto} {
		for _, n := range []int64{0, 1, 300} {
			for _, size := range []int64{1, 1 << 20} { // of chunks
				fs := memfs.New()
				save(t, fs, made{n: n}, "/a folder/[x]", Options{Compression: c, ChunkBytes: size})
				d, err := Load(fs, "/a folder/[x]")
				require.NoError(t, err)
				require.Equal(t, n, d.Cardinality())
				require.True(t, d.Spec().Equal(madeSpec))
				require.Equal(t, read(t, fs, made{n: n}), read(t, fs, d), "%v", c)
			}
		}
	}
}

func TestSnapshotsKeepToTheContracts(t *testing.T) {
	for _, size := range []int64{1000, 1 << 20} {
		fs := vfs.Local()
		save(t, fs, made{n: 40}, t.TempDir()+"/s", Options{Compression: Auto, ChunkBytes: size})
		folder := t.TempDir()
		save(t, fs, made{n: 40}, folder, Options{ChunkBytes: size})
		d, err := Load(fs, folder)
		require.NoError(t, err)
		datasettest.Check(t, d, 50)
		for _, in := range []dataset.Definition{made{n: 40}, made{n: 0}, made{n: 25, bad: map[int64]bool{0: true, 7: true, 24: true}}, datasettest.Stream{Definition: made{n: 9}}} {
			k, err := Keep(in, path.Join(t.TempDir(), "finger"), Options{ChunkBytes: size}, KeepOptions{})
			require.NoError(t, err)
			datasettest.Check(t, k, 50)
		}
	}
	def, err := Save(made{n: 5}, t.TempDir(), Options{})
	require.NoError(t, err)
	datasettest.Check(t, def, 5)
}

// Blocks have about a mebibyte; elements of a fixed size are read in place, and pages
// need not fit elements.
func TestManyBlocksAndPages(t *testing.T) {
	in := wide{n: 700, size: 30001}
	for _, c := range []Compression{None, Snappy} {
		fs := memfs.New()
		save(t, fs, in, "/s", Options{Compression: c, ChunkBytes: 4 << 20})
		d, err := Load(fs, "/s")
		require.NoError(t, err)
		s := scopeOn(t, fs, 0)
		access, err := d.Open(s, dataset.PassKey(0))
		require.NoError(t, err)
		r := rand.New(rand.NewPCG(1, 2))
		for range 30 {
			index := make([]int64, 1+r.IntN(40))
			first := r.Int64N(in.n - 40)
			for i := range index {
				index[i] = first + int64(i)
				if r.IntN(3) == 0 {
					index[i] = r.Int64N(in.n)
				}
			}
			want := datasettest.Read(t, in, index...)
			require.Equal(t, want, datasettest.Read(t, access, index...))
		}
	}
}

// wide is n elements of size bytes.
type wide struct{ n, size int64 }

func (w wide) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{w.size}}}}
}
func (w wide) Cardinality() int64 { return w.n }
func (w wide) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(w, s, pass, from)
}
func (w wide) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return w, nil }
func (w wide) Fetch(index []int64, dst dataset.Sink) error {
	b, err := dst.Block(w.Spec(), int64(len(index)))
	if err != nil {
		return err
	}
	for r, i := range index {
		row := b.Columns[0].Data[int64(r)*w.size : int64(r+1)*w.size]
		for k := range row {
			row[k] = byte(int64(k)*i ^ i>>3)
		}
	}
	return nil
}

// A pass that is broken off is gone on with by the next, and nothing is made twice.
func TestBrokenOffPassesAreGoneOnWith(t *testing.T) {
	for _, workers := range []int{0, 2} {
		fs := memfs.New()
		count := int64(0)
		in := datasettest.Stream{Definition: made{n: 100, made: &count}}
		k, err := Keep(in, "/s/f", Options{}, KeepOptions{})
		require.NoError(t, err)
		want := read(t, fs, made{n: 100})
		for _, n := range []int64{3, 10, 10, 50} {
			s := dataset.NewScope(fs, workers)
			it, err := k.Iterate(s, dataset.PassKey(n), nil)
			require.NoError(t, err)
			got, _ := datasettest.Take(t, it, 4, n)
			require.Equal(t, want[:n], got)
			s.Close()
			require.LessOrEqual(t, count, n)
		}
		_, err = Load(fs, "/s/f")
		require.Equal(t, errs.DataLoss, errs.KindOf(err), "it is not finished")
		require.Equal(t, want, read(t, fs, k))
		require.EqualValues(t, 100, count)
		require.Equal(t, want, read(t, fs, k))
		require.EqualValues(t, 100, count)
		d, err := Load(fs, "/s")
		require.NoError(t, err)
		require.Equal(t, want, read(t, fs, d))
		names, err := fs.List("/s/f")
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(names), journalPrefix, "a journal of no use")
	}
}

// The order of a broken-off pass is the one that it began with.
func TestSeedsOfABrokenOffPassAreUsed(t *testing.T) {
	fs := memfs.New()
	keep := func(seed uint64) dataset.Definition {
		k, err := Keep(made{n: 30, seed: seed}, "/s/f", Options{}, KeepOptions{Seeds: []uint64{seed}, Reseeded: func(seeds []uint64) (dataset.Definition, error) {
			return made{n: 30, seed: seeds[0]}, nil
		}})
		require.NoError(t, err)
		return k
	}
	want := read(t, fs, made{n: 30, seed: 5})
	s := dataset.NewScope(fs, 0)
	it, err := keep(5).Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, tokens := datasettest.Take(t, it, 1, 12)
	s.Close()
	s = scopeOn(t, fs, 0)
	it, err = keep(6).Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	got, more := datasettest.Take(t, it, 1, 20)
	require.Equal(t, want[:20], got)
	for _, token := range []*dataset.Token{tokens[7], more[7], more[15]} {
		fresh, err := keep(7).Iterate(s, dataset.PassKey(0), datasettest.Reload(t, token))
		require.NoError(t, err)
		at := token.At[0]
		got, _ := datasettest.Take(t, fresh, 3, 3)
		require.Equal(t, want[at:at+3], got)
	}
}

// One of two writers commits; both give all elements.
func TestTwoWriters(t *testing.T) {
	fs := memfs.New()
	in := made{n: 40}
	want := read(t, fs, in)
	k, err := Keep(in, "/s/f", Options{ChunkBytes: 500}, KeepOptions{})
	require.NoError(t, err)
	s := scopeOn(t, fs, 0)
	one, err := k.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	head, _ := datasettest.Take(t, one, 3, 20)
	two, err := k.Iterate(s, dataset.PassKey(0), nil) // the lease is held
	require.NoError(t, err)
	got, _ := datasettest.Take(t, two, 3, 50)
	require.Equal(t, want, got)
	_, err = ReadManifest(fs, "/s/f")
	require.Equal(t, errs.NotFound, errs.KindOf(err))

	require.NoError(t, fs.Remove("/s/f/lease")) // and now it is lost
	three, err := k.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	got, _ = datasettest.Take(t, three, 3, 50)
	require.Equal(t, want, got)
	first, err := ReadManifest(fs, "/s/f")
	require.NoError(t, err)
	tail, _ := datasettest.Take(t, one, 3, 50)
	require.Equal(t, want, append(head, tail...))
	second, err := ReadManifest(fs, "/s/f")
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, want, read(t, fs, k))
}

func TestLeasesEnd(t *testing.T) {
	fs := memfs.New()
	put := func(change func(*lease)) bool {
		require.NoError(t, takeLease(fs, "/s", "0123456789abcdef"))
		l, err := readLease(fs, "/s")
		require.NoError(t, err)
		change(l)
		text, err := seal(l)
		require.NoError(t, err)
		fs.Set("/s/lease", text)
		held, err := leased(fs, "/s")
		require.NoError(t, err)
		return held
	}
	require.False(t, put(func(*lease) {}), "it has ended")
	living.Store("0123456789abcdef", true)
	defer living.Delete("0123456789abcdef")
	require.True(t, put(func(*lease) {}))
	require.True(t, put(func(l *lease) { l.Host = "elsewhere" }))
	require.False(t, put(func(l *lease) { l.Started = "1" }), "another process has the number now")
	require.False(t, put(func(l *lease) { l.Process = 1 << 30 }), "the process is gone")
	require.False(t, put(func(l *lease) { l.Renewed -= 1000 }))
	require.False(t, put(func(l *lease) { l.Renewed += 1000 }), "a clock jumped")
	fs.Set("/s/lease", []byte("{}"))
	held, err := leased(fs, "/s")
	require.NoError(t, err)
	require.False(t, held)
}

// save takes the place of what was there.
func TestSaveReplaces(t *testing.T) {
	fs := memfs.New()
	save(t, fs, made{n: 30}, "/s", Options{ChunkBytes: 1000})
	save(t, fs, made{n: 3, seed: 1}, "/s", Options{})
	d, err := Load(fs, "/s")
	require.NoError(t, err)
	require.Equal(t, read(t, fs, made{n: 3, seed: 1}), read(t, fs, d))
	names, err := fs.List("/s/chunks")
	require.NoError(t, err)
	require.Len(t, names, 1)
	failing, err := Save(made{n: 9, bad: map[int64]bool{5: true}}, "/s", Options{})
	require.NoError(t, err)
	require.Contains(t, read(t, fs, failing)[0].Err, "element 5")
	require.Equal(t, read(t, fs, made{n: 3, seed: 1}), read(t, fs, d), "what was there stays")
}

func TestWhatCannotBe(t *testing.T) {
	fs := memfs.New()
	_, err := Keep(datasettest.Range(dataset.Infinite), "/s", Options{}, KeepOptions{})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, err = Save(datasettest.Range(dataset.Infinite), "/s", Options{})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, err = Save(made{n: 3}, "/s", Options{Shard: notInteger{}})
	require.ErrorContains(t, err, "shard_func must return an integer")
	_, err = ParseCompression("LZ4")
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, err = Load(fs, "/nothing")
	require.Equal(t, errs.NotFound, errs.KindOf(err))
	fs.Set("/x/file", nil)
	_, err = Load(fs, "/x")
	require.Equal(t, errs.NotFound, errs.KindOf(err))
	for _, f := range []string{"/two/a", "/two/b"} {
		save(t, fs, made{n: 1}, f, Options{})
	}
	_, err = Load(fs, "/two")
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	require.ErrorContains(t, err, "2 snapshots")
	w, err := NewWriter(fs, "/w", madeSpec, Options{})
	require.NoError(t, err)
	var b block.Buffer
	require.NoError(t, datasettest.Range(3).Fetch([]int64{0}, &b))
	require.Equal(t, errs.InvalidArgument, errs.KindOf(w.Add(b.Blocks()[0], nil)))
	w.Drop()
	require.Error(t, w.Add(b.Blocks()[0], nil))
}

// Files are opened again when many are in use.
func TestFewFilesAreOpen(t *testing.T) {
	fs := &counting{FS: memfs.New()}
	w, err := NewWriter(fs, "/s", madeSpec, Options{Replace: true})
	require.NoError(t, err)
	for i := range int64(3 * mostOpen) { // each in a chunk
		var b block.Buffer
		require.NoError(t, made{}.Fetch([]int64{i}, &b))
		require.NoError(t, w.Add(b.Blocks()[0], nil))
		w.Seal()
	}
	require.NoError(t, w.Commit())
	d, err := Load(fs, "/s")
	require.NoError(t, err)
	require.Equal(t, read(t, fs, made{n: 3 * mostOpen}), read(t, fs, d))
	require.LessOrEqual(t, fs.most, mostOpen+1)
	require.Greater(t, fs.most, mostOpen/2)
	require.Zero(t, fs.open)
}

type counting struct {
	vfs.FS
	open, most int
}

func (c *counting) Open(path string) (vfs.File, error) {
	f, err := c.FS.Open(path)
	if err == nil {
		c.open++
		c.most = max(c.most, c.open)
	}
	return &countedFile{f, c}, err
}

// countedFile says when it is closed.
type countedFile struct {
	vfs.File
	c *counting
}

func (f *countedFile) Close() error {
	f.c.open--
	return f.File.Close()
}
