//go:build purego || !cgo

package kernel

// Native names the kernels that run as C in this build.
func Native() []string { return []string{} }

func gather(dst, src []byte, row int, index []int64) { gatherGo(dst, src, row, index) }

func scatter(dst, src []byte, row int, index []int64) { scatterGo(dst, src, row, index) }

func textBytes(data []byte, starts, ends, index []int64) int64 {
	return textBytesGo(data, starts, ends, index)
}

func gatherText(dst []byte, at int64, toStarts, toEnds []int64, data []byte, starts, ends, index []int64) {
	gatherTextGo(dst, at, toStarts, toEnds, data, starts, ends, index)
}
