package kernel

import "infeed/core/errs"

// Split takes values of width bytes apart: dst has first byte 0 of all of them, then
// byte 1 of all, and so on; bytes of src behind the last whole value follow as they are.
// dst and src have the same length and do not overlap.
func Split(dst, src []byte, width int) {
	if len(dst) != len(src) || width < 1 {
		panic(errs.New(errs.Internal, "split", "%d bytes from %d, of values of %d", len(dst), len(src), width))
	}
	count := len(src) / width
	switch {
	case count == 0:
	case native(width):
		split(dst, src, width, count)
	default:
		splitGo(dst, src, width, count)
	}
	copy(dst[count*width:], src[count*width:])
}

// Join undoes Split.
func Join(dst, src []byte, width int) {
	if len(dst) != len(src) {
		panic(errs.New(errs.Internal, "join", "%d bytes from %d", len(dst), len(src)))
	}
	JoinPart(dst, src, width, 0)
}

// JoinPart undoes Split for the bytes from first on, as many as dst has. first is where
// a value begins.
func JoinPart(dst, src []byte, width, first int) {
	if width < 1 || first < 0 || first%width != 0 || first > len(src)-len(dst) {
		panic(errs.New(errs.Internal, "join", "%d bytes from %d on of %d, of values of %d", len(dst), first, len(src), width))
	}
	all := len(src) / width
	count := max(min(len(dst)/width, all-first/width), 0)
	switch {
	case count == 0:
	case native(width):
		join(dst, src[first/width:], width, all, count)
	default:
		joinGo(dst, src[first/width:], width, all, count)
	}
	whole, rest := dst[:count*width], dst[count*width:]
	if at := first + len(whole); at < all*width { // the beginning of a value
		for i := range rest {
			rest[i] = src[i*all+at/width]
		}
		return
	}
	copy(rest, src[first+len(whole):])
}

// native tells whether values of width bytes have a kernel.
func native(width int) bool { return width == 2 || width == 4 || width == 8 }

// splitGo is the Go twin of split.
func splitGo(dst, src []byte, width, count int) {
	for k := range width {
		to := dst[k*count : (k+1)*count]
		for i := range to {
			to[i] = src[i*width+k]
		}
	}
}

// joinGo is the Go twin of join: count of all values, the first of which has its byte 0
// at the beginning of src.
func joinGo(dst, src []byte, width, all, count int) {
	for k := range width {
		for i, b := range src[k*all:][:count] {
			dst[i*width+k] = b
		}
	}
}
