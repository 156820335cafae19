package pipeline

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStatsCountEachStage(t *testing.T) {
	d := open(t, numbers(23), hidden{}, &Shuffle{Seed: 1}, &Batch{BatchSize: 4})
	for _, workers := range []int{0, 2} {
		it := iterate(t, d, Options{Workers: workers})
		require.Len(t, read(t, it, -1), 6)
		s := it.Stats()
		var texts []string
		var elements []int64
		for _, stage := range s.Stages {
			texts, elements = append(texts, stage.Text), append(elements, stage.Elements)
			require.GreaterOrEqual(t, stage.Seconds, 0.0)
		}
		require.Equal(t, d.structure()[:4], texts)
		require.Equal(t, []int64{23, 23, 23, 6}, elements)
		require.EqualValues(t, 23*11, s.Stages[3].Bytes)
		require.Zero(t, s.Lost)
	}
}

// A dataset that was checked before counts as the same stages, also where it is used
// twice.
func TestStatsOfDatasetsOnOthers(t *testing.T) {
	first := open(t, numbers(23), &Batch{BatchSize: 4})
	all, err := Parse([]byte(`[{"handle": 7}, {"op": "concatenate", "args": {}, "inputs": [0, 0]}]`), func(uint64) (*Dataset, error) { return first, nil })
	require.NoError(t, err)
	d := all[1]
	it := iterate(t, d, Options{Workers: 1})
	require.Len(t, read(t, it, -1), 12)
	s := it.Stats()
	require.Len(t, s.Stages, 3)
	require.EqualValues(t, 12, s.Stages[1].Elements)
	require.EqualValues(t, 46, s.Stages[0].Elements)
}

// What a stage waits for is what the stages below it take; what is made ahead is told
// where something is.
func TestStatsOfStagesThatWorkAhead(t *testing.T) {
	d := open(t, numbers(1000), hidden{}, &Prefetch{BufferSize: 4}, &Batch{BatchSize: 4})
	it := iterate(t, d, Options{Workers: 1})
	require.Len(t, read(t, it, 3), 3)
	require.Eventually(t, func() bool { return it.Stats().Stages[2].Queue > 0 }, time.Minute, time.Millisecond, "nothing was read ahead")
	s := it.Stats()
	require.Zero(t, s.Stages[1].Queue)
	require.Zero(t, s.Stages[0].Waited, "a source waits for nobody")
	require.Greater(t, s.Stages[3].Waited, 0.0)
}
