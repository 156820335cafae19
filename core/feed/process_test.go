package feed

import (
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/arena"
	"infeed/core/errs"
)

func openWalk(t *testing.T, p *Pool, opt WalkOptions) *Walk {
	t.Helper()
	w, err := p.OpenWalk(opt)
	require.NoError(t, err)
	t.Cleanup(w.Close)
	return w
}

// indices takes a whole walk and checks that positions count up.
func indices(t *testing.T, w *Walk, pass int64) []int64 {
	t.Helper()
	var out []int64
	for {
		e, status := take(t, w)
		if status == statusEnd {
			return out
		}
		require.Zero(t, status)
		require.Zero(t, e.Status, w.Failure(e.Position))
		require.Equal(t, w.opt.Start+int64(len(out)), e.Position)
		index, gotPass := batch(t, e)
		require.Equal(t, e.Index, index)
		require.Equal(t, pass, gotPass)
		out = append(out, index)
	}
}

func upTo(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	return out
}

func TestProcessesDeliverEveryBatchInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		for _, queue := range []int{0, 1, 10} {
			t.Run(fmt.Sprintf("%d workers queue %d", workers, queue), func(t *testing.T) {
				p := newProcessPool(t, workers, queue, "")
				for pass := range int64(2) {
					w := openWalk(t, p, WalkOptions{Length: 40, Pass: pass})
					require.Equal(t, upTo(40), indices(t, w, pass))
				}
			})
		}
	}
}

func TestShuffledOrderDependsOnSeedAndPassOnly(t *testing.T) {
	var first []int64
	for _, workers := range []int{1, 3} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			p := newProcessPool(t, workers, 4, "")
			got := indices(t, openWalk(t, p, WalkOptions{Length: 30, Shuffle: true, Seed: 9, Pass: 2}), 2)
			require.ElementsMatch(t, upTo(30), got)
			require.NotEqual(t, upTo(30), got)
			if first == nil {
				first = got
			}
			require.Equal(t, first, got)
			other := indices(t, openWalk(t, p, WalkOptions{Length: 30, Shuffle: true, Seed: 9, Pass: 3}), 3)
			require.NotEqual(t, first, other)
			rest := indices(t, openWalk(t, p, WalkOptions{Length: 30, Shuffle: true, Seed: 9, Pass: 2, Start: 21}), 2)
			require.Equal(t, first[21:], rest, "a walk from the middle goes another way")
		})
	}
}

func TestBatchesThatGrow(t *testing.T) {
	p := newProcessPool(t, 2, 4, "big=5")
	require.Equal(t, upTo(9), indices(t, openWalk(t, p, WalkOptions{Length: 9}), 0))
}

func TestDeadWorkerIsReplacedAndItsBatchMadeAgain(t *testing.T) {
	p := newProcessPool(t, 2, 4, "once=5 path="+filepath.Join(t.TempDir(), "died"))
	require.Equal(t, upTo(12), indices(t, openWalk(t, p, WalkOptions{Length: 12}), 0))
}

func TestBatchThatKillsEveryWorker(t *testing.T) {
	p := newProcessPool(t, 2, 4, "die=5")
	w := openWalk(t, p, WalkOptions{Length: 8})
	for i := range int64(8) {
		e, status := take(t, w)
		require.Zero(t, status)
		if i != 5 {
			require.Zero(t, e.Status)
			batch(t, e)
			continue
		}
		require.Equal(t, errs.Worker, kindOf(e.Status))
		f := w.Failure(e.Position)
		require.Equal(t, -int(syscall.SIGKILL), f.Exit)
		require.Contains(t, f.Text, "batch 5")
		require.Contains(t, f.Text, "memory")
	}
	_, status := take(t, w)
	require.Equal(t, int32(statusEnd), status)
}

