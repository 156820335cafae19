package feed

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
)

// newThreadPool starts goroutines that take jobs as Python's threads do; made gets
// the index of each job before it is reported.
func newThreadPool(t *testing.T, workers, queue int, made func(Job)) *Pool {
	t.Helper()
	noLeaks(t)
	p, err := NewPool(Options{Workers: workers, Queue: queue})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for n := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for {
				key := p.Work.Key()
				j, ok, err := p.Take(int64(n))
				if err != nil {
					return
				}
				if !ok {
					p.Work.Wait(key, time.Minute)
					continue
				}
				made(j)
				if _, err := p.Done(j.ID); err != nil {
					panic(err)
				}
			}
		}()
	}
	t.Cleanup(func() {
		p.Stop()
		wg.Wait()
		p.Close(0)
	})
	return p
}

func TestThreadsDeliverEveryBatchInOrder(t *testing.T) {
	for _, workers := range []int{1, 2, 8} {
		for _, queue := range []int{0, 1, 3} {
			t.Run(fmt.Sprintf("%d workers queue %d", workers, queue), func(t *testing.T) {
				p := newThreadPool(t, workers, queue, func(Job) {})
				for pass := range int64(2) {
					w := openWalk(t, p, WalkOptions{Length: 200, Pass: pass, Shuffle: true, Seed: 4})
					order := Order(200, 4, pass)
					for i := range int64(200) {
						e, status := take(t, w)
						require.Zero(t, status)
						require.Equal(t, i, e.Position)
						require.Equal(t, order.At(i), e.Index)
					}
					_, status := take(t, w)
					require.Equal(t, int32(statusEnd), status)
				}
			})
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	for _, c := range []struct{ workers, queue, most int }{{2, 5, 5}, {4, 1, 4}, {3, 0, 3}, {1, 10, 10}} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			var mu sync.Mutex
			made := 0
			p := newThreadPool(t, c.workers, c.queue, func(Job) {
				mu.Lock()
				made++
				mu.Unlock()
			})
			w := openWalk(t, p, WalkOptions{Length: -1})
			for taken := range 50 {
				require.Eventually(t, func() bool { return int(w.Queue.Pushed()-w.Queue.Taken()) > 0 }, 10*time.Second, time.Microsecond)
				mu.Lock()
				require.LessOrEqual(t, made-taken, c.most, "%+v", c)
				mu.Unlock()
				take(t, w)
			}
		})
	}
}

func TestLookMakesOneBatchAtATime(t *testing.T) {
	var mu sync.Mutex
	made := 0
	p := newThreadPool(t, 4, 10, func(Job) {
		mu.Lock()
		made++
		mu.Unlock()
	})
	w := openWalk(t, p, WalkOptions{Length: 10, Look: true})
	take(t, w)
	take(t, w)
	w.Close()
	mu.Lock()
	defer mu.Unlock()
	require.LessOrEqual(t, made, 3)
}

func TestInvalidateMakesAgainWhatWasNotTaken(t *testing.T) {
	var mu sync.Mutex
	count := map[int64]int{}
	p := newThreadPool(t, 2, 4, func(j Job) {
		mu.Lock()
		count[j.Index]++
		mu.Unlock()
	})
	w := openWalk(t, p, WalkOptions{Length: 30})
	for i := range int64(30) {
		if i%7 == 3 {
			w.Invalidate()
		}
		e, status := take(t, w)
		require.Zero(t, status)
		require.Equal(t, i, e.Position)
		require.Equal(t, i, e.Index)
	}
	_, status := take(t, w)
	require.Equal(t, int32(statusEnd), status)
	w.Invalidate()
	_, status = take(t, w)
	require.Equal(t, int32(statusEnd), status, "an ended walk began again")
}

func TestBadOptions(t *testing.T) {
	_, err := NewPool(Options{Workers: 0})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	_, err = NewPool(Options{Workers: 1, Queue: -1})
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
	p := newThreadPool(t, 1, 1, func(Job) {})
	for _, o := range []WalkOptions{{Length: 3, Start: 4}, {Length: -2}, {Length: 3, Start: -1}} {
		_, err = p.OpenWalk(o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), "%+v", o)
	}
	_, err = p.Done(12345)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}

func TestEmptyWalkEndsAtOnce(t *testing.T) {
	p := newThreadPool(t, 1, 1, func(Job) {})
	_, status := take(t, openWalk(t, p, WalkOptions{Length: 0}))
	require.Equal(t, int32(statusEnd), status)
	_, status = take(t, openWalk(t, p, WalkOptions{Length: 5, Start: 5}))
	require.Equal(t, int32(statusEnd), status)
}
