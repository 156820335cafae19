package transform

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// closing is a dataset without end whose scope ends while its sixth element is made. Who
// asks again and again after that never ends.
type closing struct{}

func (closing) Spec() *spec.Element { return element(leaf('i', 8)) }
func (closing) Cardinality() int64  { return dataset.Unknown }

func (closing) Iterate(s *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("closing", 1)
	return &closingIterator{scope: s, at: at[0]}, err
}

type closingIterator struct {
	closing
	scope *dataset.Scope
	at    int64
}

func (it *closingIterator) Token() *dataset.Token { return dataset.At(it.at) }

func (it *closingIterator) Next(_ int64, dst dataset.Sink) (int64, error) {
	if it.at++; it.at > 1000 {
		panic("asked for more after the end of the scope")
	}
	if it.at > 5 {
		it.scope.Fail(errs.New(errs.Cancelled, "iterator", "it was closed"))
		return 0, it.scope.Err()
	}
	return 1, put(it.Spec(), []value{number(it.at)}, dst)
}

// An operation that asks its input for many elements stops when nobody waits for them any more.
func TestTheEndOfAScopeEndsEveryLoop(t *testing.T) {
	const many = 1 << 30
	all := map[string]dataset.Definition{
		"shuffle of all":    must(Shuffle(closing{}, ShuffleOptions{Seed: 1})),
		"shuffle of many":   must(Shuffle(closing{}, ShuffleOptions{Seed: 1, Window: many})),
		"batch of many":     must(Batch(closing{}, many, false)),
		"padded batch":      must(PaddedBatch(closing{}, many, Padding{}, false)),
		"rebatch":           must(Rebatch(must(Batch(closing{}, 2, true)), []int64{many}, false)),
		"window of many":    windowed(closing{}, WindowOptions{many, 1, 1, false}),
		"filter to nothing": must(Filter(closing{}, isTrue(func(int64) (bool, error) { return false, nil }), 1)),
		"skip of many":      must(Skip(closing{}, many)),
		"shard of many":     must(Shard(closing{}, many, many-1)),
		"unique":            Unique(must(Repeat(closing{}, many))),
		"ignored errors":    IgnoreErrors(must(Filter(closing{}, isTrue(func(int64) (bool, error) { return false, nil }), 1))),
	}
	for name, d := range all {
		t.Run(name, func(t *testing.T) {
			s := datasettest.Scope(0)
			defer s.Close()
			it, err := d.Iterate(s, dataset.PassKey(0), nil)
			require.NoError(t, err)
			for range 20 {
				var b block.Buffer
				if _, err = it.Next(8, &b); err != nil {
					break
				}
			}
			require.Equal(t, errs.Cancelled, errs.KindOf(err), "%v", err)
		})
	}
}
