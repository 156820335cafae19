package transform

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
)

func TestRemainingIsWhatNobodyTook(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		total, n := r.Int64N(30), r.Int64N(6)+1
		taken := make([]int64, n)
		for i := range taken {
			taken[i] = r.Int64N(total/n + 3)
		}
		var want []int64
		for g := range total {
			if g/n >= taken[g%n] {
				want = append(want, g)
			}
		}
		d, err := Remaining(datasettest.Range(total), taken)
		require.NoError(t, err)
		require.Equal(t, int64(len(want)), d.Cardinality(), "%d elements, taken %v", total, taken)
		var got []int64
		for x := range d.Cardinality() {
			got = append(got, d.(*remaining).number(x))
		}
		require.Equal(t, want, got, "%d elements, taken %v", total, taken)
	}
}

func TestRemainingKeepsTheContract(t *testing.T) {
	for _, taken := range [][]int64{{0}, {3, 1, 5}, {9, 9, 9}, {0, 40}} {
		t.Run(fmt.Sprint(taken), func(t *testing.T) {
			d, err := Remaining(datasettest.Range(20), taken)
			require.NoError(t, err)
			datasettest.Check(t, d, 30)
			d, err = Remaining(datasettest.Range(dataset.Infinite), taken)
			require.NoError(t, err)
			require.Equal(t, dataset.Infinite, d.Cardinality())
			datasettest.Check(t, d, 30)
		})
	}
	_, err := Remaining(datasettest.Range(20), []int64{1, -1})
	require.ErrorContains(t, err, "-1 elements")
}
