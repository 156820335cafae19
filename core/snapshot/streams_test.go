package snapshot

import (
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

// thirds is a shard_func of elements whose first component is a number: twice its rest by
// three, as an int8. It fails for the numbers in bad, and is -1 for those in outside.
type thirds struct{ bad, outside map[int64]bool }

func (thirds) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 1}}}}
}

func (thirds) Calls() int { return 1 }

func (p thirds) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(p.Spec(), in.Rows)
	if err != nil {
		return 0, err
	}
	for r := range in.Rows {
		n := int64(le.Uint64(in.Columns[0].Data[8*r:]))
		if p.bad[n] {
			return r, errs.New(errs.InvalidArgument, "thirds", "number %d", n)
		}
		if out.Columns[0].Data[r] = byte(2 * (n % 3)); p.outside[n] {
			out.Columns[0].Data[r] = 0xff
		}
	}
	return in.Rows, nil
}

// notInteger is a shard_func of no use.
type notInteger struct{ thirds }

func (notInteger) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.Text}}}
}

// numbersIn returns the first component of the elements of a dataset.
func numbersIn(t *testing.T, fs vfs.FS, d dataset.Definition, err error) (out []int64) {
	t.Helper()
	require.NoError(t, err)
	for _, e := range read(t, fs, d) {
		require.Empty(t, e.Err)
		out = append(out, e.Int64s()...)
	}
	return out
}

func every(n, from, step int64) (out []int64) {
	for i := from; i < n; i += step {
		out = append(out, i)
	}
	return out
}

// Elements go to the streams that shard_func names. They come back in the order in which
// they were written, or stream by stream.
func TestElementsGoToStreams(t *testing.T) {
	for _, in := range []dataset.Definition{made{n: 200}, datasettest.Range(200)} { // of different shapes, and of one
		for _, c := range []Compression{None, Gzip, Snappy, Zstd, Auto} {
			for _, size := range []int64{1, 500, 1 << 20} {
				fs := memfs.New()
				save(t, fs, in, "/s", Options{Compression: c, ChunkBytes: size, Shard: thirds{}})
				d, err := Load(fs, "/s")
				require.NoError(t, err)
				require.Equal(t, read(t, fs, in), read(t, fs, d))
				streams, err := Streams(fs, "/s")
				require.NoError(t, err)
				require.Equal(t, []int64{0, 2, 4}, streams)
				for stream, want := range [][]int64{every(200, 0, 3), nil, every(200, 1, 3), nil, every(200, 2, 3), nil} {
					d, err := LoadStream(fs, "/s", int64(stream))
					require.Equal(t, want, numbersIn(t, fs, d, err))
				}
			}
		}
	}
	fs := memfs.New()
	save(t, fs, made{}, "/none", Options{Shard: thirds{}})
	streams, err := Streams(fs, "/none")
	require.NoError(t, err)
	require.Equal(t, []int64{0}, streams)
	_, err = Streams(fs, "/nothing")
	require.Equal(t, errs.NotFound, errs.KindOf(err))
}

func TestStreamsKeepToTheContracts(t *testing.T) {
	for _, size := range []int64{1000, 1 << 20} {
		folder := t.TempDir()
		save(t, vfs.Local(), made{n: 40}, folder, Options{ChunkBytes: size, Shard: thirds{}})
		d, err := Load(vfs.Local(), folder)
		require.NoError(t, err)
		datasettest.Check(t, d, 50)
		d, err = LoadStream(vfs.Local(), folder, 2)
		require.NoError(t, err)
		datasettest.Check(t, d, 50)
		for _, in := range []dataset.Definition{made{n: 40}, made{n: 0}, made{n: 25, bad: map[int64]bool{0: true, 7: true, 24: true}}, datasettest.Stream{Definition: made{n: 9}}} {
			for _, shard := range []thirds{{}, {bad: map[int64]bool{1: true, 11: true}, outside: map[int64]bool{2: true, 12: true, 13: true}}} {
				k, err := Keep(in, path.Join(t.TempDir(), "finger"), Options{ChunkBytes: size, Shard: shard}, KeepOptions{})
				require.NoError(t, err)
				datasettest.Check(t, k, 50)
			}
		}
	}
}

// A stream that cannot be, and a shard_func that fails, are errors in the place of the
// element; what is before is kept.
func TestElementsWithoutAStream(t *testing.T) {
	fs := memfs.New()
	for _, shard := range []thirds{{outside: map[int64]bool{50: true}}, {bad: map[int64]bool{50: true}}} {
		count := int64(0)
		keep := func(shard thirds) dataset.Definition {
			k, err := Keep(made{n: 60, made: &count}, "/s/f", Options{Shard: shard}, KeepOptions{})
			require.NoError(t, err)
			return k
		}
		got := read(t, fs, keep(shard))
		require.Len(t, got, 60)
		require.Contains(t, got[50].Err, map[bool]string{true: "shard_func returned -1", false: "number 50"}[len(shard.bad) == 0])
		require.Equal(t, read(t, fs, made{n: 60})[49], got[49])
		count = 0
		require.Equal(t, every(60, 0, 1), numbersIn(t, fs, keep(thirds{}), nil))
		require.EqualValues(t, 10, count)
		d, err := Save(made{n: 60}, "/saved", Options{Shard: shard})
		require.NoError(t, err)
		require.Equal(t, got[50].Err, read(t, fs, d)[0].Err)
		fs = memfs.New()
	}
}

