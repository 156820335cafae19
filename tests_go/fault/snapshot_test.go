package fault

import (
	"math/rand/v2"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/snapshot"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// session is what is done with a snapshot: a pass that is broken off, one that goes on
// to the end, one that reads. It returns the error of what the user sees.
func session(t *testing.T, fs vfs.FS, made *int64, shard dataset.Program) error {
	t.Helper()
	want := wanted()
	for _, count := range []int64{8, elements, elements} {
		got, err := walk(t, fs, keep(t, made, shard), count+count/elements) // to the end, where that is asked for
		require.Equal(t, want[:len(got)], got)
		if err != nil {
			return err
		}
		require.Len(t, got, int(count))
	}
	return nil
}

// Each operation fails once. Passes give all elements or a clear error; without the
// fault they do, and the snapshot has each element once.
func TestEachOperationFailsOnce(t *testing.T) { inPartsAndNot(t, eachOperationFailsOnce) }

func eachOperationFailsOnce(t *testing.T, shard dataset.Program) {
	const never = 1 << 40
	count := faultfs.New(memfs.New(), never)
	require.NoError(t, session(t, count, new(int64), shard))
	steps := count.Steps(never)
	t.Logf("%d operations on files", steps)
	require.Greater(t, steps, 60)
	clear := 0
	for n := range steps {
		inner := memfs.New()
		fs := faultfs.New(inner, n)
		if err := session(t, fs, new(int64), shard); err != nil {
			require.ErrorContains(t, err, "injected fault", "operation %d", n)
			clear++
		}
		require.True(t, fs.Failed(), "operation %d was not met", n)
		require.NoError(t, session(t, inner, new(int64), shard), "after the fault of operation %d", n)
		requireWhole(t, inner)
	}
	t.Logf("%d of them end a pass when they fail", clear)
}

// The same where goroutines pack, write and commit, whose operations have no order.
func TestEachOperationFailsOnceInTheBackground(t *testing.T) {
	inPartsAndNot(t, func(t *testing.T, shard dataset.Program) {
		for n := 0; ; n++ {
			inner := memfs.New()
			fs := faultfs.New(inner, n)
			for _, count := range []int64{8, elements + 1, elements + 1} {
				got, err := walkWith(t, fs, keep(t, new(int64), shard), count, 2)
				require.Equal(t, wanted()[:len(got)], got)
				if err != nil {
					require.ErrorContains(t, err, "injected fault", "operation %d", n)
					break
				}
				require.Len(t, got, int(min(count, elements)))
			}
			if !fs.Failed() {
				t.Logf("%d operations", n)
				require.Greater(t, n, 200)
				return
			}
			require.NoError(t, session(t, inner, new(int64), shard), "after the fault of operation %d", n)
			requireWhole(t, inner)
		}
	})
}

// requireWhole fails where a snapshot is not there, or has other elements.
func requireWhole(t *testing.T, fs vfs.FS) {
	t.Helper()
	d, err := snapshot.Load(fs, folder)
	require.NoError(t, err)
	got, err := walk(t, fs, d, elements+1)
	require.NoError(t, err)
	require.Equal(t, wanted(), got)
}

// A reader whose operation failed goes on when it is asked again.
func TestReadingIsTriedAgain(t *testing.T) { inPartsAndNot(t, readingIsTriedAgain) }

func readingIsTriedAgain(t *testing.T, shard dataset.Program) {
	inner := memfs.New()
	require.NoError(t, session(t, inner, new(int64), shard))
	for n := 0; ; n++ {
		fs := faultfs.New(inner, n)
		d, err := snapshot.Load(fs, folder)
		if err == nil {
			_, err = walk(t, fs, d, elements)
		}
		if !fs.Failed() {
			require.NoError(t, err)
			t.Logf("%d operations", n)
			return
		}
		if err != nil {
			require.ErrorContains(t, err, "injected fault", "operation %d", n)
		}
		if d == nil {
			d, err = snapshot.Load(fs, folder)
			require.NoError(t, err)
		}
		got, err := walk(t, fs, d, elements)
		require.NoError(t, err)
		require.Equal(t, wanted(), got, "after operation %d failed", n)
	}
}

// The machine dies before and after each sync, and any part of what was not synced is
// lost. What was committed stays so, and the pass that goes on makes only the rest.
func TestTheMachineDies(t *testing.T) { inPartsAndNot(t, theMachineDies) }

func theMachineDies(t *testing.T, shard dataset.Program) {
	r := rand.New(rand.NewPCG(1, 2))
	chooses := []func(int) int{func(int) int { return 0 }, func(n int) int { return n - 1 }}
	for range 12 {
		chooses = append(chooses, r.IntN)
	}
	fs := memfs.New()
	var dead [][]*memfs.FS
	fs.OnSync(func() {
		var at []*memfs.FS
		for _, choose := range chooses {
			at = append(at, fs.Crash(choose))
		}
		dead = append(dead, at)
	})
	require.NoError(t, session(t, fs, new(int64), shard))
	require.Greater(t, len(dead), 40)
	t.Logf("%d moments, %d states each", len(dead), len(chooses))
	safe := int64(0)
	for k, states := range dead {
		for c, state := range states {
			state.OnSync(nil)
			var made int64
			got, err := walk(t, state, keep(t, &made, shard), elements+1)
			require.NoError(t, err, "moment %d, state %d", k, c)
			require.Equal(t, wanted(), got, "moment %d, state %d", k, c)
			committed := elements - made
			require.GreaterOrEqual(t, committed, safe, "what was committed before moment %d is lost in state %d", k, c)
			if c == 0 {
				safe = committed
			}
			requireWhole(t, state)
		}
	}
	require.EqualValues(t, elements, safe)
}

// A machine that dies again and again gets there.
func TestTheMachineDiesOften(t *testing.T) { inPartsAndNot(t, theMachineDiesOften) }

func theMachineDiesOften(t *testing.T, shard dataset.Program) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		fs := memfs.New()
		var made int64
		for range 30 {
			got, err := walk(t, fs, keep(t, &made, shard), r.Int64N(elements)+1)
			require.NoError(t, err)
			require.Equal(t, wanted()[:len(got)], got)
			fs = fs.Crash(r.IntN)
		}
		require.NoError(t, session(t, fs, &made, shard))
		requireWhole(t, fs)
	}
}

