//go:build purego || !cgo

package kernel

func split(dst, src []byte, width, count int) { splitGo(dst, src, width, count) }

func join(dst, src []byte, width, all, count int) { joinGo(dst, src, width, all, count) }
