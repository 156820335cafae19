package rng

import (
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeysDiffer(t *testing.T) {
	seen := map[Key]string{}
	add := func(name string, k Key) {
		require.NotContains(t, seen, k, "%s has the key of another", name)
		seen[k] = name
	}
	for _, seed := range []uint64{0, 1, 2, 1 << 32, 1<<64 - 1} {
		add("seed alone", NewKey(seed))
		for _, a := range []uint64{0, 1, 2, 1<<64 - 1} {
			add("one word", NewKey(seed, a))
			for _, b := range []uint64{0, 1, 2, 1<<64 - 1} {
				add("two words", NewKey(seed, a, b))
				add("derived", NewKey(seed, a).Derive(b))
			}
		}
	}
	require.Equal(t, NewKey(5, 6, 7), NewKey(5, 6, 7))
}

// One bit of seed or word changes half the bits of the numbers.
func TestKeysSpreadEveryBit(t *testing.T) {
	base := NewKey(1, 2, 3)
	for bit := range 64 {
		for name, k := range map[string]Key{"seed": NewKey(1^1<<bit, 2, 3), "first": NewKey(1, 2^1<<bit, 3), "last": NewKey(1, 2, 3^1<<bit)} {
			changed := 0
			for i := range uint64(100) {
				changed += bits.OnesCount64(k.Uint64(i) ^ base.Uint64(i))
			}
			require.InDelta(t, 3200, changed, 250, "%s, bit %d", name, bit)
		}
	}
}

func TestStepsAreOddAndIrregular(t *testing.T) {
	for i := range uint64(10_000) {
		k := NewKey(i)
		require.Equal(t, uint64(1), k.step&1)
		require.GreaterOrEqual(t, bits.OnesCount64(k.step^k.step>>1), 24)
	}
	require.GreaterOrEqual(t, bits.OnesCount64(oddStep(1)^oddStep(1)>>1), 24)
}
