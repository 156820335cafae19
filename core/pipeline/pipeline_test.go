package pipeline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/par"
	"infeed/core/rng"
	"infeed/core/spec"
)

var pipelines = map[string][]Op{
	"slices":              {numbers(23)},
	"nothing":             {numbers(0), &Batch{BatchSize: 4}},
	"batch":               {numbers(23), &Batch{BatchSize: 4}},
	"training":            {numbers(23), &Shuffle{Seed: 5}, &Repeat{Count: 3}, &Batch{BatchSize: 4, DropRemainder: true}},
	"epochs apart":        {numbers(23), &Shuffle{Seed: 5}, &Batch{BatchSize: 4}, &Repeat{Count: 3}},
	"shuffled batches":    {numbers(23), &Batch{BatchSize: 4}, &Shuffle{Seed: 5}, &Repeat{Count: 2}},
	"one order, sharded":  {numbers(23), &Shuffle{Seed: 5, SameEachPass: true}, &Shard{NumShards: 3, Index: 1}, &Repeat{Count: 3}, &Batch{BatchSize: 2}},
	"stream":              {numbers(23), hidden{}, &Shuffle{Seed: 5, BufferSize: ptr(int64(6))}, &Repeat{Count: 2}, &Batch{BatchSize: 4}},
	"stream of elements":  {numbers(200), hidden{}},
	"skip, take, windows": {numbers(9), &Repeat{Count: -1}, &Shuffle{Seed: 5, BufferSize: ptr(int64(6))}, &Skip{Count: 3}, &Take{Count: 31}, &Batch{BatchSize: 4}},
}

func ptr[T any](v T) *T { return &v }

// hidden hides that a dataset is indexed.
type hidden struct{ onOne }

func (hidden) text() string { return "hidden" }
func (hidden) build(in []dataset.Definition, _ int) (dataset.Definition, error) {
	return datasettest.Stream{Definition: in[0]}, nil
}

// No worker count and no size of groups shows in what comes out.
func TestSameForAllWorkersAndGroups(t *testing.T) {
	for name, ops := range pipelines {
		t.Run(name, func(t *testing.T) {
			d := open(t, ops...)
			for pass := range int64(2) {
				want := read(t, iterate(t, d, Options{Pass: pass}), -1)
				if d.Indexed() {
					require.EqualValues(t, d.Cardinality(), len(want))
				}
				for _, workers := range []int{0, 1, 2, 8} {
					for _, group := range []int64{1, 100, 1000, 1 << 20} {
						it := iterate(t, d, Options{Pass: pass, Workers: workers, GroupBytes: group})
						require.Equal(t, want, read(t, it, -1), "%d workers, groups of %d bytes", workers, group)
					}
				}
			}
		})
	}
}

// From the state before element k come elements k, k+1, ... in any iterator.
func TestResumeFromEveryPosition(t *testing.T) {
	for name, ops := range pipelines {
		t.Run(name, func(t *testing.T) {
			d := open(t, ops...)
			want := read(t, iterate(t, d, Options{Pass: 2}), -1)
			saver := iterate(t, d, Options{Pass: 2})
			_ = read(t, saver, -1)
			for k := range len(want) + 1 {
				text, err := json.Marshal(stateOf(t, saver, int64(k)))
				require.NoError(t, err)
				require.Less(t, len(text), 1024)
				var s State
				require.NoError(t, json.Unmarshal(text, &s))
				it := iterate(t, open(t, ops...), Options{State: &s, Workers: k % 3})
				again := stateOf(t, it, int64(k))
				require.Equal(t, s.Position, again.Position, "a state saved again")
				require.Equal(t, s.Fingerprint, again.Fingerprint)
				require.Equal(t, want[k:], read(t, it, -1), "from element %d", k)
			}
		})
	}
}

func TestReadersShareAPass(t *testing.T) {
	d := open(t, numbers(23), &Shuffle{Seed: 5}, &Batch{BatchSize: 4})
	want := read(t, iterate(t, d, Options{Pass: 1}), -1)
	for i := range int64(3) {
		it := iterate(t, d, Options{Pass: 1, Shard: &[2]int64{3, i}})
		s := stateOf(t, it, 1)
		mine := read(t, it, -1)
		for j, e := range mine {
			require.Equal(t, want[int(i)+3*j], e)
		}
		require.Equal(t, mine[1:], read(t, iterate(t, d, Options{State: &s, Shard: &[2]int64{3, i}}), -1))
		require.Equal(t, want[3:], read(t, iterate(t, d, Options{State: &s}), -1), "the state is not that of all readers")
	}
	_, err := d.Iterate(Options{Shard: &[2]int64{3, 3}})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}