// A broken-off pass is gone on with from the last group of chunks that is whole.
func TestBrokenOffStreamsAreGoneOnWith(t *testing.T) {
	for _, workers := range []int{0, 2} {
		fs := memfs.New()
		count := int64(0)
		k, err := Keep(datasettest.Stream{Definition: made{n: 100, made: &count}}, "/s/f", Options{ChunkBytes: 700, Shard: thirds{}}, KeepOptions{})
		require.NoError(t, err)
		want := read(t, fs, made{n: 100})
		for _, n := range []int64{2, 11, 11, 40} {
			s := dataset.NewScope(fs, workers)
			it, err := k.Iterate(s, dataset.PassKey(n), nil)
			require.NoError(t, err)
			got, _ := datasettest.Take(t, it, 4, n)
			require.Equal(t, want[:n], got)
			s.Close()
			require.LessOrEqual(t, count, n)
		}
		journals := 0
		names, err := fs.List("/s/f")
		require.NoError(t, err)
		for _, name := range names {
			if text := fs.Bytes("/s/f/" + name); name[:3] == "jou" {
				journals++
				requireWholeGroups(t, text)
			}
		}
		require.Equal(t, 1, journals)
		require.Equal(t, want, read(t, fs, k))
		require.EqualValues(t, 100, count)
		require.Equal(t, want, read(t, fs, k))
	}
}

// requireWholeGroups cuts a journal everywhere: what is read of it ends with the order.
func requireWholeGroups(t *testing.T, text []byte) {
	t.Helper()
	most := int64(0)
	for n := range len(text) + 1 {
		j := parseJournal(text[:n])
		if j == nil || len(j.chunks) == 0 {
			continue
		}
		require.True(t, j.chunks[len(j.chunks)-1].ordering())
		require.NotNil(t, j.token())
		require.GreaterOrEqual(t, j.count, most)
		most = j.count
	}
	require.Positive(t, most)
}

// Without a reader the order is the first pass's. With one it is that, for passes that
// begin when the snapshot is whole; a pass that began before goes on as it began.
func TestReaders(t *testing.T) {
	folder := path.Join(t.TempDir(), "f")
	k, err := Keep(made{n: 30}, folder, Options{ChunkBytes: 400, Shard: thirds{}}, KeepOptions{Reader: func() (dataset.Definition, error) {
		return LoadStream(vfs.Local(), folder, 2)
	}})
	require.NoError(t, err)
	require.Equal(t, dataset.Unknown, k.Cardinality())
	want := read(t, vfs.Local(), made{n: 30})
	s := scopeOn(t, vfs.Local(), 0)
	it, err := k.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	got, tokens := datasettest.Take(t, it, 4, 30)
	require.Equal(t, want, got)
	_, err = it.Next(1, &block.Buffer{})
	require.Error(t, err, "the end")

	second := []datasettest.Element{want[1], want[4], want[7], want[10], want[13], want[16], want[19], want[22], want[25], want[28]}
	require.Equal(t, second, read(t, vfs.Local(), k))
	datasettest.Check(t, k, 30)
	for n, token := range tokens {
		it, err := k.Iterate(s, dataset.PassKey(0), datasettest.Reload(t, token))
		require.NoError(t, err)
		got, _ := datasettest.Take(t, it, 4, 40)
		require.Equal(t, want[n:], got)
	}

	it, err = k.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	_, tokens = datasettest.Take(t, it, 1, 3)
	require.NoError(t, vfs.Local().Remove(path.Join(folder, manifestName)))
	_, err = k.Iterate(s, dataset.PassKey(0), datasettest.Reload(t, tokens[3]))
	require.Equal(t, errs.StateMismatch, errs.KindOf(err))
	require.ErrorContains(t, err, "not there any more")

	other, err := Keep(made{n: 30}, path.Join(t.TempDir(), "f"), Options{}, KeepOptions{Reader: func() (dataset.Definition, error) { return datasettest.Range(3), nil }})
	require.NoError(t, err)
	require.Equal(t, want, read(t, vfs.Local(), other))
	_, err = other.Iterate(s, dataset.PassKey(1), nil)
	require.ErrorContains(t, err, "reader_func returned a dataset of int64")
}

