package kernel

import "infeed/core/errs"

// Split takes values of width bytes apart: dst has first byte 0 of all of them, then
// byte 1 of all, and so on; bytes of src behind the last whole value follow as they are.
// dst and src have the same length and do not overlap.
func Split(dst, src []byte, width int) { each(dst, src, width, split, splitGo) }

// Join undoes Split.
func Join(dst, src []byte, width int) { each(dst, src, width, join, joinGo) }

// each moves the whole values with a kernel, in C for the widths that has.
func each(dst, src []byte, width int, native, plain func(dst, src []byte, width, count int)) {
	if len(dst) != len(src) || width < 1 {
		panic(errs.New(errs.Internal, "split", "%d bytes from %d, of values of %d", len(dst), len(src), width))
	}
	count := len(src) / width
	switch {
	case count == 0:
	case width == 2 || width == 4 || width == 8:
		native(dst, src, width, count)
	default:
		plain(dst, src, width, count)
	}
	copy(dst[count*width:], src[count*width:])
}

// splitGo is the Go twin of split.
func splitGo(dst, src []byte, width, count int) {
	for k := range width {
		to := dst[k*count : (k+1)*count]
		for i := range to {
			to[i] = src[i*width+k]
		}
	}
}

// joinGo is the Go twin of join.
func joinGo(dst, src []byte, width, count int) {
	for k := range width {
		for i, b := range src[k*count : (k+1)*count] {
			dst[i*width+k] = b
		}
	}
}
