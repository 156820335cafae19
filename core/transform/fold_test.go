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

// state makes the only row of a block.
func state(e *spec.Element, values ...value) block.Block {
	var b block.Buffer
	if err := put(e, values, &b); err != nil {
		panic(err)
	}
	return b.Blocks()[0]
}

// sums has the sum of what came and all texts as the state. It gives the sum, and
// vectors as long as its last digit modulo 3. It fails at 9.
func sums(e *spec.Element) (block.Block, byRow) {
	s := &spec.Element{Structure: pair(), Components: []spec.Component{leaf('i', 8), leaf('O', 0, -1)}}
	p := byRow{spec: tupleOf(s, element(leaf('i', 8), leaf('i', 8, -1)))}
	words := -1
	for i, c := range e.Components {
		if c.IsText() {
			words = i
		}
	}
	p.f = func(row block.Block, _ int64, _ rng.Key) ([]value, error) {
		x := at(row, 2, 0)
		if x == 9 {
			return nil, errs.New(errs.InvalidArgument, "scan", "9 is too much")
		}
		sum := at(row, 0, 0) + x
		var all []string
		for k := range row.Columns[1].Text.Len() {
			all = append(all, string(row.Columns[1].Text.At(k)))
		}
		if words >= 0 && len(all) < 5 {
			for k := range row.Columns[2+words].Text.Len() {
				all = append(all, string(row.Columns[2+words].Text.At(k)))
			}
		}
		return []value{number(sum), texts(all...), number(sum), vector(upTo(0, sum%3, 1)...)}, nil
	}
	return state(s, number(0), texts()), p
}

func TestScanKeepsToTheContracts(t *testing.T) {
	checkOn(t, func(in dataset.Definition) dataset.Definition {
		s, p := sums(in.Spec())
		return must(Scan(in, s, p, 1))
	})
}

func counting() byRow {
	return byRow{tupleOf(element(leaf('i', 8)), element(leaf('i', 8))), func(row block.Block, _ int64, _ rng.Key) ([]value, error) {
		s := at(row, 0, 0)
		return []value{number(s + at(row, 1, 0)), number(10*s + at(row, 1, 0))}, nil
	}}
}

func TestScan(t *testing.T) {
	s := state(element(leaf('i', 8)), number(0))
	d := must(Scan(datasettest.Range(5), s, counting(), 1))
	require.Equal(t, []int64{0, 1, 12, 33, 64}, firsts(t, d))
	require.EqualValues(t, 5, d.Cardinality())
	require.Equal(t, "int64[]", d.Spec().String())
	first := mixed(5)
	lamed := first.f
	first.f = func(i int64) ([]value, error) {
		if i == 2 {
			return nil, errs.New(errs.DataLoss, "made", "2 is lame")
		}
		v, err := lamed(i)
		return v[:1], err
	}
	first.spec = element(leaf('i', 8))
	require.Equal(t, []int64{0, 1, -1, 13, 44}, firsts(t, must(Scan(first, s, counting(), 1))), "an element that fails changes no state")

	for want, c := range map[string]struct {
		state block.Block
		spec  *spec.Element
	}{
		"must return a pair":            {s, element(leaf('i', 8))},
		"must return a pair of the new": {s, element(leaf('i', 8), leaf('i', 8), leaf('i', 8))},
		"it is int32[]":                 {s, element(leaf('i', 4), leaf('i', 8))},
		"it is int64[-1]":               {s, element(leaf('i', 8, -1), leaf('i', 8))},
	} {
		_, err := Scan(datasettest.Range(5), c.state, byRow{spec: c.spec}, 1)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
}

func TestStatesOfScanAreChecked(t *testing.T) {
	s, p := sums(datasettest.Range(5).Spec())
	d := must(Scan(datasettest.Range(5), s, p, 1))
	scope := datasettest.Scope(0)
	defer scope.Close()
	it, err := d.Iterate(scope, dataset.PassKey(0), nil)
	require.NoError(t, err)
	good := it.Token()
	for n := range good.Data {
		_, err := d.Iterate(scope, dataset.PassKey(0), &dataset.Token{At: good.At, In: good.In, Data: good.Data[:n]})
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), "cut after %d bytes", n)
		damaged := append([]byte(nil), good.Data...)
		damaged[n] ^= 0xff
		_, _ = d.Iterate(scope, dataset.PassKey(0), &dataset.Token{At: good.At, In: good.In, Data: damaged})
	}
}

func TestReduce(t *testing.T) {
	sum := byRow{element(leaf('i', 8)), func(row block.Block, _ int64, _ rng.Key) ([]value, error) {
		return []value{number(at(row, 0, 0) + at(row, 1, 0))}, nil
	}}
	s := state(element(leaf('i', 8)), number(100))
	for name, c := range map[string]struct {
		in   dataset.Definition
		want int64
	}{"indexed": {datasettest.Range(5), 110}, "stream": {stream(datasettest.Range(5)), 110}, "nothing": {datasettest.Range(0), 100}, "lame": {lame(5), -1}} {
		d := must(Reduce(c.in, s, sum, 1))
		datasettest.Check(t, d, 5)
		require.Equal(t, []int64{c.want}, firsts(t, d), name)
		require.EqualValues(t, 1, d.Cardinality())
	}
	_, err := Reduce(datasettest.Range(-1), s, sum, 1)
	require.ErrorContains(t, err, "an infinite dataset")
	_, err = Reduce(datasettest.Range(5), s, counting(), 1)
	require.ErrorContains(t, err, "must be like initial_state")
}

// large is elements of a quarter of a mebibyte; it notes how many were asked for at once.
type large struct {
	datasettest.Range
	most *int
}

func (large) Spec() *spec.Element { return element(leaf('u', 1, 1<<18)) }

func (l large) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(l, s, pass, from)
}

func (l large) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return l, nil }

func (l large) Fetch(index []int64, dst dataset.Sink) error {
	*l.most = max(*l.most, len(index))
	_, err := dst.Block(l.Spec(), int64(len(index)))
	return err
}

// Elements are taken a few at a time where they are large, so that memory is bounded.
func TestReduceOfLargeElements(t *testing.T) {
	d := large{500, new(int)}
	count := byRow{element(leaf('i', 8)), func(row block.Block, _ int64, _ rng.Key) ([]value, error) {
		return []value{number(at(row, 0, 0) + 1)}, nil
	}}
	require.Equal(t, []int64{500}, firsts(t, must(Reduce(d, state(element(leaf('i', 8)), number(0)), count, 1))))
	require.LessOrEqual(t, *d.most, 8)
}
