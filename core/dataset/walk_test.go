package dataset_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
)

// holes is a range some elements of which cannot be made.
type holes struct {
	datasettest.Range
	at map[int64]bool
}

func (h holes) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(h, s, pass, from)
}

func (h holes) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return h, nil }

func (h holes) Fetch(index []int64, dst dataset.Sink) error {
	for _, i := range index {
		if h.at[i] {
			return fmt.Errorf("element %d", i)
		}
	}
	return h.Range.Fetch(index, dst)
}

func TestWalkPassesWhatFails(t *testing.T) {
	d := holes{20, map[int64]bool{0: true, 7: true, 8: true, 19: true}}
	datasettest.Check(t, d, 30)
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := dataset.Walk(d, s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	got, _ := datasettest.Take(t, it, 16, 30)
	require.Len(t, got, 20)
	require.Equal(t, "element 7", got[7].Err)
	require.Equal(t, []int64{9}, got[9].Int64s())
}

func TestWalkRefusesStatesOfAnotherLength(t *testing.T) {
	s := datasettest.Scope(0)
	defer s.Close()
	for _, position := range []int64{-1, 6, 1 << 62} {
		_, err := dataset.Walk(datasettest.Range(5), s, dataset.PassKey(0), dataset.At(position))
		require.Equal(t, errs.StateMismatch, errs.KindOf(err))
	}
	_, err := dataset.Walk(datasettest.Range(dataset.Infinite), s, dataset.PassKey(0), dataset.At(1<<62))
	require.Equal(t, errs.StateMismatch, errs.KindOf(err))
}

func TestConsecutive(t *testing.T) {
	for _, yes := range [][]int64{{0}, {5}, {3, 4, 5}} {
		require.True(t, dataset.Consecutive(yes), "%v", yes)
	}
	for _, no := range [][]int64{{}, {1, 1}, {2, 1}, {0, 1, 3}, {1, 3, 4}} {
		require.False(t, dataset.Consecutive(no), "%v", no)
	}
}

// ordered is a dataset whose elements an Ordered iterator makes: its input's.
type ordered struct{ dataset.Definition }

func (o ordered) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.NewOrdered("ordered", s, s.Workers, from, func(from *dataset.Token) (dataset.Work, error) {
		in, err := o.Definition.Iterate(s, pass, from)
		return copying{in}, err
	})
}

type copying struct{ dataset.Iterator }

func (c copying) Claim(j *dataset.Job) error { return dataset.Again(c.Next(j.Limit, &j.In)) }

// Work copies; numbers that 5 divides fail.
func (c copying) Work(j *dataset.Job) {
	for _, b := range j.In.Blocks() {
		for i := range b.Rows {
			if b.Columns[0].Data[8*i]%5 == 0 {
				j.Fails = append(j.Fails, dataset.Failure{After: len(j.Out.Blocks()), Err: fmt.Errorf("%d", b.Columns[0].Data[8*i])})
				continue
			}
			out, _ := j.Out.Block(b.Shapes, 1)
			out.Copy(0, b.Slice(i, i+1))
		}
	}
}

func TestOrdered(t *testing.T) {
	datasettest.Check(t, ordered{datasettest.Range(23)}, 30)
	datasettest.Check(t, ordered{holes{23, map[int64]bool{3: true, 4: true, 22: true}}}, 30)
	datasettest.Check(t, ordered{datasettest.Range(0)}, 30)
	datasettest.Check(t, ordered{datasettest.Range(dataset.Infinite)}, 30)
	datasettest.Check(t, ordered{ordered{datasettest.Range(20)}}, 30)
}

func TestAPanicInAnOrderedStageEndsTheScope(t *testing.T) {
	s := datasettest.Scope(2)
	defer s.Close()
	it, err := dataset.NewOrdered("ordered", s, 2, nil, func(*dataset.Token) (dataset.Work, error) { return panicking{}, nil })
	require.NoError(t, err)
	_, err = it.Next(1, &block.Buffer{})
	require.Equal(t, errs.Internal, errs.KindOf(err))
	require.ErrorContains(t, err, "an accident")
}

type panicking struct{}

func (panicking) Claim(*dataset.Job) error { return nil }
func (panicking) Token() *dataset.Token    { return nil }
func (panicking) Work(*dataset.Job)        { panic("an accident") }

func TestACursorTakesAnyBlocks(t *testing.T) {
	s := datasettest.Scope(0)
	defer s.Close()
	open := func(from *dataset.Token) (dataset.Iterator, error) {
		return holes{10, map[int64]bool{6: true}}.Iterate(s, dataset.PassKey(0), from)
	}
	c, err := dataset.NewCursor("test", nil, open)
	require.NoError(t, err)
	for want := byte(0); want < 10; want++ {
		b, err := c.Peek(4)
		if want == 6 {
			require.EqualError(t, err, "element 6")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, b.Columns[0].Data[0])
		again, err := dataset.NewCursor("test", datasettest.Reload(t, c.Token()), open)
		require.NoError(t, err)
		b, err = again.Peek(1)
		require.NoError(t, err)
		require.Equal(t, want, b.Columns[0].Data[0])
		c.Take(1)
	}
	_, err = c.Peek(1)
	require.Equal(t, io.EOF, err)
	_, err = dataset.NewCursor("test", dataset.Over(nil, 1<<40), open)
	require.Equal(t, errs.StateMismatch, errs.KindOf(err))
}