// However many streams there are, the blocks that are not full are few bytes.
func TestManyStreamsTakeLittleMemory(t *testing.T) {
	fs, in := memfs.New(), wide{size: 1 << 16}
	w, err := NewWriter(fs, "/s", in.Spec(), Options{Replace: true, Shard: thirds{}})
	require.NoError(t, err)
	var b block.Buffer
	most := int64(0)
	for i := range int64(mostStreams) {
		b.Reset()
		require.NoError(t, in.Fetch([]int64{i}, &b))
		require.NoError(t, w.Add(b.Blocks()[0], []int64{i}))
		require.LessOrEqual(t, w.held, int64(mostHeld))
		most = max(most, w.held)
	}
	require.Greater(t, most, int64(mostHeld)/2)
	require.NoError(t, w.Commit())
	d, err := Load(fs, "/s")
	require.NoError(t, err)
	access, err := d.Open(scopeOn(t, fs, 0), dataset.PassKey(0))
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		n := r.Int64N(mostStreams)
		require.Equal(t, datasettest.Read(t, in, n), datasettest.Read(t, access, n))
	}
}

// An order that names what is not there is damage, with the file that has it.
func TestOrdersThatCannotBe(t *testing.T) {
	for name, place := range map[string]int64{
		"a row": placeOf(0, 3), "a stream": placeOf(1, 0), "a negative number": -1, "the largest number": 1<<63 - 1,
	} {
		fs := memfs.New()
		w, err := NewWriter(fs, "/s", datasettest.Range(9).Spec(), Options{Replace: true, Shard: thirds{}})
		require.NoError(t, err)
		var b block.Buffer
		require.NoError(t, datasettest.Range(9).Fetch([]int64{0, 1, 2}, &b))
		require.NoError(t, w.Add(b.Blocks()[0], []int64{0, 0, 0}))
		le.PutUint64(w.order.current.pieces[0][8:], uint64(place))
		require.NoError(t, w.Commit())
		d, err := Load(fs, "/s")
		require.NoError(t, err)
		access, err := d.Open(scopeOn(t, fs, 0), rng.Key{})
		require.NoError(t, err)
		b.Reset()
		require.NoError(t, access.Fetch([]int64{0}, &b))
		err = access.Fetch([]int64{1}, &b)
		require.Equal(t, errs.DataLoss, errs.KindOf(err), name)
		var e *errs.Error
		require.ErrorAs(t, err, &e)
		require.Contains(t, e.Path, "-order-")
	}
}

// Chunks that are in no order are refused.
func TestGroupsThatCannotBe(t *testing.T) {
	chunk := func(stream string, n int64) ChunkInfo {
		return ChunkInfo{File: "0123456789abcdef-" + stream + "-000001.chunk", Elements: n}
	}
	good := []ChunkInfo{chunk("0000", 2), chunk("0003", 1), chunk(orderName, 3), chunk("0000", 4), chunk(orderName, 4)}
	n, ordered, err := count(good)
	require.NoError(t, err)
	require.True(t, ordered)
	require.EqualValues(t, 7, n)
	for name, bad := range map[string][]ChunkInfo{
		"too few":       {chunk("0000", 2), chunk(orderName, 3)},
		"no order":      {chunk("0000", 2), chunk(orderName, 2), chunk("0000", 2)},
		"twice":         {chunk("0000", 1), chunk("0000", 1), chunk(orderName, 2)},
		"not by number": {chunk("0001", 1), chunk("0000", 1), chunk(orderName, 2)},
		"of nothing":    {chunk(orderName, 1)},
	} {
		_, _, err := count(bad)
		require.Equal(t, errs.DataLoss, errs.KindOf(err), name)
	}
}

// The random numbers of a shard_func are those of an element, wherever a pass goes on.
func TestShardsByChance(t *testing.T) {
	var want []int64
	for _, stop := range []int64{0, 3, 17} {
		fs := memfs.New()
		k, err := Keep(datasettest.Range(40), "/s/f", Options{Shard: chance{}}, KeepOptions{})
		require.NoError(t, err)
		s := dataset.NewScope(fs, 0)
		it, err := k.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		datasettest.Take(t, it, 5, stop)
		s.Close()
		require.Len(t, read(t, fs, k), 40)
		d, err := LoadStream(fs, "/s", 1)
		if got := numbersIn(t, fs, d, err); want == nil {
			want = got
		} else {
			require.Equal(t, want, got, "broken off after %d", stop)
		}
	}
	require.Greater(t, len(want), 5)
}

// chance is a shard_func by lot.
type chance struct{ thirds }

func (p chance) Run(_ *dataset.Scope, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(p.Spec(), in.Rows)
	for r := range in.Rows {
		out.Columns[0].Data[r] = byte(at.Key.Uint64(uint64(at.Number(r))) % 2)
	}
	return in.Rows, err
}
