package source

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
)

var int64s = spec.DType{Kind: 'i', Size: 8}

func numbersOf(t *testing.T, d dataset.Definition, limit int64) []int64 {
	t.Helper()
	out := []int64{}
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), limit) {
		out = append(out, e.Int64s()[0])
	}
	return out
}

func TestRange(t *testing.T) {
	for _, c := range []struct {
		start, stop, step int64
		want              []int64
	}{
		{0, 4, 1, []int64{0, 1, 2, 3}}, {1, 8, 3, []int64{1, 4, 7}}, {1, 7, 3, []int64{1, 4}}, {5, 0, -2, []int64{5, 3, 1}},
		{5, 0, 1, nil}, {0, 5, -1, nil}, {3, 3, 1, nil},
		{math.MaxInt64 - 2, math.MaxInt64, 1, []int64{math.MaxInt64 - 2, math.MaxInt64 - 1}},
		{math.MinInt64, math.MaxInt64, math.MaxInt64, []int64{math.MinInt64, -1, math.MaxInt64 - 1}},
		{math.MaxInt64, math.MinInt64, math.MinInt64, []int64{math.MaxInt64, -1}},
	} {
		d, err := Range(c.start, c.stop, c.step, int64s)
		require.NoError(t, err)
		require.EqualValues(t, len(c.want), d.Cardinality(), "%v", c)
		require.Equal(t, append([]int64{}, c.want...), numbersOf(t, d, 10), "%v", c)
		datasettest.Check(t, d, 10)
	}
	for _, stop := range []int64{0, 1, math.MaxInt64 - 1} { // more than can be counted
		d, err := Range(math.MinInt64, stop, 1, int64s)
		require.NoError(t, err)
		require.Equal(t, dataset.Infinite, d.Cardinality())
	}
	_, err := Range(0, 5, 0, int64s)
	require.ErrorContains(t, err, "step is 0")
	narrow := func(kind byte, size int64) spec.DType { return spec.DType{Kind: kind, Size: size} }
	for want, c := range map[string]struct {
		start, stop, step int64
		dtype             spec.DType
	}{
		"":                            {0, 256, 1, narrow('u', 1)},
		"256 is not one of the numbe": {0, 257, 1, narrow('u', 1)},
		"-1 is not one of the number": {3, -2, -1, narrow('u', 8)},
		"-129 is not one":             {-129, 5, 1, narrow('i', 1)},
		"128 is not one":              {-128, 129, 128, narrow('i', 1)},
		"32768 is not one":            {32768, 32769, 1, narrow('i', 2)},
	} {
		_, err := Range(c.start, c.stop, c.step, c.dtype)
		if want == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err), want)
		require.ErrorContains(t, err, want)
	}
	for _, dtype := range []spec.DType{narrow('i', 1), narrow('u', 1)} {
		_, err := Range(5, 5, 1, dtype)
		require.NoError(t, err)
		_, err = Range(1000, 5, 1, dtype) // has no elements
		require.NoError(t, err)
	}
}

