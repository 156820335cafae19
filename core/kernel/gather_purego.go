//go:build purego || !cgo

package kernel

// Native names the kernels that run as C in this build.
func Native() []string { return []string{} }

func gather(dst, src []byte, row int, index []int64) { gatherGo(dst, src, row, index) }

func scatter(dst, src []byte, row int, index []int64) { scatterGo(dst, src, row, index) }