func TestDrawnSeedsComeFromTheState(t *testing.T) {
	make := func(seed uint64) *Dataset {
		return open(t, numbers(23), &Shuffle{Seed: seed, Drawn: true}, &Batch{BatchSize: 4})
	}
	saver := iterate(t, make(1), Options{Pass: 3})
	want := read(t, saver, -1)
	s := stateOf(t, saver, 2)
	it := iterate(t, make(2), Options{State: &s})
	require.Equal(t, want[2:], read(t, it, -1))
	require.Equal(t, s.Seeds, stateOf(t, it, 0).Seeds)
}

func stateOf(t *testing.T, it *Iterator, position int64) State {
	t.Helper()
	s, err := it.State(position)
	require.NoError(t, err)
	return s
}

func TestAtIsElementOfThePass(t *testing.T) {
	for name, ops := range pipelines {
		d := open(t, ops...)
		if !d.Indexed() {
			_, err := d.At(0, 0)
			require.ErrorContains(t, err, "one after the other")
			continue
		}
		want := read(t, iterate(t, d, Options{Pass: 1}), -1)
		for _, i := range rand.Perm(len(want)) {
			e, err := d.At(1, int64(i))
			require.NoError(t, err)
			g, err := lentGroup(e, d.def.Spec())
			require.NoError(t, err)
			require.Equal(t, want[i:i+1], elements(g), "%s: element %d", name, i)
			g.Release()
		}
		for _, i := range []int64{-1, int64(len(want)), 1 << 62} {
			_, err := d.At(0, i)
			require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
			require.ErrorContains(t, err, fmt.Sprint(i))
		}
		d.Close()
	}
}

// What is lent stays as it is, and slots that come back are used again.
func TestLentGroupsAreNotOverwritten(t *testing.T) {
	d := open(t, numbers(1000), &Shuffle{Seed: 5}, &Repeat{Count: -1}, &Batch{BatchSize: 16})
	want := read(t, iterate(t, d, Options{}), 2000)
	it := iterate(t, d, Options{Workers: 2, GroupBytes: 1})
	var kept []*Group
	of := func(g *Group) []element { return want[g.Start : g.Start+g.Block.Rows] }
	for next := int64(0); next < 1900; {
		g, err := it.Next()
		require.NoError(t, err)
		require.Equal(t, next, g.Start)
		next += g.Block.Rows
		require.Equal(t, of(g), elements(g), "batch %d", g.Start)
		kept = append(kept, g)
		for len(kept) > it.MayLend() {
			i := rand.IntN(len(kept))
			require.Equal(t, of(kept[i]), elements(kept[i]), "batch %d, while it was lent", kept[i].Start)
			kept[i].Release()
			kept = append(kept[:i], kept[i+1:]...)
		}
	}
	slots := map[uint32]bool{}
	for _, g := range kept {
		slots[uint32(g.slot)] = true
	}
	require.Len(t, slots, len(kept))
	it.Close()
	for _, g := range kept { // closing took nothing away
		require.Equal(t, want[g.Start], elements(g)[0])
		g.Release()
	}
}

// A consumer that keeps everything stops nothing.
func TestKeepingAllGroups(t *testing.T) {
	for _, workers := range []int{0, 2} {
		it := iterate(t, open(t, numbers(100)), Options{GroupBytes: 1, Workers: workers})
		var kept []*Group
		for {
			g, err := it.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			kept = append(kept, g)
		}
		require.Len(t, kept, 100)
		want := read(t, iterate(t, open(t, numbers(100)), Options{}), -1)
		for i, g := range kept {
			require.Equal(t, want[i:i+1], elements(g))
			g.Release()
		}
	}
}

func TestFirstGroupIsOneElement(t *testing.T) {
	it := iterate(t, open(t, numbers(5000)), Options{Workers: 1})
	for _, rows := range []int64{1, 2, 4, 8} {
		g, err := it.Next()
		require.NoError(t, err)
		require.Equal(t, rows, g.Block.Rows)
		g.Release()
	}
}

