package pipeline

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
)

func TestWhereReadersShare(t *testing.T) {
	two := int64(2)
	shard := &Shard{NumShards: 3, Index: 1}
	for want, ops := range map[string][]Op{
		"none":                  {numbers(9), &Batch{BatchSize: 2}},
		"each 1":                {numbers(9), &Shuffle{}, &Repeat{Count: 2}, shard},
		"each 6":                {numbers(9), shard, &Batch{BatchSize: 2}, &Batch{BatchSize: 3}},
		"each 2":                {numbers(9), &Shard{NumShards: 2}, shard, &Batch{BatchSize: 2}, &Prefetch{BufferSize: 1}},
		"repeat(count=2) comes": {numbers(9), shard, &Repeat{Count: 2}, &Batch{BatchSize: 2}},
		"shuffle(":              {numbers(9), shard, &Shuffle{BufferSize: &two}},
		"one after the other":   {numbers(9), &Unique{}, shard},
		"behind a batch":        {numbers(9), shard, &Batch{BatchSize: 2}, &Unbatch{}},
	} {
		s, why := open(t, ops...).sharing()
		switch {
		case s != nil:
			require.NoError(t, why)
			require.Equal(t, want, fmt.Sprint("each ", s.each))
			require.Equal(t, shard, s.shard, "the shard that comes last")
		case why != nil:
			require.ErrorContains(t, why, want)
		default:
			require.Equal(t, "none", want)
		}
	}
}

func TestFingerprintsOfReadersAreEqual(t *testing.T) {
	reader := func(n, i int64, behind ...Op) string {
		return open(t, append([]Op{numbers(9), &Shard{NumShards: n, Index: i}}, behind...)...).known().fingerprint
	}
	require.Equal(t, reader(3, 1), reader(2, 0))
	require.NotEqual(t, reader(3, 1, &Repeat{Count: 2}), reader(2, 0, &Repeat{Count: 2}), "these cannot go on from one another")
}

func TestEvenLayersBecomeOne(t *testing.T) {
	var r *Rest
	r = r.and([]int64{2, 2, 2}, nil).and([]int64{1, 1}, nil)
	require.Equal(t, []Layer{{1, []int64{8}}}, r.Layers)
	r = r.and([]int64{1, 2}, nil).and([]int64{1}, nil)
	require.Equal(t, []Layer{{1, []int64{8}}, {2, []int64{1, 2}}, {1, []int64{1}}}, r.Layers)
	require.Len(t, r.and([]int64{1}, []Begun{{Layer: 2}}).Layers, 4, "a layer with an element that was begun stays")
}

func TestPiecesKeepTheContract(t *testing.T) {
	for _, from := range []*dataset.Token{nil, dataset.At(3), dataset.At(5)} {
		d := &parting{[]piece{{datasettest.Range(5), from}, {datasettest.Range(0), nil}, {datasettest.Range(7), nil}}}
		datasettest.Check(t, d, 20)
	}
	s := datasettest.Scope(0)
	defer s.Close()
	_, err := (&parting{[]piece{{datasettest.Range(5), nil}}}).Iterate(s, dataset.PassKey(0), dataset.Over(nil, 1))
	require.ErrorContains(t, err, "piece 1 of 1")
}

func TestDamagedRestsAreRefused(t *testing.T) {
	d := open(t, numbers(9), &Shard{NumShards: 3, Index: 1}, &Batch{BatchSize: 2})
	for want, rest := range map[string]*Rest{
		"2 numbers for 3 readers": {Layers: []Layer{{3, []int64{1, 2}}}},
		"0 numbers for 0 readers": {Layers: []Layer{{0, nil}}},
		"took -1 elements":        {Layers: []Layer{{1, []int64{-1}}}},
		"in layer 0 of 0":         {Begun: []Begun{{}, {}, {}}},
	} {
		s := d.State(0, 0, nil)
		s.Rest = rest
		_, err := d.Iterate(Options{State: &s})
		require.ErrorContains(t, err, want)
	}
}

func TestWhatHasNoSeedIsNotBuiltAgain(t *testing.T) {
	d := open(t, numbers(9), &Batch{BatchSize: 2}, &Shuffle{Seed: 1, Drawn: true}, &Repeat{Count: 2})
	again, err := d.seeded([]uint64{2})
	require.NoError(t, err)
	shuffle := func(d *Dataset) *Node { return d.root.Inputs[0] }
	require.NotSame(t, shuffle(d), shuffle(again))
	require.Same(t, shuffle(d).Inputs[0], shuffle(again).Inputs[0])
	same, err := d.seeded([]uint64{1})
	require.NoError(t, err)
	require.Same(t, d, same)
}
