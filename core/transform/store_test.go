package transform

import (
	"fmt"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
)

// resident returns how many bytes of memory this process has.
func resident(t *testing.T) int64 {
	t.Helper()
	var size, pages int64
	statm, err := os.ReadFile("/proc/self/statm")
	require.NoError(t, err)
	_, err = fmt.Sscan(string(statm), &size, &pages)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}

func TestVastKeepsItsItemsAsItGrows(t *testing.T) {
	before := arena.MappedBytes()
	var v vast[int64]
	for n := int64(1); n <= 5<<20; n = n*3 + 1 {
		at := int64(len(v.items))
		v.resize(n, 0)
		for i := at; i < n; i++ {
			v.items[i] = i
		}
	}
	for i, x := range v.items {
		require.Equal(t, int64(i), x)
	}
	v.close()
	require.Equal(t, before, arena.MappedBytes())
}

// Room for more than the system has is not needed yet.
func TestVastTakesLessRoomWhereThereIsNotAsMuch(t *testing.T) {
	var v vast[byte]
	defer v.close()
	v.resize(leastMapped, 1<<60)
	v.items[9] = 7
	v.resize(16<<20, 1<<60)
	require.Equal(t, byte(7), v.items[9])
	defer func() {
		err, _ := recover().(error)
		require.Equal(t, errs.ResourceExhausted, errs.KindOf(err))
		require.ErrorContains(t, err, "smaller buffer_size")
		require.Equal(t, byte(7), v.items[9], "it is as it was")
	}()
	v.resize(1<<60, 0)
}

// A large page for each of many windows of few elements would be much, and a number of a
// segment for each that is very small.
func TestSmallPartsOfVastRoomTakeSmallPages(t *testing.T) {
	before := resident(t)
	all := make([]vast[byte], 100)
	for i := range all {
		all[i].resize(leastMapped, mostAtOnce)
		all[i].items[0] = 1
		defer all[i].close()
	}
	require.Less(t, resident(t)-before, int64(len(all)*hugePage/4))
	mapped := arena.MappedBytes()
	var small vast[byte]
	small.resize(10, mostAtOnce)
	require.Equal(t, mapped, arena.MappedBytes())
}

// To grow is to have all of it twice for a while.
func TestWindowsGrowWithoutCopies(t *testing.T) {
	const each, count = 1 << 20, 40
	e := element(leaf('i', 8, each/8))
	s := store{room: count}
	defer s.close()
	var places vast[int64]
	var first *byte
	for range count {
		s.begin(&places)
		b, err := s.Block(e, 1)
		require.NoError(t, err)
		b.Columns[0].Data[0] = 1
		s.finish(nil)
		if first == nil {
			first = &s.rows.items[0]
		}
	}
	require.Len(t, s.rows.items, each*count)
	require.Same(t, first, &s.rows.items[0])
}

// Elements of other shapes than the first, as pictures may be, take no rows.
func TestElementsOfOtherShapesTakeNoRows(t *testing.T) {
	e := element(leaf('i', 8, -1))
	var s store
	defer s.close()
	var places vast[int64]
	add := func(n int64) {
		s.begin(&places)
		require.NoError(t, put(e, []value{vector(upTo(0, n, 1)...)}, &s))
		s.finish(nil)
	}
	window := func() {
		add(100_000)
		for range 1000 {
			add(3)
		}
		s.begin(&places)
		s.finish(errs.New(errs.DataLoss, "x", "damaged"))
		add(100_000)
	}
	before := arena.MappedBytes()
	for range 2 { // the second time there are free places
		window()
		sizes := map[int64]int{}
		for at := 0; at < len(places.items); {
			var b block.Buffer
			n, err := s.give(places.items[at:], &b)
			if n == 0 {
				require.Equal(t, errs.DataLoss, errs.KindOf(err))
				n = 1
			} else {
				require.NoError(t, err)
				sizes[b.Blocks()[0].Shapes.Components[0].Count()] += int(n)
			}
			s.free(places.items[at:][:n])
			at += int(n)
		}
		places.resize(0, 0)
		require.Equal(t, map[int64]int{100_000: 2, 3: 1000}, sizes)
		require.Empty(t, s.odd)
		require.Equal(t, int64(2), s.count)
		require.Len(t, s.unused.items, 2)
	}
	require.Less(t, arena.MappedBytes()-before, int64(64<<20))
}

func TestElementsThatASinkRefusesLeaveTheirPlaces(t *testing.T) {
	s := datasettest.Scope(0)
	defer s.Close()
	in := must(Shuffle(stream(datasettest.Range(40)), ShuffleOptions{Seed: 1, Window: 4}))
	it, err := in.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	no := errs.New(errs.ResourceExhausted, "sink", "no memory")
	for range 40 {
		_, err := it.Next(1, full{no})
		require.ErrorIs(t, err, no)
	}
	_, err = it.Next(1, full{no})
	require.Equal(t, io.EOF, err)
	require.Equal(t, int64(4), it.(*shuffleIterator).store.count)
}
