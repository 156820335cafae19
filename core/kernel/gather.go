package kernel

import "infeed/core/errs"

// Gather copies rows of src, each of row bytes, to dst: row i of dst becomes row
// index[i] of src. dst must have room for all of them. An index outside src is an
// error, and then nothing is copied.
func Gather(dst, src []byte, row int, index []int64) error {
	if row == 0 || len(index) == 0 {
		return nil
	}
	rows := uint64(len(src) / row)
	for _, i := range index {
		if uint64(i) >= rows {
			return errs.New(errs.Internal, "gather", "row %d of %d", i, rows)
		}
	}
	if len(dst)/row < len(index) {
		return errs.New(errs.Internal, "gather", "%d rows of %d bytes do not fit in %d bytes", len(index), row, len(dst))
	}
	gather(dst, src, row, index)
	return nil
}

// gatherGo is the Go twin of gather.
func gatherGo(dst, src []byte, row int, index []int64) {
	for i, r := range index {
		copy(dst[i*row:(i+1)*row], src[int(r)*row:])
	}
}

// Scatter copies rows of src, each of row bytes, to places in dst: row i becomes row
// index[i] of dst. Rows and places must be there, or it panics.
func Scatter(dst, src []byte, row int, index []int64) {
	if row == 0 || len(index) == 0 {
		return
	}
	_ = src[row*len(index)-1]
	rows := uint64(len(dst) / row)
	for _, i := range index {
		if uint64(i) >= rows {
			panic(errs.New(errs.Internal, "scatter", "row %d of %d", i, rows))
		}
	}
	scatter(dst, src, row, index)
}

// scatterGo is the Go twin of scatter.
func scatterGo(dst, src []byte, row int, index []int64) {
	for i, r := range index {
		copy(dst[int(r)*row:], src[i*row:(i+1)*row])
	}
}

// TextBytes returns how many bytes the strings with the given numbers have: string i is
// data[starts[i]:ends[i]]. It panics where one is not there.
func TextBytes(data []byte, starts, ends, index []int64) int64 {
	_ = ends[:len(starts)]
	n := textBytes(data, starts, ends, index)
	if n < 0 {
		panic(errs.New(errs.Internal, "gather", "a string of %d is not in %d bytes", len(starts), len(data)))
	}
	return n
}

// textBytesGo is the Go twin of textBytes.
func textBytesGo(data []byte, starts, ends, index []int64) int64 {
	bytes := int64(0)
	for _, i := range index {
		if uint64(i) >= uint64(len(starts)) || starts[i] < 0 || starts[i] > ends[i] || ends[i] > int64(len(data)) {
			return -1
		}
		bytes += ends[i] - starts[i]
	}
	return bytes
}

// GatherText copies these strings, for which TextBytes was asked, to dst from at on, and
// says where they begin and end there.
func GatherText(dst []byte, at int, toStarts, toEnds []int64, data []byte, starts, ends, index []int64) {
	if len(index) == 0 {
		return
	}
	_, _ = toStarts[:len(index)], toEnds[:len(index)]
	gatherText(dst[at:], int64(at), toStarts, toEnds, data, starts, ends, index)
}

// gatherTextGo is the Go twin of gatherText.
func gatherTextGo(dst []byte, at int64, toStarts, toEnds []int64, data []byte, starts, ends, index []int64) {
	for i, k := range index {
		n := copy(dst, data[starts[k]:ends[k]])
		dst = dst[n:]
		toStarts[i] = at
		at += int64(n)
		toEnds[i] = at
	}
}
