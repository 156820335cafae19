package csvtext

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// someNumber appends a number of one of the sorts that are hard to round.
func someNumber(r *rand.Rand, b []byte) []byte {
	switch r.IntN(6) {
	case 0: // any float64, in all its digits
		return strconv.AppendFloat(b, math.Float64frombits(r.Uint64()&^(1<<62)), 'g', -1, 64)
	case 1: // any float32
		return strconv.AppendFloat(b, float64(math.Float32frombits(r.Uint32()&^(1<<30))), "eg"[r.IntN(2)], -1, 32)
	case 2: // between two float32s, or close to that
		f := math.Float32frombits(r.Uint32() &^ (1 << 30))
		middle := (float64(f) + float64(math.Nextafter32(f, 0))) / 2
		return strconv.AppendFloat(b, middle, 'g', r.IntN(30), 64)
	case 3: // between two float64s, or close to that
		f := math.Ldexp(float64(r.Uint64()>>11), r.IntN(120)-60)
		sum := new(big.Float).Add(new(big.Float).SetPrec(60).SetFloat64(f), big.NewFloat(math.Nextafter(f, 0)))
		return sum.Quo(sum, big.NewFloat(2)).Append(b, 'g', 15+r.IntN(30))
	case 4: // digits with a point anywhere
		for range 1 + r.IntN(22) {
			b = append(b, byte('0'+r.IntN(10)))
		}
		b[r.IntN(len(b))] = '.'
		return append(b, '5')
	}
	b = strconv.AppendUint(b, r.Uint64()>>r.IntN(64), 10)
	b = append(b, 'e')
	return strconv.AppendInt(b, int64(r.IntN(700)-350), 10)
}

func TestScaleKnowsMost(t *testing.T) {
	prepare()
	require.Equal(t, [2]uint64{0xcccccccccccccccc, 0xcccccccccccccccd}, powers[widest-1], "a fifth, rounded up")
	r := rand.New(rand.NewPCG(3, 3))
	known := 0
	const times = 200_000
	for range times {
		w, q := r.Uint64()>>r.IntN(64), r.IntN(2*widest+1)-widest
		got, ok := decimal{digits: w, exp: q}.float64()
		if !ok {
			continue
		}
		known++
		want, err := strconv.ParseFloat(strconv.FormatUint(w, 10)+"e"+strconv.Itoa(q), 64)
		require.NoError(t, err)
		require.Equal(t, want, got, "%de%d", w, q)
	}
	require.Greater(t, known, times*999/1000)
	for _, q := range []int{-widest - 1, widest + 1} {
		_, ok := decimal{digits: 1 << 60, exp: q}.float64()
		require.False(t, ok)
	}
}

func TestNarrowLeavesOutWhatItCannotTell(t *testing.T) {
	for d, want := range map[float64]bool{0: true, 1: true, math.Inf(1): true, 16777217: false, 1 + 0x1p-24: false, 1 + 0x1p-25: true, 0x1p-126: true, 0x1p-127: false, 0x1.ffffffp127: false, 0x1.fffffep127: true, 1e300: true} {
		f, ok := narrow(d)
		require.Equal(t, want, ok, d)
		if ok {
			require.Equal(t, float32(d), f)
		}
	}
}
