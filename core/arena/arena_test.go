package arena

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newSegment(t *testing.T, slots int, size int64) (*Segment, *Event) {
	t.Helper()
	before := MappedBytes()
	event := NewEvent()
	s, err := NewSegment(slots, size, event)
	require.NoError(t, err)
	t.Cleanup(func() {
		s.Close()
		FreeEvent(event)
		require.Equal(t, before, MappedBytes(), "segment memory was left mapped")
	})
	return s, event
}

func TestSlotStates(t *testing.T) {
	s, event := newSegment(t, 2, 4096)
	a, ok := s.TryAcquire()
	require.True(t, ok)
	b, ok := s.TryAcquire()
	require.True(t, ok)
	require.NotEqual(t, a.Ref, b.Ref)
	_, ok = s.TryAcquire()
	require.False(t, ok, "both slots are taken")

	require.False(t, Lend(a.Ref), "a slot that is being filled was lent")
	require.True(t, MarkReady(a.Ref))
	require.False(t, MarkReady(a.Ref))
	require.True(t, Lend(a.Ref))
	require.False(t, Lend(a.Ref))

	key := event.Key()
	require.True(t, Release(a.Ref))
	require.NotEqual(t, key, event.Key(), "the release woke nobody")
	require.False(t, Release(a.Ref), "a slot was given back twice")
	c, ok := s.TryAcquire()
	require.True(t, ok)
	require.Equal(t, uint32(a.Ref), uint32(c.Ref))
	require.NotEqual(t, a.Ref, c.Ref, "the generation did not change")
	require.False(t, Release(a.Ref), "a stale reference freed a slot that is in use")
	require.True(t, Release(b.Ref))
	require.True(t, Release(c.Ref))
	require.True(t, s.Idle())
}

func TestReleaseIgnoresNonsense(t *testing.T) {
	for name, ref := range map[string]uint64{"none": 0, "never used": 1<<32 | 60000, "out of range": 1<<32 | 0xffffffff} {
		require.False(t, Release(ref), name)
		require.False(t, Lend(ref), name)
		require.False(t, MarkReady(ref), name)
	}
}

func TestLentMemoryOutlivesItsSegment(t *testing.T) {
	before := MappedBytes()
	s, err := NewSegment(2, 8192, nil)
	require.NoError(t, err)
	slot, _ := s.TryAcquire()
	require.True(t, MarkReady(slot.Ref))
	require.True(t, Lend(slot.Ref))
	memory := slot.Bytes
	s.Close()
	require.Equal(t, before+2*8192, MappedBytes())
	memory[8191] = 7 // would fault if it were unmapped
	require.True(t, Release(slot.Ref))
	require.Equal(t, before, MappedBytes())
}

func TestPrivateSegments(t *testing.T) {
	before := MappedBytes()
	s, err := NewPrivateSegment(2, 4096, nil)
	require.NoError(t, err)
	require.Nil(t, s.File)
	a, ok := s.TryAcquire()
	require.True(t, ok)
	a.Bytes[4095] = 1
	require.True(t, MarkReady(a.Ref))
	require.True(t, Lend(a.Ref))
	s.Close()
	require.Equal(t, before+8192, MappedBytes())
	require.True(t, Release(a.Ref))
	require.Equal(t, before, MappedBytes())
}

func TestSegmentNumbersAreUsedAgain(t *testing.T) {
	for range 3 * maxSegments {
		s, err := NewSegment(4, 4096, nil)
		require.NoError(t, err)
		s.Close()
	}
}

// A number that was free is of one segment only, however many ask at once.
func TestSegmentsThatAreMadeAtOnceShareNoNumber(t *testing.T) {
	before := MappedBytes()
	var inUse sync.Map
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			for range 2000 {
				s, err := NewPrivateSegment(1, 4096, nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, twice := inUse.LoadOrStore(s.Number(), true); twice {
					t.Errorf("segment %d is there twice", s.Number())
					return
				}
				inUse.Delete(s.Number())
				s.Close()
			}
		})
	}
	group.Wait()
	require.Equal(t, before, MappedBytes())
}

func TestQueueKeepsOrderAndBlocks(t *testing.T) {
	space := NewEvent()
	defer FreeEvent(space)
	q, err := NewQueue(4, 2, space)
	require.NoError(t, err)
	defer q.Free()
	const n = 10_000
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		for i := int64(0); i < n; {
			key := space.Key()
			if q.Push(Entry{Position: i}) {
				i++
				continue
			}
			space.Wait(key, time.Second)
		}
		q.Finish(3)
	}()
	for i := int64(0); i < n; i++ {
		e, status := q.Take(10 * time.Second)
		require.Zero(t, status)
		require.Equal(t, i, e.Position)
	}
	_, status := q.Take(10 * time.Second)
	require.Equal(t, int32(3), status)
	wg.Wait()
	require.Equal(t, uint64(n), q.Taken())
}

func TestQueueCancelGoesBeforeEntries(t *testing.T) {
	q, err := NewQueue(4, 2, nil)
	require.NoError(t, err)
	defer q.Free()
	require.True(t, q.Push(Entry{}))
	q.Cancel(-10)
	_, status := q.Take(10 * time.Second)
	require.Equal(t, int32(-10), status)
}

func TestQueueTimeout(t *testing.T) {
	q, err := NewQueue(1, 0, nil)
	require.NoError(t, err)
	defer q.Free()
	_, status := q.Take(time.Millisecond)
	require.Equal(t, int32(1), status)
}

func TestQueueWakesProducerAtLowWater(t *testing.T) {
	space := NewEvent()
	defer FreeEvent(space)
	q, err := NewQueue(4, 2, space)
	require.NoError(t, err)
	defer q.Free()
	for range 4 {
		require.True(t, q.Push(Entry{}))
	}
	key := space.Key()
	_, ok := q.TryTake()
	require.True(t, ok)
	require.Equal(t, key, space.Key(), "three entries are left")
	_, _ = q.TryTake()
	require.NotEqual(t, key, space.Key())
}
