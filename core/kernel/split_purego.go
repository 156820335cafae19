//go:build purego || !cgo

package kernel

func split(dst, src []byte, width, count int) { splitGo(dst, src, width, count) }

func join(dst, src []byte, width, count int) { joinGo(dst, src, width, count) }
