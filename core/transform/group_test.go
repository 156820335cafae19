package transform_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/transform"
)

// function is a program of the first component.
type function func(x int64) (int64, error)

func (function) Spec() *spec.Element { return scalars }
func (function) Calls() int          { return 0 }

func (f function) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(scalars, in.Rows)
	if err != nil {
		return 0, err
	}
	for i := range in.Rows {
		x := int64(0)
		if row := in.Slice(i, i+1).Columns[0].Data; len(row) >= 8 {
			x = int64(binary.LittleEndian.Uint64(row))
		}
		y, err := f(x)
		if err != nil {
			return i, err
		}
		binary.LittleEndian.PutUint64(out.Columns[0].Data[8*i:], uint64(y))
	}
	return in.Rows, nil
}

func plain(f func(x int64) int64) function {
	return func(x int64) (int64, error) { return f(x), nil }
}

var remainder = plain(func(x int64) int64 { return x % 3 })

// whole is a reduction to one batch.
func whole(in dataset.Definition) builder {
	return builder{in.Spec().Batched(-1), func(_ *dataset.Scope, _ int64, inputs []dataset.Definition) (dataset.Definition, error) {
		return transform.Batch(inputs[0], 100, false)
	}}
}

func grouped(in dataset.Definition, o transform.GroupOptions) dataset.Definition {
	return mustBe(transform.GroupByWindow(in, o))
}

// groups reads groups; an error is nil.
func groups(t *testing.T, d dataset.Definition) [][]int64 {
	t.Helper()
	var out [][]int64
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), 100) {
		if e.Err != "" {
			out = append(out, nil)
		} else {
			out = append(out, e.Int64s())
		}
	}
	return out
}

// The expected groups are what tf.data gives.
func TestGroupByWindow(t *testing.T) {
	r := datasettest.Range(10)
	for name, c := range map[string]struct {
		o    transform.GroupOptions
		want [][]int64
	}{
		"windows of 2":         {transform.GroupOptions{Key: remainder, Size: 2}, [][]int64{{0, 3}, {1, 4}, {2, 5}, {6, 9}, {7}, {8}}},
		"windows of 3":         {transform.GroupOptions{Key: remainder, Size: 3}, [][]int64{{0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {9}}},
		"windows of no size":   {transform.GroupOptions{Key: remainder, Size: 0}, make([][]int64, 10)},
		"a size for each key":  {transform.GroupOptions{Key: plain(func(x int64) int64 { return -(x % 3) }), SizeOf: plain(func(k int64) int64 { return k + 4 })}, [][]int64{{2, 5}, {1, 4, 7}, {0, 3, 6, 9}, {8}}},
		"no size for one key":  {transform.GroupOptions{Key: remainder, SizeOf: plain(func(k int64) int64 { return k })}, [][]int64{nil, {1}, nil, {4}, {2, 5}, nil, {7}, nil, {8}}},
		"one key":              {transform.GroupOptions{Key: plain(func(int64) int64 { return 7 }), Size: 4}, [][]int64{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}}},
		"a key that fails":     {transform.GroupOptions{Key: failing(1, 0), Size: 4}, [][]int64{nil, {0, 2, 3, 4}, {5, 6, 7, 8}, {9}}},
		"keys of the far ends": {transform.GroupOptions{Key: plain(func(x int64) int64 { return (x%2)<<63 + 1 }), Size: 9}, [][]int64{{1, 3, 5, 7, 9}, {0, 2, 4, 6, 8}}},
	} {
		c.o.Reduce = whole(r)
		d := grouped(r, c.o)
		require.Equal(t, c.want, groups(t, d), name)
		require.EqualValues(t, dataset.Unknown, d.Cardinality())
	}
}

// failing is a key that fails at one element.
func failing(at, key int64) function {
	return func(x int64) (int64, error) {
		if x == at {
			return 0, errs.New(errs.InvalidArgument, "function", "it fails for %d", x)
		}
		return key, nil
	}
}

func TestAGroupWhoseFunctionFailsIsDropped(t *testing.T) {
	r := datasettest.Range(8)
	f := builder{scalars, func(_ *dataset.Scope, key int64, inputs []dataset.Definition) (dataset.Definition, error) {
		if key == 1 {
			return nil, errs.New(errs.InvalidArgument, "function", "it fails for %d", key)
		}
		return inputs[0], nil
	}}
	require.Equal(t, []int64{0, 3, -1, 2, 5, 6, -1}, ints(t, grouped(r, transform.GroupOptions{Key: remainder, Size: 2, Reduce: f})))
}