func TestNumbersOfEveryType(t *testing.T) {
	bits := func(size int, values ...uint64) (out [][]byte) {
		for _, v := range values {
			out = append(out, binary.LittleEndian.AppendUint64(nil, v)[:size])
		}
		return out
	}
	for dtype, want := range map[spec.DType][][]byte{
		{Kind: 'u', Size: 1}: bits(1, 254, 255, 0), // as tf.data: they wrap around
		{Kind: 'i', Size: 2}: bits(2, 254, 255, 256),
		{Kind: 'u', Size: 4}: bits(4, 254, 255, 256),
		{Kind: 'i', Size: 8}: bits(8, 254, 255, 256),
		{Kind: 'f', Size: 2}: bits(2, 0x5bf0, 0x5bf8, 0x5c00),
		{Kind: 'f', Size: 4}: bits(4, 0x437e0000, 0x437f0000, 0x43800000),
		{Kind: 'f', Size: 8}: bits(8, math.Float64bits(254), math.Float64bits(255), math.Float64bits(256)),
		{Kind: 'c', Size: 8}: bits(8, 0x437e0000, 0x437f0000, 0x43800000),
	} {
		for _, f := range []func() (dataset.Definition, error){
			func() (dataset.Definition, error) { return Range(254, 257, 1, dtype) },
			func() (dataset.Definition, error) { return Counter(254, 1, dtype) },
		} {
			d, err := f()
			if dtype == (spec.DType{Kind: 'u', Size: 1}) && err != nil {
				continue // a range that does not fit
			}
			require.NoError(t, err)
			got := [][]byte{}
			for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), 3) {
				got = append(got, e.Data[0])
			}
			require.Equal(t, want, got, "%v", dtype)
			datasettest.Check(t, d, 10)
		}
	}
	for _, dtype := range []spec.DType{{Kind: 'b', Size: 1}, spec.Text, {Kind: 'V', Size: 2}, {Kind: 'f', Size: 16}} {
		_, err := Counter(0, 1, dtype)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		require.ErrorContains(t, err, dtype.String())
	}
}

func TestNumbersLeaveNoMemoryUnwritten(t *testing.T) {
	d, err := Counter(1, 1, spec.DType{Kind: 'c', Size: 16})
	require.NoError(t, err)
	var b block.Buffer
	dirty, err := b.Block(d.Spec(), 2)
	require.NoError(t, err)
	for i := range dirty.Columns[0].Data {
		dirty.Columns[0].Data[i] = 0xff
	}
	b.Reset()
	require.NoError(t, d.(dataset.RandomAccess).Fetch([]int64{0, 1}, &b))
	require.Equal(t, make([]byte, 8), b.Blocks()[0].Columns[0].Data[8:16])
}

func TestCounterOfReals(t *testing.T) {
	d, err := RealCounter(0.5, -0.25, spec.DType{Kind: 'f', Size: 8})
	require.NoError(t, err)
	for i, x := range numbersOf(t, d, 5) {
		require.Equal(t, 0.5-0.25*float64(i), math.Float64frombits(uint64(x)))
	}
	datasettest.Check(t, d, 10)
	_, err = RealCounter(0.5, 1, int64s)
	require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
}

// TestHalves compares with the numbers of float16 themselves, and what lies between.
func TestHalves(t *testing.T) {
	value := func(h int) float64 { // of a positive float16
		if h>>10 == 0 {
			return float64(h) / (1 << 24)
		}
		return math.Ldexp(float64(h&1023+1024), h>>10-25)
	}
	for h := range 0x7c00 {
		v, next := value(h), value(h+1)
		require.Equal(t, uint16(h), half(v), "%v", v)
		require.Equal(t, uint16(h|0x8000), half(math.Copysign(v, -1)))
		middle := (v + next) / 2
		require.Equal(t, uint16(h+h&1), half(middle), "%v, halfway", middle)
		require.Equal(t, uint16(h), half(math.Nextafter(middle, 0)))
		require.Equal(t, uint16(h+1), half(math.Nextafter(middle, 1e9)))
	}
	require.Equal(t, uint16(0x7c00), half(math.Inf(1)))
	require.Equal(t, uint16(0x7e00), half(math.NaN()))
}

func TestRandom(t *testing.T) {
	for _, each := range []bool{false, true} {
		d := Random(7, each)
		datasettest.Check(t, d, 20)
		first := numbersOf(t, d, 1000)
		seen := map[int64]bool{}
		for _, x := range first {
			require.True(t, x >= 0 && x < 1<<32)
			seen[x] = true
		}
		require.Greater(t, len(seen), 990)
		second := datasettest.ReadAll(t, d, dataset.PassKey(1), 1)
		require.Equal(t, each, first[0] != second[0].Int64s()[0])
		require.NotEqual(t, first[:5], numbersOf(t, Random(8, each), 5))
	}
}