func TestMemoryIsBounded(t *testing.T) {
	for name, c := range map[string]struct{ batch, budget, most int64 }{
		"small batches": {16, 0, 32 << 20}, "within the budget": {1 << 16, 16 << 20, 16 << 20},
		"larger than the budget": {1 << 18, 1 << 20, 4 * (1<<18*11 + 2*pageBytes)},
	} {
		t.Run(name, func(t *testing.T) {
			before := arena.MappedBytes()
			it := iterate(t, open(t, numbers(1<<18), &Batch{BatchSize: c.batch, DropRemainder: true}), Options{Workers: 2, RAMBudget: c.budget})
			require.LessOrEqual(t, arena.MappedBytes()-before, c.most)
			require.EqualValues(t, it.Queue().Taken(), 0)
		})
	}
}

func TestMemoryOfLargeElementsIsBounded(t *testing.T) {
	const mib = 1 << 20
	for size, workers := range map[int64]int{1: 64, 20 * mib: 2, 60 * mib: 2, 100 * mib: 1} {
		bound := &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'u', Size: 1}, Shape: []int64{size}}}}
		var s sizes
		require.NoError(t, s.set(bound, true, Options{Workers: workers}))
		require.LessOrEqual(t, int64(s.ahead+s.lent)*s.slotBytes, max(256*mib, int64(workers+leastLent)*s.slotBytes), "%d bytes", size)
		require.GreaterOrEqual(t, s.ahead, workers)
		require.GreaterOrEqual(t, s.lent, leastLent)
	}
}

// The first failure in the order of groups is the one that counts, whichever is
// found first.
func TestTheEarliestFailureEndsTheQueue(t *testing.T) {
	q, err := arena.NewQueue(8, 4, nil)
	require.NoError(t, err)
	defer q.Free()
	var d delivery
	d.init(q, 8)
	group := func(i int64) []arena.Entry { return []arena.Entry{{Position: i, Bytes: 1}} }
	d.hand(1, group(1), errs.New(errs.DataLoss, "x", "second"))
	d.hand(2, nil, errs.New(errs.Internal, "x", "third"))
	require.Zero(t, q.Pushed())
	d.hand(0, group(0), nil)
	d.endsAfter(5)
	for i := range int64(2) {
		e, status := q.Take(time.Minute)
		require.Zero(t, status)
		require.Equal(t, i, e.Position)
	}
	_, status := q.Take(time.Minute)
	require.Equal(t, -int32(errs.DataLoss), status)
	require.ErrorContains(t, d.err(), "second")
}

func TestErrorsComeAtTheirTurn(t *testing.T) {
	for _, workers := range []int{0, 1, 8} {
		d := open(t, numbers(10), &Batch{BatchSize: 4}, &Repeat{Count: 2}, &Batch{BatchSize: 2})
		it := iterate(t, d, Options{Workers: workers})
		require.Len(t, read(t, it, 1), 1)
		for range 2 {
			_, err := it.Next()
			require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
			require.ErrorContains(t, err, "one has [2], [2 3] and one has [4], [4 3]")
		}
		_, err := d.At(0, 1)
		require.ErrorContains(t, err, "different shapes")
		d.Close()
	}
}

// broken is an operation whose elements from some number on fail or panic.
type broken struct {
	onOne
	in    dataset.Indexed
	at    int64
	panic bool
}

type brokenPass struct {
	dataset.RandomAccess
	*broken
}

func (b *broken) text() string { return "broken" }
func (b *broken) build(in []dataset.Definition, _ int) (dataset.Definition, error) {
	b.in = in[0].(dataset.Indexed)
	return b, nil
}
func (b *broken) Spec() *spec.Element { return b.in.Spec() }
func (b *broken) Cardinality() int64  { return b.in.Cardinality() }
func (b *broken) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(b, s, pass, from)
}
func (b *broken) Open(s *dataset.Scope, k rng.Key) (dataset.RandomAccess, error) {
	in, err := b.in.Open(s, k)
	return brokenPass{in, b}, err
}

func (b brokenPass) Fetch(index []int64, dst dataset.Sink) error {
	for _, i := range index {
		if i >= b.at {
			if b.panic {
				panic("broken on purpose")
			}
			return errs.New(errs.DataLoss, "broken", "element %d", b.at)
		}
	}
	return b.RandomAccess.Fetch(index, dst)
}

