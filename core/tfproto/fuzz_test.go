package tfproto

import (
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
)

// FuzzExample parses any bytes as an example and as a sequence example. What comes
// out is in proportion to what went in, and the columns are whole.
func FuzzExample(f *testing.F) {
	f.Add(example(kv("x", floats(1, 2)), kv("y", ints(5, -1)), kv("z", texts("a", ""))))
	f.Add(sequence(kv("y", ints(1)), kv("x", steps(floats(1, 2), nil)), kv("z", steps(texts("a")))))
	f.Add(example(kv("x", field(2, join(field(1, packedFloats(1)...), []byte{tagFloat}, packedFloats(2))...)), []byte{15<<3 | wireGroup, 15<<3 | wireGroupTo}))
	features := []Feature{{Key: "x", Type: Float, Shape: Sequence, Size: 2}, {Key: "y", Type: Int64, Shape: Var}, {Key: "z", Type: Bytes, Shape: Var}}
	fixed := []Feature{{Key: "x", Type: Float, Size: 2}, {Key: "y", Type: Int64, Size: 1, Default: column(Int64, 1)}, {Key: "z", Type: Bytes, Size: 1, Default: column(Bytes, "")}}
	good := example(kv("x", floats(3, 4)))
	goodSequence := sequence(kv("x", floats(3, 4)), kv("x", steps(floats(3, 4))))
	f.Fuzz(func(t *testing.T, data []byte) {
		columns := make([]Column, 3)
		for _, fs := range [][]Feature{features, fixed} {
			n, err := want(t, fs...).Parse(serialized(good, data, good), columns)
			require.Equal(t, err == nil, n == 3)
			checkColumns(t, fs, columns, n, len(data))
		}
		p, err := NewSequenceParser(fixed, features)
		require.NoError(t, err)
		lists := make([]Column, 3)
		n, err := p.Parse(serialized(goodSequence, data, goodSequence), columns, lists)
		require.Equal(t, err == nil, n == 3)
		checkColumns(t, fixed, columns, n, len(data))
		for i := range features {
			last := lists[i].Splits[n]
			require.LessOrEqual(t, last, int64(len(data)+2))
			if features[i].Shape == Var {
				require.Len(t, lists[i].Steps, int(last)+1)
				require.Equal(t, lists[i].Count(features[i].Type), lists[i].Steps[last])
			}
		}
	})
}

func checkColumns(t *testing.T, features []Feature, columns []Column, rows, size int) {
	t.Helper()
	require.NotZero(t, rows, "the first is good")
	for i, f := range features {
		c := &columns[i]
		n := c.Count(f.Type)
		switch f.Shape {
		case Fixed:
			require.Equal(t, int64(rows)*f.Size, n)
		case Var:
			require.Equal(t, n, c.Splits[rows])
		case Sequence:
			require.Equal(t, n, c.Splits[rows]*f.Size)
		}
		if f.Shape != Fixed {
			require.Len(t, c.Splits, rows+1)
		}
		require.LessOrEqual(t, n, int64(size)+6)
		if f.Type != Bytes {
			require.Equal(t, int(n)*f.Type.width(), len(c.Values))
		}
	}
}

func FuzzTensor(f *testing.F) {
	for _, s := range []string{
		"\x08\x09\x12\x00\x22\x08\x05\x00\x00\x00\x00\x00\x00\x00", "\x08\x07\x12\x04\x12\x02\x08\x02\x22\x05\x02\x01abc",
		"\x08\x01\x12\x04\x12\x02\x08\x03\x2a\x04\x00\x00\x80?", "\x08\x03\x12\x04\x12\x02\x08\x02\x3a\x02\x05\x06", "\x08\x07\x12\x04\x12\x02\x08\x03\x42\x01a",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := ReadTensor(data)
		if err != nil {
			require.Contains(t, []errs.Kind{errs.InvalidArgument, errs.ResourceExhausted}, errs.KindOf(err))
			return
		}
		n, ok := got.elements()
		require.True(t, ok)
		if got.Type == String {
			require.Len(t, got.Offsets, int(n)+1)
			require.Equal(t, int64(len(got.Data)), got.Offsets[n])
		} else {
			d, _ := got.Type.DType()
			require.Equal(t, n*d.Size, int64(len(got.Data)))
		}
		again, err := ReadTensor(AppendTensor(nil, got))
		require.NoError(t, err)
		require.Equal(t, string(got.Data), string(again.Data))
		require.Equal(t, got.Offsets, again.Offsets)
		require.Equal(t, append([]int64{}, got.Shape...), append([]int64{}, again.Shape...))
	})
}
