package rng

import "math/bits"

// feistel is a keyed bijection of [0, 2^k), for the smallest 2^k that holds n. A
// number is split into a high half of k/2 bits and a low half of the rest; the
// eight rounds change the halves in turn by a hash of the other, which can be
// undone whatever the hash is. What falls outside [0, n) is put through again
// until it is inside (cycle walking): less than twice on average, since 2^k < 2n.
type feistel struct {
	lowBits  uint
	highMask uint32 // the bits of the high half
	lowMask  uint32
	keys     [rounds]roundKey
}

const rounds = 8

type roundKey struct{ xor, add uint32 }

func newFeistel(n int64, key Key) feistel {
	k := uint(bits.Len64(uint64(n - 1)))
	low := k - k/2
	f := feistel{lowBits: low, highMask: uint32(1<<(k/2) - 1), lowMask: uint32(1<<low - 1)}
	for r := range f.keys {
		z := key.Uint64(uint64(r))
		f.keys[r] = roundKey{xor: uint32(z), add: uint32(z >> 32)}
	}
	return f
}

// hash is the round function. It uses 32-bit words only, which processors can
// multiply many at a time.
func (k roundKey) hash(x uint32) uint32 {
	x = (x^k.xor)*0x7feb352d + k.add
	x = (x ^ x>>15) * 0x846ca68b
	return x ^ x>>16
}

func (f *feistel) forward(x uint64) uint64 {
	high, low := uint32(x>>f.lowBits), uint32(x)&f.lowMask
	for r := 0; r < rounds; r += 2 {
		high ^= f.keys[r].hash(low) & f.highMask
		low ^= f.keys[r+1].hash(high) & f.lowMask
	}
	return uint64(high)<<f.lowBits | uint64(low)
}

func (f *feistel) backward(x uint64) uint64 {
	high, low := uint32(x>>f.lowBits), uint32(x)&f.lowMask
	for r := rounds - 2; r >= 0; r -= 2 {
		low ^= f.keys[r+1].hash(high) & f.lowMask
		high ^= f.keys[r].hash(low) & f.highMask
	}
	return uint64(high)<<f.lowBits | uint64(low)
}

// chunk is how many numbers are walked together: enough to keep the processor
// busy, few enough for the first-level cache and for a uint8 to name one.
const chunk = 256

// fill sets dst to the order from start on.
func (f *feistel) fill(dst []int64, start, n uint64) {
	for len(dst) > 0 {
		m := min(len(dst), chunk)
		f.fillChunk(dst[:m], start, n)
		dst = dst[m:]
		start += uint64(m)
	}
}

// fillChunk puts numbers through four at a time; those that fell outside [0, n)
// are collected, without a branch that could be guessed wrong, and put through
// again.
func (f *feistel) fillChunk(dst []int64, start, n uint64) {
	var outside [chunk]uint8
	var four [4]uint64
	count := 0
	i := 0
	for ; i+4 <= len(dst); i += 4 {
		x := start + uint64(i)
		four = [4]uint64{x, x + 1, x + 2, x + 3}
		f.forward4(&four)
		for j, y := range four {
			dst[i+j] = int64(y)
			outside[count&(chunk-1)] = uint8(i + j)
			count += int((n - 1 - y) >> 63)
		}
	}
	for ; i < len(dst); i++ {
		y := f.forward(start + uint64(i))
		dst[i] = int64(y)
		outside[count&(chunk-1)] = uint8(i)
		count += int((n - 1 - y) >> 63)
	}
	for count > 0 {
		count = f.walkOutside(dst, outside[:count], n)
	}
}

// walkOutside puts the elements that outside names through once more, and leaves
// in outside those that are still there.
func (f *feistel) walkOutside(dst []int64, outside []uint8, n uint64) (left int) {
	var four [4]uint64
	for i := 0; i < len(outside); i += 4 {
		group := outside[i:min(i+4, len(outside))]
		for j, place := range group {
			four[j] = uint64(dst[place])
		}
		f.forward4(&four)
		for j := range group {
			place, y := outside[i+j], four[j]
			dst[place] = int64(y)
			outside[left] = place
			left += int((n - 1 - y) >> 63)
		}
	}
	return left
}

// forward4 is forward for four numbers, whose chains of multiplications the
// processor runs side by side.
func (f *feistel) forward4(x *[4]uint64) {
	b, hm, lm := f.lowBits&63, f.highMask, f.lowMask
	h0, h1, h2, h3 := uint32(x[0]>>b), uint32(x[1]>>b), uint32(x[2]>>b), uint32(x[3]>>b)
	l0, l1, l2, l3 := uint32(x[0])&lm, uint32(x[1])&lm, uint32(x[2])&lm, uint32(x[3])&lm
	for r := 0; r < rounds; r += 2 {
		k := f.keys[r]
		h0 ^= k.hash(l0) & hm
		h1 ^= k.hash(l1) & hm
		h2 ^= k.hash(l2) & hm
		h3 ^= k.hash(l3) & hm
		k = f.keys[r+1]
		l0 ^= k.hash(h0) & lm
		l1 ^= k.hash(h1) & lm
		l2 ^= k.hash(h2) & lm
		l3 ^= k.hash(h3) & lm
	}
	x[0], x[1], x[2], x[3] = uint64(h0)<<b|uint64(l0), uint64(h1)<<b|uint64(l1), uint64(h2)<<b|uint64(l2), uint64(h3)<<b|uint64(l3)
}
