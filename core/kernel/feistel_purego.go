//go:build purego || !cgo

package kernel

func feistel([]int64, uint64, uint64, uint, uint, *[2 * FeistelRounds]uint32) bool { return false }
