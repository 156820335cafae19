//go:build purego || !cgo

package kernel

// Native names the kernels that run as C in this build.
func Native() []string { return []string{} }

func gather(dst, src []byte, row, stride int, index []int64) {
	gatherGo(dst, src, row, stride, index)
}

func scatter(dst, src []byte, row, stride int, index []int64) {
	scatterGo(dst, src, row, stride, index)
}

func textBytes(data []byte, starts, ends []int64) int64 { return textBytesGo(data, starts, ends) }

func copyText(dst []byte, at int64, starts, ends []int64, data []byte) {
	copyTextGo(dst, at, starts, ends, data)
}
