package snapshot

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/rng"
	"infeed/core/vfs"
	"infeed/core/vfs/memfs"
)

// removing is a dataset that calls a function before it makes an element.
type removing struct {
	made
	at     int64
	remove func()
}

func (r removing) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return r, nil }

func (r removing) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(r, s, pass, from)
}

func (r removing) Fetch(index []int64, dst dataset.Sink) error {
	if slices.Contains(index, r.at) {
		r.remove()
	}
	return r.made.Fetch(index, dst)
}

// below returns the files below a folder.
func below(t *testing.T, fs vfs.FS, folder string) (out []string) {
	names, err := fs.List(folder)
	require.NoError(t, err)
	for _, name := range names {
		at := path.Join(folder, name)
		if info, err := fs.Stat(at); err == nil && info.Dir {
			out = append(out, below(t, fs, at)...)
		} else {
			out = append(out, at)
		}
	}
	return out
}

// What somebody removes while it is written is never what a folder is said to hold, and
// takes the place of nothing.
func TestWhatIsRemovedWhileItIsWritten(t *testing.T) {
	for _, tf := range []bool{false, true} {
		fs := memfs.New()
		saving := func(in dataset.Definition) (dataset.Definition, error) {
			if tf {
				return SaveTF(in, "/s", None, nil)
			}
			return Save(in, "/s", Options{ChunkBytes: 1000})
		}
		loading := func() (dataset.Definition, error) {
			if tf {
				return LoadTF(fs, "/s", TFOptions{Compression: Auto})
			}
			return Load(fs, "/s")
		}
		d, err := saving(made{n: 30})
		require.NoError(t, err)
		require.Empty(t, read(t, fs, d)[0].Err)
		before := below(t, fs, "/s")
		d, err = saving(removing{made{n: 300, seed: 1}, 290, func() {
			for _, f := range below(t, fs, "/s") {
				if !slices.Contains(before, f) && !strings.HasSuffix(f, ".tmp") {
					require.NoError(t, fs.Remove(f))
				}
			}
		}})
		require.NoError(t, err)
		require.Contains(t, read(t, fs, d)[0].Err, "removed before all was written")
		d, err = loading()
		require.NoError(t, err)
		require.Equal(t, read(t, fs, made{n: 30}), read(t, fs, d))
		require.Equal(t, before, below(t, fs, "/s"))
	}
}

// A pass whose stored part somebody removes gives its elements, says that they are not
// kept, and makes no snapshot of the rest.
func TestWhatIsRemovedOfASnapshotWhileItIsWritten(t *testing.T) {
	fs := memfs.New()
	in := removing{made{n: 300}, 290, func() {
		for _, f := range below(t, fs, "/s/chunks") {
			_ = fs.Remove(f)
		}
	}}
	d, err := Keep(in, "/s", Options{ChunkBytes: 1000}, KeepOptions{})
	require.NoError(t, err)
	var told []string
	s := dataset.NewScope(fs, 0)
	defer s.Close()
	s.Notice = func(text string) { told = append(told, text) }
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	require.Equal(t, read(t, fs, made{n: 300}), taken(t, it))
	require.Len(t, told, 1)
	_, err = ReadManifest(fs, "/s")
	require.ErrorContains(t, err, "no such file")
}

// Who reads what is removed, or replaced, is told so.
func TestWhatIsRemovedWhileItIsRead(t *testing.T) {
	fs := memfs.New()
	save(t, fs, made{n: 30}, "/own", Options{})
	saveTF(t, fs, made{n: 30}, "/tf", None, nil)
	own, err := Load(fs, "/own")
	require.NoError(t, err)
	tf, err := LoadTF(fs, "/tf", TFOptions{Compression: Auto})
	require.NoError(t, err)
	save(t, fs, made{n: 3}, "/own", Options{})
	saveTF(t, fs, made{n: 3}, "/tf", None, nil)
	require.Contains(t, read(t, fs, own)[0].Err, "load it again")
	scope := dataset.NewScope(fs, 0)
	defer scope.Close()
	it, err := tf.Iterate(scope, dataset.PassKey(0), nil)
	if err == nil {
		require.Contains(t, taken(t, it)[0].Err, "load it again")
		return
	}
	require.ErrorContains(t, err, "load it again")
}

func taken(t *testing.T, it dataset.Iterator) []datasettest.Element {
	out, _ := datasettest.Take(t, it, 7, 1<<40)
	return out
}

// A pass goes on from what is there: elements whose files somebody removed are made again.
func TestWhatIsRemovedOfAnUnfinishedSnapshot(t *testing.T) {
	want := read(t, memfs.New(), made{n: 300})
	for first, shard := range map[string]dataset.Program{"-00000[0]": nil, "-00000[0-3]": thirds{}} { // what the first chunks are named
		fs, o := memfs.New(), Options{ChunkBytes: 1000, Shard: shard}
		begun, err := Keep(made{n: 300}, "/s", o, KeepOptions{})
		require.NoError(t, err)
		s := dataset.NewScope(fs, 0)
		it, err := begun.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		_, _ = datasettest.Take(t, it, 7, 200)
		s.Close()
		chunks := below(t, fs, "/s/chunks")
		require.Greater(t, len(chunks), 10)
		for _, chunk := range chunks {
			left, again := memfs.New(), int64(0)
			for _, f := range below(t, fs, "/s") {
				left.Set(f, fs.Bytes(f))
			}
			require.NoError(t, left.Remove(chunk))
			d, err := Keep(made{n: 300, made: &again}, "/s", o, KeepOptions{})
			require.NoError(t, err)
			require.Equal(t, want, read(t, left, d), chunk)
			require.Equal(t, regexp.MustCompile(first).MatchString(chunk), again == 300, chunk)
			stored, err := Load(left, "/s")
			require.NoError(t, err)
			require.Equal(t, want, read(t, left, stored), chunk)
		}
	}
}

// Of a writer that was killed in the middle of a file, nothing is left when another goes
// on from its journal.
func TestWhatAKilledWriterLeaves(t *testing.T) {
	fs := memfs.New()
	d, err := Keep(made{n: 300}, "/s", Options{ChunkBytes: 1000}, KeepOptions{})
	require.NoError(t, err)
	s := dataset.NewScope(fs, 0)
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	datasettest.Take(t, it, 10, 150)
	s.Close()
	names, err := fs.List("/s")
	require.NoError(t, err)
	at := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, journalPrefix) })
	require.GreaterOrEqual(t, at, 0, "%v", names)
	killed := strings.TrimPrefix(names[at], journalPrefix)
	fs.Set("/s/"+killed+".tmp", []byte("{"))
	fs.Set("/s/chunks/"+killed+"-0000-000099.chunk.tmp", []byte("in"))
	fs.Set("/s/chunks/0123456789abcdef-0000-000000.chunk.tmp", []byte("of another"))
	require.Equal(t, read(t, fs, made{n: 300}), read(t, fs, d))
	var left []string
	for _, f := range below(t, fs, "/s") {
		if strings.HasSuffix(f, ".tmp") {
			left = append(left, f)
		}
	}
	require.Equal(t, []string{"/s/chunks/0123456789abcdef-0000-000000.chunk.tmp"}, left)
}
