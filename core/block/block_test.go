package block

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/core/spec"
)

func element(shapes ...[]int64) *spec.Element {
	e := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(shapes))}}
	for _, s := range shapes {
		e.Components = append(e.Components, spec.Component{DType: spec.DType{Kind: 'i', Size: 2}, Shape: s})
	}
	return e
}

func TestLayoutAlignsColumns(t *testing.T) {
	l, err := NewLayout(element([]int64{3}, nil, []int64{0, 5}, []int64{33}), 5)
	require.NoError(t, err)
	require.Equal(t, []int64{0, 64, 128, 128}, l.Offsets)
	require.Equal(t, int64(128+330+54), l.Bytes)
	b := l.Over(make([]byte, l.Bytes), nil)
	require.Equal(t, int64(5), b.Rows)
	require.Len(t, b.Columns[0].Data, 30)
	require.Len(t, b.Columns[2].Data, 0)
	require.Len(t, b.Columns[3].Data, 330)
}

func TestLayoutRefusesWhatCannotBeAddressed(t *testing.T) {
	for name, e := range map[string]*spec.Element{
		"product": element([]int64{1 << 31, 1 << 31}), "sum": element([]int64{1 << 51}, []int64{1 << 51}, []int64{1 << 51}), "unknown": element([]int64{-1}),
	} {
		_, err := NewLayout(e, 4)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), name)
	}
	_, err := NewLayout(element([]int64{4}, []int64{0}), 4)
	require.NoError(t, err)
}

func TestSliceAndSplitShareMemory(t *testing.T) {
	l, err := NewLayout(element([]int64{4, 3}), 5)
	require.NoError(t, err)
	b := l.Over(make([]byte, l.Bytes), nil)
	rows := b.Slice(2, 4).Split(4, element([]int64{3}))
	require.Equal(t, int64(8), rows.Rows)
	require.Equal(t, int64(6), rows.Columns[0].RowBytes)
	rows.Columns[0].Data[0] = 9
	require.Equal(t, byte(9), b.Columns[0].Data[48])
}

func texts(values ...string) *Text {
	t := &Text{}
	for _, v := range values {
		t.Append([]byte(v))
	}
	return t
}

func read(t *Text) []string {
	out := []string{}
	for i := range t.Len() {
		out = append(out, string(t.At(i)))
	}
	return out
}

func TestTextIsAppended(t *testing.T) {
	apart := &Text{Data: make([]byte, 10_000), Starts: []int64{9_000, 3, 0, 3, 9_999}, Ends: []int64{9_001, 5, 0, 5, 10_000}}
	for i := range apart.Data {
		apart.Data[i] = 'a' + byte(i%26)
	}
	for name, o := range map[string]*Text{"in order": texts("a", "", "bcd", "e"), "empty": texts("", "", "", ""), "apart and out of order": apart} {
		for from := range o.Len() + 1 {
			for to := from; to <= o.Len(); to++ {
				got := texts("x")
				got.AppendRange(o, from, to)
				require.Equal(t, append([]string{"x"}, read(o)[from:to]...), read(got), "%s, %d to %d", name, from, to)
			}
		}
	}
}

func TestRowsOfTextAreAppended(t *testing.T) {
	o := texts("a", "", "bcd", "e")
	for each, want := range map[int][]string{1: {"x", "bcd", "a", "bcd", ""}, 2: {"x", "bcd", "e", "a", ""}} {
		got := texts("x")
		require.NoError(t, got.AppendRows(o, each, map[int][]int64{1: {2, 0, 2, 1}, 2: {1, 0}}[each]))
		require.Equal(t, want, read(got), "%d", each)
		require.Error(t, got.AppendRows(o, each, []int64{0, int64(4 / each)}), "no such row")
		require.Equal(t, want, read(got), "%d", each)
	}
	require.True(t, o.Run())
	o.Ends[1]++
	require.False(t, o.Run())
}

func TestBufferUsesItsMemoryAgain(t *testing.T) {
	e := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
		Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}, {DType: spec.Text, Shape: []int64{2}}}}
	var b Buffer
	fill := func() {
		b.Reset()
		for _, n := range []int64{3, 1} {
			x, err := b.Block(e, n)
			require.NoError(t, err)
			for range 2 * n {
				x.Columns[1].Text.Append([]byte("text"))
			}
		}
	}
	fill()
	require.Equal(t, int64(4), b.Rows())
	require.Equal(t, int64(4*8+8*4), b.Bytes())
	require.Equal(t, []string{"text", "text"}, read(b.Blocks()[0].Slice(1, 2).Columns[1].Text))
	require.Less(t, testing.AllocsPerRun(10, fill), 9.0)

	var other Buffer
	x, err := other.Block(e, 3)
	require.NoError(t, err)
	require.NoError(t, x.Gather(0, b.Blocks()[0], []int64{2, 0, 0}))
	require.Equal(t, []string{"text", "text", "text", "text", "text", "text"}, read(x.Columns[1].Text))
	_, err = other.Block(element([]int64{1 << 40}), 1)
	require.Equal(t, errs.ResourceExhausted, errs.KindOf(err))
}
