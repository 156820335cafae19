package kernel

// FeistelRounds is the number of rounds of Feistel.
const FeistelRounds = 8

// Feistel makes dst the images of numbers from start on under a bijection of [0, n), which
// package rng describes and does itself where this returns false: the lower half of a number
// has lowBits bits, the upper one highBits, at most 32 each; keys are what each round xors,
// then adds. start and the numbers that follow must be inside [0, 2^(lowBits+highBits)).
func Feistel(dst []int64, start, n uint64, lowBits, highBits uint, keys *[2 * FeistelRounds]uint32) bool {
	return feistel(dst, start, n, lowBits, highBits, keys)
}
