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
	b := l.Over(make([]byte, l.Bytes))
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
	b := l.Over(make([]byte, l.Bytes))
	rows := b.Slice(2, 4).Split(4)
	require.Equal(t, int64(8), rows.Rows)
	require.Equal(t, int64(6), rows.Columns[0].RowBytes)
	rows.Columns[0].Data[0] = 9
	require.Equal(t, byte(9), b.Columns[0].Data[48])
}