// numbered is a key that is the number of the element, and fails at one element.
type numbered struct{ function }

func (n numbered) Run(s *dataset.Scope, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	done, err := n.function.Run(s, in, at, dst)
	if b := dst.(*block.Buffer).Blocks(); len(b) > 0 {
		for i := range done {
			binary.LittleEndian.PutUint64(b[0].Columns[0].Data[8*i:], uint64(at.Number(i)))
		}
	}
	return done, err
}

func TestKeysKnowTheNumbersOfTheirElements(t *testing.T) {
	in := from{n: 7, fails: 4}
	d := grouped(in, transform.GroupOptions{Key: numbered{failing(1, 0)}, Size: 1, Reduce: builder{scalars,
		func(_ *dataset.Scope, key int64, _ []dataset.Definition) (dataset.Definition, error) {
			return from{first: key, n: 1}, nil
		}}})
	require.Equal(t, []int64{0, -1, 2, -1, 4, 5, 6}, ints(t, d))
	datasettest.Check(t, d, most)
}

func TestGroupContracts(t *testing.T) {
	texts := from{n: 17, texts: true}
	shapes := from{n: 17, shapes: true}
	same := builder{texts.Spec(), func(_ *dataset.Scope, _ int64, in []dataset.Definition) (dataset.Definition, error) {
		return in[0], nil
	}}
	flatten := builder{scalars, func(_ *dataset.Scope, key int64, in []dataset.Definition) (dataset.Definition, error) {
		if key == 2 {
			return nil, errs.New(errs.InvalidArgument, "function", "it fails for %d", key)
		}
		return transform.FlatMap(in[0], of(func(x int64) dataset.Definition { return from{first: 10 * x, n: x % 4, fails: 3} }), 1)
	}}
	sameShapes := same
	sameShapes.spec = shapes.Spec()
	length := plain(func(x int64) int64 { return x % 2 })
	for name, d := range map[string]dataset.Definition{
		"of texts":       grouped(texts, transform.GroupOptions{Key: remainder, Size: 3, Reduce: same}),
		"of shapes":      grouped(shapes, transform.GroupOptions{Key: length, Size: 3, Reduce: sameShapes}),
		"into batches":   grouped(datasettest.Range(20), transform.GroupOptions{Key: remainder, Size: 4, Reduce: whole(datasettest.Range(1))}),
		"into more":      grouped(from{n: 20, fails: 6}, transform.GroupOptions{Key: remainder, Size: 3, Reduce: flatten}),
		"ends that void": grouped(datasettest.Range(9), transform.GroupOptions{Key: remainder, Size: 2, Reduce: of(func(key int64) dataset.Definition { return from{first: key, n: 2, fails: 3} })}),
		"of size 1":      grouped(datasettest.Range(9), transform.GroupOptions{Key: remainder, Size: 1, Reduce: whole(datasettest.Range(1))}),
		"keys that fail": grouped(datasettest.Range(9), transform.GroupOptions{Key: failing(4, 1), Size: 2, Reduce: whole(datasettest.Range(1))}),
		"of nothing":     grouped(datasettest.Range(0), transform.GroupOptions{Key: remainder, Size: 1, Reduce: whole(datasettest.Range(1))}),
		"without end":    grouped(datasettest.Range(-1), transform.GroupOptions{Key: remainder, Size: 5, Reduce: whole(datasettest.Range(1))}),
		"many keys":      grouped(datasettest.Range(30), transform.GroupOptions{Key: plain(func(x int64) int64 { return (x * 7) % 13 }), SizeOf: plain(func(k int64) int64 { return k%3 + 1 }), Reduce: whole(datasettest.Range(1))}),
		"groups of groups": flat(datasettest.Range(4), builder{scalars.Batched(-1), func(_ *dataset.Scope, x int64, _ []dataset.Definition) (dataset.Definition, error) {
			return grouped(datasettest.Range(3*x), transform.GroupOptions{Key: remainder, Size: 2, Reduce: whole(datasettest.Range(1))}), nil
		}}),
	} {
		t.Run(name, func(t *testing.T) { datasettest.Check(t, d, most) })
	}
}

