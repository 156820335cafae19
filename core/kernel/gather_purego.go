//go:build purego || !cgo

package kernel

func gather(dst, src []byte, row int, index []int64) { gatherGo(dst, src, row, index) }
