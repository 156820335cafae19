package snapshot

import (
	"path"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/vfs"
	"infeed/core/vfs/faultfs"
	"infeed/core/vfs/memfs"
)

// chunksOf returns the bytes of the chunks of a snapshot, in order.
func chunksOf(t *testing.T, fs *memfs.FS, folder string) [][]byte {
	t.Helper()
	m, err := ReadManifest(fs, folder)
	require.NoError(t, err)
	var out [][]byte
	for _, c := range m.Chunks {
		out = append(out, fs.Bytes(path.Join(folder, chunkFolder, c.File)))
	}
	return out
}

// What is written does not depend on how many goroutines write it.
func TestWorkersWriteTheSame(t *testing.T) {
	for _, c := range []Compression{None, Gzip, Snappy, Zstd, Auto} {
		for _, in := range []dataset.Definition{wide{n: 300, size: 30001}, wide{n: 3, size: 3 << 20}, made{n: 200}} {
			var want [][]byte
			for _, workers := range []int{0, 1, 3} {
				fs := memfs.New()
				d, err := Save(in, "/s", Options{Compression: c, ChunkBytes: 4 << 20})
				require.NoError(t, err)
				s := scopeOn(t, fs, workers)
				it, err := d.Iterate(s, dataset.PassKey(0), nil)
				require.NoError(t, err)
				datasettest.Take(t, it, 1, 1)
				got := chunksOf(t, fs, "/s")
				if workers == 0 {
					want = got
				}
				require.Equal(t, len(want), len(got))
				for i := range want { // they are large: no difference is shown
					require.True(t, string(want[i]) == string(got[i]), "%v, %T, %d workers, chunk %d", c, in, workers, i)
				}
			}
		}
	}
}

// Whatever operation fails, a writer with goroutines ends, leaves no unfinished chunk,
// and does not commit less than there is.
func TestWorkersThatFail(t *testing.T) {
	write := func(fs vfs.FS) error {
		w, err := NewWriter(fs, "/s", made{}.Spec(), Options{Compression: Auto, ChunkBytes: 500, Workers: 2})
		if err != nil {
			return err
		}
		for i := range int64(40) {
			var b block.Buffer
			require.NoError(t, made{}.Fetch([]int64{i}, &b))
			if err := w.Add(b.Blocks()[0], nil); err != nil {
				w.Drop()
				return err
			}
			w.Mark(dataset.At(i + 1))
		}
		return w.Commit()
	}
	for n := 0; ; n++ {
		inner := memfs.New()
		fs := faultfs.New(inner, n)
		err := write(fs)
		if !fs.Failed() {
			require.NoError(t, err)
			t.Logf("%d operations", n)
			break
		}
		names, listed := inner.List("/s/" + chunkFolder)
		if listed == nil {
			for _, name := range names {
				require.Equal(t, ".chunk", path.Ext(name), "operation %d", n)
			}
		}
		if d, there := Load(inner, "/s"); there == nil {
			require.Equal(t, read(t, inner, made{n: 40}), read(t, inner, d), "operation %d", n)
		} else {
			require.ErrorContains(t, err, "injected fault", "operation %d", n)
		}
	}
}

// A panic where blocks are packed is an error of the writer, and others that wait for what
// the block was to choose go on.
func TestAPanicOfAWorker(t *testing.T) {
	in := wide{n: 1, size: 8}
	w, err := NewWriter(memfs.New(), "/s", in.Spec(), Options{Compression: Auto, Workers: 2})
	require.NoError(t, err)
	var b block.Buffer
	require.NoError(t, in.Fetch([]int64{0}, &b))
	require.NoError(t, w.Add(b.Blocks()[0], nil))
	broken := w.streams[0].current
	broken.layout = &layout{}
	err = w.Commit()
	require.Equal(t, errs.Internal, errs.KindOf(err))
	require.ErrorContains(t, err, "index out of range")
	requireChosen(t, broken.choice)
	after := newBuilding(w.layout) // nothing is packed once the writer has failed
	after.choice, after.decides = newChoice(w.layout, Auto), true
	require.NoError(t, w.packed(after, &codecs{}))
	requireChosen(t, after.choice)
}

func requireChosen(t *testing.T, c *choice) {
	t.Helper()
	select {
	case <-c.made:
	default:
		t.Fatal("others wait for ever")
	}
}

// waited is a lock that tells when it is let go.
type waited struct {
	sync.Locker
	let chan bool
}

func (w waited) Unlock() {
	w.Locker.Unlock()
	w.let <- true
}

// The bytes that are on their way are bounded, but for one block.
func TestRoom(t *testing.T) {
	var r room
	waits := waited{&r.mu, make(chan bool)}
	r.changed.L = waits
	r.enter(2 * waitingBytes)
	require.False(t, r.fits(1))
	entered := make(chan bool)
	go func() {
		r.enter(waitingBytes - 1)
		entered <- true
	}()
	<-waits.let
	r.leave(2 * waitingBytes)
	<-entered
	require.True(t, r.fits(1))
	require.False(t, r.fits(2))
}
