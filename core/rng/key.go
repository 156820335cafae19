package rng

import "math/bits"

// golden is 2^64 divided by the golden ratio, the usual odd step of a Weyl
// sequence.
const golden = 0x9e3779b97f4a7c15

// Key selects one sequence of random numbers, or one permutation, among 2^127.
// Keys are comparable.
type Key struct {
	start, step uint64
}

// NewKey hashes a seed and words that say what the key is for. The number of
// words counts: a trailing 0 gives another key.
func NewKey(seed uint64, words ...uint64) Key {
	a, b := mix(seed+golden), mix(seed^0xd1b54a32d192ed03)
	for _, w := range words {
		a = mix(a ^ mix(w+golden))
		b = mix(b + bits.RotateLeft64(w, 32) + a)
	}
	n := uint64(len(words))
	return Key{start: mix(a + n), step: oddStep(mix(b ^ n ^ a))}
}

// Derive returns the key for a part of what k is for.
func (k Key) Derive(words ...uint64) Key {
	return NewKey(k.start, append([]uint64{k.step}, words...)...)
}

// Uint64 returns the i-th number of the key: SplitMix64 with the key's own start
// and step (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
// 2014).
func (k Key) Uint64(i uint64) uint64 {
	return mix(k.start + (i+1)*k.step)
}

// mix is Stafford's thirteenth variant of the 64-bit finaliser of MurmurHash3, a
// bijection.
func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// oddStep makes z odd and keeps clear of regular bit patterns, which are poor
// steps.
func oddStep(z uint64) uint64 {
	z |= 1
	if bits.OnesCount64(z^z>>1) < 24 {
		z ^= 0xaaaaaaaaaaaaaaaa
	}
	return z
}