func TestElementsBeforeAFailureAreDelivered(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 8} {
		for _, group := range []int64{1, 1 << 20} {
			for name, ops := range map[string][]Op{"indexed": {numbers(100), &broken{at: 50}}, "stream": {numbers(100), &broken{at: 50}, hidden{}}} {
				it := iterate(t, open(t, ops...), Options{Workers: workers, GroupBytes: group})
				require.Len(t, read(t, it, 50), 50)
				for range 2 {
					_, err := it.Next()
					require.Equal(t, errs.DataLoss, errs.KindOf(err), name)
				}
			}
		}
	}
}

func TestPanicsEndTheIterator(t *testing.T) {
	for _, workers := range []int{0, 1, 8} {
		for name, ops := range map[string][]Op{"indexed": nil, "stream": {hidden{}}} {
			ops := append([]Op{numbers(100), &broken{at: 50, panic: true}}, ops...)
			it := iterate(t, open(t, ops...), Options{Workers: workers, GroupBytes: 1})
			require.Len(t, read(t, it, 10), 10)
			var err error
			for err == nil {
				var g *Group
				if g, err = it.Next(); err == nil {
					g.Release()
				}
			}
			require.Equal(t, errs.Internal, errs.KindOf(err), name)
			require.ErrorContains(t, err, "broken on purpose")
		}
	}
}

// Closing does not wait for a consumer, and takes less than a group's time.
func TestCloseAtAnyMoment(t *testing.T) {
	d := open(t, numbers(1000), &Shuffle{Seed: 1}, &Repeat{Count: -1}, &Batch{BatchSize: 64})
	for n := range 100 {
		it := iterate(t, d, Options{Workers: n % 4})
		_ = read(t, it, n%7)
		if n%2 == 0 {
			go it.Stop()
		}
		start := time.Now()
		it.Close()
		require.Less(t, time.Since(start), 5*time.Second)
		it.Close()
	}
	require.Zero(t, par.Live())
}

// lingering is an operation that is still at work when the iterator is being closed.
type lingering struct {
	broken
	began   chan struct{}
	cleaned atomic.Bool
	early   bool // memory was cleaned up before it was done
}

type lingeringPass struct {
	dataset.RandomAccess
	*lingering
	scope *dataset.Scope
}

func (o *lingering) build(in []dataset.Definition, _ int) (dataset.Definition, error) {
	o.in = in[0].(dataset.Indexed)
	return o, nil
}

func (o *lingering) Open(s *dataset.Scope, k rng.Key) (dataset.RandomAccess, error) {
	s.Defer(func() { o.cleaned.Store(true) })
	in, err := o.in.Open(s, k)
	return lingeringPass{in, o, s}, err
}

func (o lingeringPass) Fetch([]int64, dataset.Sink) error {
	close(o.began)
	<-o.scope.Done()
	for range 10_000 {
		runtime.Gosched()
	}
	o.early = o.cleaned.Load()
	return o.scope.Err()
}

func TestCloseWaitsForWhoeverProduces(t *testing.T) {
	o := &lingering{began: make(chan struct{})}
	it := iterate(t, open(t, numbers(10), o), Options{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		it.Produce()
	}()
	<-o.began
	it.Close()
	<-done
	require.True(t, o.cleaned.Load())
	require.False(t, o.early)
}

func TestStopWakesTheConsumer(t *testing.T) {
	for _, workers := range []int{0, 2} {
		it := iterate(t, open(t, numbers(10), &Repeat{Count: -1}), Options{Workers: workers})
		got := make(chan error)
		go func() {
			for {
				g, err := it.Next()
				if err != nil {
					got <- err
					return
				}
				g.Release()
			}
		}()
		it.Stop()
		err := <-got
		require.Equal(t, errs.Cancelled, errs.KindOf(err))
	}
}

// Elements of one task may come in a group each, as batches across repetitions do.
func TestManyGroupsOfOneTask(t *testing.T) {
	d := open(t, numbers(3), &Repeat{Count: 2000}, &Batch{BatchSize: 2, DropRemainder: true})
	want := read(t, iterate(t, d, Options{GroupBytes: 1}), -1)
	require.Len(t, want, 3000)
	for _, workers := range []int{0, 1, 2} {
		require.Equal(t, want, read(t, iterate(t, d, Options{Workers: workers}), -1))
	}
}
