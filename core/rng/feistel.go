package rng

import (
	"math/bits"

	"infeed/core/kernel"
)

// feistel is a keyed bijection of [0, 2^k), for the smallest 2^k that holds n. A
// number is split into a high half of k/2 bits and a low half of the rest; the
// eight rounds change the halves in turn by a hash of the other, which can be
// undone whatever the hash is. What falls outside [0, n) is put through again
// until it is inside (cycle walking): less than twice on average, since 2^k < 2n.
type feistel struct {
	lowBits  uint
	highBits uint
	highMask uint32 // the bits of the high half
	lowMask  uint32
	keys     [2 * rounds]uint32 // what each round xors, then adds
}

const rounds = kernel.FeistelRounds

func newFeistel(n int64, key Key) feistel {
	k := uint(bits.Len64(uint64(n - 1)))
	low := k - k/2
	f := feistel{lowBits: low, highBits: k / 2, highMask: uint32(1<<(k/2) - 1), lowMask: uint32(1<<low - 1)}
	for r := range rounds {
		z := key.Uint64(uint64(r))
		f.keys[2*r], f.keys[2*r+1] = uint32(z), uint32(z>>32)
	}
	return f
}

// hash is the round function. It uses 32-bit words only, which processors can
// multiply many at a time.
func (f *feistel) hash(r int, x uint32) uint32 {
	x = (x^f.keys[2*r])*0x7feb352d + f.keys[2*r+1]
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

func (f *feistel) forward(x uint64) uint64 {
	high, low := uint32(x>>f.lowBits), uint32(x)&f.lowMask
	for r := 0; r < rounds; r += 2 {
		high ^= f.hash(r, low) & f.highMask
		low ^= f.hash(r+1, high) & f.lowMask
	}
	return uint64(high)<<f.lowBits | uint64(low)
}

func (f *feistel) backward(x uint64) uint64 {
	high, low := uint32(x>>f.lowBits), uint32(x)&f.lowMask
	for r := rounds - 2; r >= 0; r -= 2 {
		low ^= f.hash(r+1, high) & f.lowMask
		high ^= f.hash(r, low) & f.highMask
	}
	return uint64(high)<<f.lowBits | uint64(low)
}

// inside is forward until a number is in [0, n).
func (f *feistel) inside(x, n uint64) uint64 {
	x = f.forward(x)
	for x >= n {
		x = f.forward(x)
	}
	return x
}

// fill sets dst to the order from start on.
func (f *feistel) fill(dst []int64, start, n uint64) {
	if kernel.Feistel(dst, start, n, f.lowBits, f.highBits, &f.keys) {
		return
	}
	for i := range dst {
		dst[i] = int64(f.inside(start+uint64(i), n))
	}
}