// A bit that is flipped, in each byte of each file, and each truncation is found, with
// the file that is damaged, or has no effect.
func TestDamageIsFoundOrHasNoEffect(t *testing.T) { inPartsAndNot(t, damageIsFoundOrHasNoEffect) }

func damageIsFoundOrHasNoEffect(t *testing.T, shard dataset.Program) {
	codecs, size := []snapshot.Compression{snapshot.None, snapshot.Gzip, snapshot.Snappy, snapshot.Zstd}, int64(300)
	if shard != nil { // there are more files, each like the others
		codecs, size = codecs[:2], 600
	}
	for _, c := range codecs {
		for _, finished := range []bool{true, false} {
			if !finished && c != snapshot.None {
				continue
			}
			fs := memfs.New()
			k, err := snapshot.Keep(source{elements, new(int64)}, folder, snapshot.Options{Compression: c, ChunkBytes: size, Shard: shard}, snapshot.KeepOptions{})
			require.NoError(t, err)
			count := int64(elements) + 1
			if !finished {
				count = 10
			}
			got, err := walk(t, fs, k, count)
			require.NoError(t, err)
			count = int64(len(got))
			require.GreaterOrEqual(t, count, int64(10))
			for _, file := range files(t, fs, folder) {
				whole := fs.Bytes(file)
				found := 0
				for at := range whole {
					flipped := append([]byte{}, whole...)
					flipped[at] ^= 1 << (at % 8)
					found += damaged(t, fs, file, flipped, whole, count, shard)
					found += damaged(t, fs, file, whole[:at], whole, count, shard)
				}
				t.Logf("%v %v: %d of %d kinds of damage in %s are errors, the rest has no effect", c, finished, found, 2*len(whole), path.Base(file))
			}
		}
	}
}