func TestExceptionComesAtItsTurn(t *testing.T) {
	p := newProcessPool(t, 2, 4, "raise=3")
	w := openWalk(t, p, WalkOptions{Length: 6})
	for i := range int64(6) {
		e, status := take(t, w)
		require.Zero(t, status)
		require.Equal(t, i, e.Position)
		if i == 3 {
			require.Equal(t, int32(statusRaised), e.Status)
			require.Equal(t, "an exception", string(arena.Memory(e.Slot)[:12]))
		}
		arena.Release(e.Slot)
	}
}

func TestWorkersThatCannotStart(t *testing.T) {
	for words, want := range map[string]string{"unusable": "no module named data", "stillborn": "exit status 5"} {
		t.Run(words, func(t *testing.T) {
			p := newProcessPool(t, 2, 4, words)
			w := openWalk(t, p, WalkOptions{Length: 6})
			_, status := take(t, w)
			require.Equal(t, errs.Worker, kindOf(status), words)
			require.Contains(t, w.Failure(-1).Text, want)
			later, err := p.OpenWalk(WalkOptions{Length: 6})
			require.NoError(t, err)
			_, status = take(t, later)
			require.Equal(t, errs.Worker, kindOf(status), "a later walk does not fail")
			later.Close()
		})
	}
}

func TestCommandThatDoesNotExist(t *testing.T) {
	noLeaks(t)
	p, err := NewPool(Options{Workers: 1, Process: &ProcessOptions{Argv: [][]byte{[]byte("/nonexistent/python")}}})
	require.NoError(t, err)
	w, err := p.OpenWalk(WalkOptions{Length: 3})
	require.NoError(t, err)
	_, status := take(t, w)
	require.Equal(t, errs.Worker, kindOf(status))
	require.Contains(t, w.Failure(-1).Text, "/nonexistent/python")
	p.Stop()
	w.Close()
	p.Close(time.Second)
}

func TestTwoWalksAtOnce(t *testing.T) {
	p := newProcessPool(t, 2, 3, "")
	training := openWalk(t, p, WalkOptions{Length: 20, Pass: 1})
	for i := range int64(5) {
		e, _ := take(t, training)
		index, _ := batch(t, e)
		require.Equal(t, i, index)
	}
	require.Equal(t, upTo(7), indices(t, openWalk(t, p, WalkOptions{Length: 7, Pass: -1}), -1))
	for i := int64(5); i < 20; i++ {
		e, _ := take(t, training)
		index, _ := batch(t, e)
		require.Equal(t, i, index)
	}
}

func TestNewDatasetReachesBatchesMadeAhead(t *testing.T) {
	p := newProcessPool(t, 2, 4, "")
	w := openWalk(t, p, WalkOptions{Length: 8})
	e, _ := take(t, w)
	batch(t, e)
	setWords(t, p, 2, "raise=2 big=9")
	w.Invalidate()
	for i := int64(1); i < 8; i++ {
		e, status := take(t, w)
		require.Zero(t, status)
		require.Equal(t, i, e.Position)
		require.Equal(t, i == 2, e.Status == statusRaised, "batch %d is of the old dataset", i)
		arena.Release(e.Slot)
	}
}

func TestLentBatchesAreNotOverwritten(t *testing.T) {
	p := newProcessPool(t, 2, 2, "")
	w := openWalk(t, p, WalkOptions{Length: 64})
	var held []arena.Entry
	for {
		e, status := take(t, w)
		if status == statusEnd {
			break
		}
		held = append(held, e)
		if len(held) > 6 {
			index, _ := batch(t, held[0])
			require.Equal(t, held[0].Index, index)
			held = held[1:]
		}
	}
	for _, e := range held {
		index, _ := batch(t, e)
		require.Equal(t, e.Index, index)
	}
}

func TestStopWhileWorkersAreBusy(t *testing.T) {
	for i := range 20 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			p := newProcessPool(t, 2, 4, "")
			w, err := p.OpenWalk(WalkOptions{Length: -1})
			require.NoError(t, err)
			e, _ := take(t, w)
			arena.Release(e.Slot)
			p.Stop()
			_, status := w.Queue.Take(10 * time.Second)
			require.Equal(t, errs.Cancelled, kindOf(status))
			w.Close()
		})
	}
}
