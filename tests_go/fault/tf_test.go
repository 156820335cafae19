package fault

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/snapshot"
	"infeed/core/spec"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// renamed is the source with the components of its elements in a dict: only the spec of
// what is saved differs.
type renamed struct{ source }

func (renamed) Spec() *spec.Element {
	return &spec.Element{
		Structure:  spec.Structure{Kind: spec.Dict, Keys: []string{"a", "b", "c"}, Items: make([]spec.Structure, 3)},
		Components: sourceSpec.Components,
	}
}

func (r renamed) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return r.source.Iterate(s, pass, from)
}

const saved = "/saved"

// saveTF saves in TensorFlow's format.
func saveTF(t testing.TB, fs vfs.FS, d dataset.Definition) error {
	t.Helper()
	def, err := snapshot.SaveTF(d, saved, snapshot.None, nil)
	require.NoError(t, err)
	_, err = walk(t, fs, def, 1)
	return err
}

// loadTF returns what is saved.
func loadTF(t testing.TB, fs vfs.FS) ([]datasettest.Element, spec.Kind, error) {
	t.Helper()
	d, err := snapshot.LoadTF(fs, saved, snapshot.TFOptions{Compression: snapshot.Auto})
	if err != nil {
		return nil, 0, err
	}
	got, err := walk(t, fs, d, elements+1)
	return got, d.Spec().Structure.Kind, err
}

// others is what is saved in the place of the source.
func others() map[string]dataset.Definition {
	return map[string]dataset.Definition{"as it was": source{9, new(int64)}, "with another spec": renamed{source{9, new(int64)}}}
}

// requireOneOf fails where what is saved is neither the source nor what takes its place,
// and tells which it is.
func requireOneOf(t testing.TB, fs vfs.FS, next dataset.Definition, where string) (isNew bool) {
	t.Helper()
	got, kind, err := loadTF(t, fs)
	require.NoError(t, err, where)
	if len(got) == elements {
		require.Equal(t, wanted(), got, where)
		require.Equal(t, spec.Tuple, kind, where)
		return false
	}
	require.Equal(t, wanted()[:9], got, where)
	require.Equal(t, next.Spec().Structure.Kind, kind, where)
	return true
}

// Each operation of saving in TensorFlow's format in the place of what was saved before
// fails once. Either that stays and there is an error, or the new is there.
func TestEachOperationOfSavingForTensorFlowFailsOnce(t *testing.T) {
	for name, next := range others() {
		for n := 0; ; n++ {
			inner := memfs.New()
			require.NoError(t, saveTF(t, inner, source{elements, new(int64)}))
			before := files(t, inner, saved)
			fs := faultfs.New(inner, n)
			err := saveTF(t, fs, next)
			if !fs.Failed() {
				require.NoError(t, err)
				require.Greater(t, n, 20)
				t.Logf("%d operations to save %s", n, name)
				break
			}
			if err != nil {
				require.ErrorContains(t, err, "injected fault", "%s, operation %d", name, n)
				require.Equal(t, before, files(t, inner, saved), "%s, operation %d", name, n)
			}
			require.Equal(t, err == nil, requireOneOf(t, inner, next, name))
			require.NoError(t, saveTF(t, inner, next), "after the fault of operation %d", n)
			require.True(t, requireOneOf(t, inner, next, name))
		}
	}
}

// The machine dies around each sync. What was saved before stays until the new is there;
// where its spec is another, nothing may be there in between.
func TestTheMachineDiesSavingForTensorFlow(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, next := range others() {
		fs := memfs.New()
		require.NoError(t, saveTF(t, fs, source{elements, new(int64)}))
		moments, news, nothing := 0, 0, 0
		fs.OnSync(func() {
			moments++
			for k := range 12 {
				choose := r.IntN
				if k < 2 {
					choose = func(n int) int { return k * (n - 1) }
				}
				state := fs.Crash(choose)
				state.OnSync(nil)
				if _, _, err := loadTF(t, state); name == "with another spec" && errs.KindOf(err) == errs.NotFound {
					nothing++
				} else if requireOneOf(t, state, next, name) {
					news++
				}
				require.NoError(t, saveTF(t, state, next))
				require.True(t, requireOneOf(t, state, next, name))
			}
		})
		require.NoError(t, saveTF(t, fs, next))
		fs.OnSync(nil)
		require.Greater(t, moments, 8)
		require.Positive(t, news)
		t.Logf("%d moments, saving %s: %d states have the new, %d nothing", moments, name, news, nothing)
	}
}

// A bit that is flipped in a file of elements, and each truncation, is found or has no
// effect.
func TestDamageOfTensorFlowsFilesIsFound(t *testing.T) {
	for _, c := range []snapshot.Compression{snapshot.None, snapshot.Gzip, snapshot.Snappy} {
		fs := memfs.New()
		def, err := snapshot.SaveTF(source{elements, new(int64)}, saved, c, nil)
		require.NoError(t, err)
		_, err = walk(t, fs, def, 1)
		require.NoError(t, err)
		for _, file := range files(t, fs, saved) {
			if file[len(file)-9:] != ".snapshot" {
				continue // TensorFlow's metadata have no checksums
			}
			whole, found := fs.Bytes(file), 0
			for at := range whole {
				flipped := append([]byte{}, whole...)
				flipped[at] ^= 1 << (at % 8)
				for _, text := range [][]byte{flipped, whole[:at]} {
					fs.Set(file, text)
					got, _, err := loadTF(t, fs)
					if err != nil {
						require.ErrorContains(t, err, file)
						require.Equal(t, wanted()[:len(got)], got)
						found++
					} else {
						require.Equal(t, wanted(), got, "%v: byte %d of %s", c, at, file)
					}
				}
			}
			t.Logf("%v: %d of %d kinds of damage are errors, the rest has no effect", c, found, 2*len(whole))
		}
	}
}
