package pipeline

import (
	"testing"

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
