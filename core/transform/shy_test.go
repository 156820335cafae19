package transform

import (
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/rng"
	"infeed/core/spec"
)

// shy is a dataset without elements, whose iterator asks for memory before it says
// so; lameFirst is an error that comes before.
type shy struct{ lameFirst error }

func (shy) Spec() *spec.Element { return element(leaf('i', 8)) }
func (shy) Cardinality() int64  { return dataset.Unknown }

func (s shy) Iterate(_ *dataset.Scope, _ rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	at, err := from.Numbers("shy", 1)
	return &shyIterator{shy: s, at: at[0]}, err
}

type shyIterator struct {
	shy
	at int64
}

func (it *shyIterator) Token() *dataset.Token { return dataset.At(it.at) }

func (it *shyIterator) Next(limit int64, dst dataset.Sink) (int64, error) {
	if _, err := dst.Block(it.Spec(), limit); err != nil {
		return 0, err
	}
	if it.at++; it.at == 1 && it.lameFirst != nil {
		return 0, it.lameFirst
	}
	return 0, io.EOF
}

// What an input made void is not part of what comes after.
func TestMemoryThatWasMadeVoidIsNotGiven(t *testing.T) {
	r, lame := datasettest.Range(3), shy{errors.New("lame")}
	for name, d := range map[string]dataset.Definition{
		"concatenate":   must(Concatenate(shy{}, r)),
		"ignore_errors": IgnoreErrors(must(Concatenate(stream(r), lame))),
		"enumerate":     Enumerate(must(Concatenate(shy{}, r)), 0),
		"prefetch":      must(Prefetch(must(Concatenate(shy{}, r)), 3, 100)),
		"cache":         Cache(must(Concatenate(shy{}, r))),
		"unique":        Unique(must(Concatenate(shy{}, r))),
		"sample":        sampled(SampleOptions{}, shy{}, r),
		"batch":         must(Unbatch(batched(must(Concatenate(shy{}, r)), 2))),
		"padded_batch":  must(Unbatch(must(PaddedBatch(must(Concatenate(shy{}, r)), 2, Padding{}, false)))),
	} {
		s := datasettest.Scope(0)
		it, err := d.Iterate(s, dataset.PassKey(0), nil)
		require.NoError(t, err)
		got, _ := datasettest.Take(t, it, 2, limit)
		require.Len(t, got, 3, name)
		for i, e := range got {
			require.Empty(t, e.Err, name)
			require.EqualValues(t, i, e.Int64s()[0], name)
		}
		s.Close()
	}
	var b block.Buffer
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := IgnoreErrors(lame).Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	n, err := it.Next(2, &b)
	require.NoError(t, err)
	require.Zero(t, n, "it has to be asked again with other memory")
}
