package snapshot

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"

	"infeed/core/kernel"
)

// values are n values of a width, the bytes of which are apart.
func values(n, width int, value func(b []byte)) []byte {
	b, apart := make([]byte, n*width), make([]byte, n*width)
	for i := range n {
		value(b[i*width:])
	}
	kernel.Split(apart, b, width)
	return apart
}

func TestPlanesAreBlocksOfS2(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	symbols := [3]float64{0.1, 1.7, -3}
	for name, c := range map[string]struct {
		width int
		value func(b []byte)
		slow  []bool
	}{
		"pictures": {4, func(b []byte) { le.PutUint32(b, math.Float32bits(float32(r.IntN(256))/256)) }, []bool{false, false, false, true}},
		"noise":    {4, func(b []byte) { le.PutUint32(b, r.Uint32()) }, make([]bool, 4)},
		"zeros":    {8, func([]byte) {}, make([]bool, 8)},
		"few":      {8, func(b []byte) { le.PutUint64(b, math.Float64bits(symbols[r.IntN(3)])) }, make([]bool, 8)}, // all would be
		"counts":   {8, func(b []byte) { le.PutUint64(b, uint64(r.IntN(6))) }, []bool{true, false, false, false, false, false, false, false}},
		"halves":   {2, func(b []byte) { le.PutUint16(b, uint16(r.IntN(5))<<8) }, []bool{false, true}},
	} {
		for _, n := range []int{40_000, leastPlane, leastPlane - 1, 100, 1, 0} {
			apart := append(values(n, c.width, c.value), 1)[:n*c.width+min(n%2, 1)] // with a byte behind the values
			if n >= leastPlane {
				require.Equal(t, c.slow, slowPlanes(apart, n, c.width), "%s, %d", name, n)
			}
			packed := packPlanes(nil, apart, c.width)
			got, err := s2.Decode(nil, packed)
			require.NoError(t, err, "%s, %d", name, n)
			require.True(t, string(apart) == string(got), "%s, %d", name, n)
			require.True(t, string(packed) == string(packPlanes(make([]byte, 3), apart, c.width)))
		}
	}
}

func TestStepsOfABlock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, 1<<18)
	for i := range text {
		text[i] = byte(r.IntN(1 + i>>12))
	}
	for _, n := range []int{1, 59, 60, 61, 300, 70_000, 1 << 18} {
		for _, b := range [][]byte{text[:n], make([]byte, n)} {
			packed := s2.Encode(nil, b)
			count := steps(packed)
			require.LessOrEqual(t, count, n)
			require.Equal(t, count > 1, steps(packed) > steps(packed[:len(packed)-1]), "it ends with the last step")
		}
	}
	require.Greater(t, steps(s2.Encode(nil, text)), 3000)
	require.Equal(t, 1, steps(appendLiteral([]byte{9}, text[:10])))
}