// A rare key waits for long: only what waits is told, and its elements are read again.
func TestARareKeyIsFoundAgain(t *testing.T) {
	d := grouped(datasettest.Range(5000), transform.GroupOptions{Size: 3, Reduce: whole(datasettest.Range(1)),
		Key: plain(func(x int64) int64 {
			if x == 1 || x == 4000 {
				return 1
			}
			return 0
		})})
	s := datasettest.Scope(0)
	defer s.Close()
	it, err := d.Iterate(s, dataset.PassKey(0), nil)
	require.NoError(t, err)
	all, tokens := datasettest.Take(t, it, 1, 2000)
	for _, k := range []int{1, 1000, 1500, len(all) - 1} {
		require.Less(t, len(text(t, tokens[k])), 100)
		s := datasettest.Scope(0)
		it, err := d.Iterate(s, dataset.PassKey(0), datasettest.Reload(t, tokens[k]))
		require.NoError(t, err)
		got, _ := datasettest.Take(t, it, 7, 2000)
		require.Equal(t, all[k:], got, "before group %d", k)
		s.Close()
	}
}

func TestNonsenseOfGroupsIsRefused(t *testing.T) {
	r := datasettest.Range(4)
	floats := notInteger{function: remainder}
	for text, o := range map[string]transform.GroupOptions{
		"key_func must return an integer scalar; it returns float32[2]": {Key: floats, Size: 1},
		"window_size_func must return an integer scalar":                {Key: remainder, SizeOf: floats},
	} {
		o.Reduce = whole(r)
		_, err := transform.GroupByWindow(r, o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		require.ErrorContains(t, err, text)
	}
	d := grouped(r, transform.GroupOptions{Key: remainder, Size: 2, Reduce: whole(r)})
	for name, bad := range map[string]*dataset.Token{
		"first after number": {At: []int64{3, 2, 0, 0}, In: []*dataset.Token{nil}},
		"data cut":           {At: []int64{0, 2, 0, 0}, In: []*dataset.Token{nil}, Data: []byte{2}},
		"no count":           {At: []int64{0, 2, 0, 0}, In: []*dataset.Token{nil}, Data: []byte{2, 0}},
		"too many":           {At: []int64{0, 2, 0, 0}, In: []*dataset.Token{nil}, Data: []byte{2, 6}},
		"twice":              {At: []int64{0, 2, 0, 0}, In: []*dataset.Token{nil}, Data: []byte{2, 2, 2, 2}},
		"nothing flushed":    {At: []int64{0, 2, 0, 1}, In: []*dataset.Token{nil, nil}},
		"past the end":       {At: []int64{0, 9, 0, 0}, In: []*dataset.Token{nil}, Data: []byte{2, 2}},
		"not there":          {At: []int64{0, 2, 0, 0}, In: []*dataset.Token{nil}, Data: []byte{8, 2}},
	} {
		s := datasettest.Scope(0)
		_, err := d.Iterate(s, dataset.PassKey(0), bad)
		require.Equal(t, errs.StateMismatch, errs.KindOf(err), name)
		s.Close()
	}
}

type notInteger struct{ function }

func (notInteger) Spec() *spec.Element {
	return &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'f', Size: 4}, Shape: []int64{2}}}}
}

func TestStored(t *testing.T) {
	for name, d := range map[string]dataset.Definition{"texts": from{n: 9, texts: true}, "shapes": from{n: 9, shapes: true}, "nothing": from{}} {
		t.Run(name, func(t *testing.T) {
			s := datasettest.Scope(0)
			defer s.Close()
			it, err := d.Iterate(s, dataset.PassKey(0), nil)
			require.NoError(t, err)
			var b block.Buffer
			for {
				if _, err := it.Next(4, &b); err != nil {
					break
				}
			}
			in := transform.Stored(d.Spec(), b.Blocks())
			require.Equal(t, datasettest.ReadAll(t, d, dataset.PassKey(0), most), datasettest.ReadAll(t, in, dataset.PassKey(0), most))
			datasettest.Check(t, in, most)
		})
	}
	require.Equal(t, "int64[]", fmt.Sprint(transform.Stored(scalars, nil).Spec()))
}