// damaged reads with a damaged file and returns 1 for an error, 0 for no effect.
func damaged(t *testing.T, fs *memfs.FS, file string, text, whole []byte, count int64, shard dataset.Program) int {
	t.Helper()
	fs.Set(file, text)
	defer fs.Set(file, whole)
	k, err := snapshot.Keep(source{elements, new(int64)}, folder, snapshot.Options{Shard: shard}, snapshot.KeepOptions{})
	require.NoError(t, err)
	got, err := walk(t, readOnly(fs), k, count)
	require.Equal(t, wanted()[:len(got)], got, file)
	if err == nil {
		require.Len(t, got, int(count))
		return 0
	}
	var e *errs.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, errs.DataLoss, e.Kind, "%v", err)
	require.Equal(t, file, e.Path, "%v", err)
	require.LessOrEqual(t, e.Offset, int64(len(whole)), "%v", err)
	return 1
}

func files(t *testing.T, fs vfs.FS, folder string) (out []string) {
	t.Helper()
	names, err := fs.List(folder)
	require.NoError(t, err)
	for _, name := range names {
		at := path.Join(folder, name)
		info, err := fs.Stat(at)
		require.NoError(t, err)
		if info.Dir {
			out = append(out, files(t, fs, at)...)
		} else {
			out = append(out, at)
		}
	}
	return out
}

// full is a disk with room for so many bytes more.
type full struct {
	vfs.FS
	room *int64
}

type fullFile struct {
	vfs.File
	room *int64
}

func noSpace(path string) error {
	return errs.New(errs.ResourceExhausted, "write", "%q: no space left on device", path)
}

func (f full) Create(path string) (vfs.File, error) {
	if *f.room <= 0 {
		return nil, noSpace(path)
	}
	file, err := f.FS.Create(path)
	return fullFile{file, f.room}, err
}

func (f fullFile) Write(b []byte) (int, error) {
	if *f.room -= int64(len(b)); *f.room < 0 {
		n, _ := f.File.Write(b[:max(int64(len(b))+*f.room, 0)])
		return n, noSpace("a file")
	}
	return f.File.Write(b)
}

// readOnly refuses to write at all: the elements come all the same.
func readOnly(fs vfs.FS) vfs.FS { return full{fs, new(int64)} }

// A disk that is full at the start, or after any number of bytes, does not end a pass.
// That the snapshot is not kept is said once. What was committed stays, and when there
// is room the next pass goes on from there.
func TestAFullDisk(t *testing.T) { inPartsAndNot(t, aFullDisk) }

func aFullDisk(t *testing.T, shard dataset.Program) {
	finished := false
	states := 0
	for room := int64(0); !finished; room += 37 {
		fs := memfs.New()
		left, made := room, int64(0)
		told = nil
		got, err := walk(t, full{fs, &left}, keep(t, &made, shard), elements+1)
		require.NoError(t, err, "room for %d bytes", room)
		require.Equal(t, wanted(), got)
		require.EqualValues(t, elements, made)
		if finished = len(told) == 0; !finished {
			states++
			require.Len(t, told, 1, "room for %d bytes", room)
			require.Contains(t, told[0], "is not kept")
			require.Contains(t, told[0], "no space left on device")
		}
		made = 0
		got, err = walk(t, fs, keep(t, &made, shard), elements+1)
		require.NoError(t, err)
		require.Equal(t, wanted(), got)
		if finished {
			require.Zero(t, made)
		}
		requireWhole(t, fs)
	}
	require.Greater(t, states, 40)
	t.Logf("%d sizes of a disk that do not do", states)
}
