package kernel

import (
	"unsafe"

	"infeed/core/errs"
)

// Bytes sees numbers as the memory that they lie in.
func Bytes(numbers []int64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(numbers))), 8*len(numbers))
}

// Gather copies rows of row bytes: row i of dst becomes row index[i] of src, where rows
// begin stride bytes apart. dst must have room for all of them. An index outside src is
// an error, and then nothing is copied.
func Gather(dst, src []byte, row, stride int, index []int64) error {
	if row == 0 || len(index) == 0 {
		return nil
	}
	rows := rowsOf(src, row, stride)
	for _, i := range index {
		if uint64(i) >= rows {
			return errs.New(errs.Internal, "gather", "row %d of %d", i, rows)
		}
	}
	if len(dst)/row < len(index) {
		return errs.New(errs.Internal, "gather", "%d rows of %d bytes do not fit in %d bytes", len(index), row, len(dst))
	}
	gather(dst, src, row, stride, index)
	return nil
}

// rowsOf returns how many rows there are in memory, the last of which may end with it.
func rowsOf(memory []byte, row, stride int) uint64 {
	if len(memory) < row {
		return 0
	}
	return uint64((len(memory)-row)/stride + 1)
}

// gatherGo is the Go twin of gather.
func gatherGo(dst, src []byte, row, stride int, index []int64) {
	for i, r := range index {
		copy(dst[i*row:(i+1)*row], src[int(r)*stride:])
	}
}

// Scatter copies rows of row bytes: row i of src becomes row index[i] of dst, where rows
// begin stride bytes apart. Rows and places must be there, or it panics.
func Scatter(dst, src []byte, row, stride int, index []int64) {
	if row == 0 || len(index) == 0 {
		return
	}
	_ = src[row*len(index)-1]
	rows := rowsOf(dst, row, stride)
	for _, i := range index {
		if uint64(i) >= rows {
			panic(errs.New(errs.Internal, "scatter", "row %d of %d", i, rows))
		}
	}
	scatter(dst, src, row, stride, index)
}

// scatterGo is the Go twin of scatter.
func scatterGo(dst, src []byte, row, stride int, index []int64) {
	for i, r := range index {
		copy(dst[int(r)*stride:], src[i*row:(i+1)*row])
	}
}

// TextBytes returns how many bytes strings have: string i is data[starts[i]:ends[i]]. It
// panics where one is not there.
func TextBytes(data []byte, starts, ends []int64) int64 {
	n := textBytes(data, starts, ends[:len(starts)])
	if n < 0 {
		panic(errs.New(errs.Internal, "gather", "one of %d strings is not in %d bytes", len(starts), len(data)))
	}
	return n
}

// textBytesGo is the Go twin of textBytes.
func textBytesGo(data []byte, starts, ends []int64) int64 {
	bytes := int64(0)
	for i, start := range starts {
		if start < 0 || start > ends[i] || ends[i] > int64(len(data)) {
			return -1
		}
		bytes += ends[i] - start
	}
	return bytes
}

// CopyText copies these strings, for which TextBytes was asked, to dst from at on, one
// after the other. starts and ends say then where they are there.
func CopyText(dst []byte, at int, starts, ends []int64, data []byte) {
	copyText(dst[at:], int64(at), starts, ends[:len(starts)], data)
}

// copyTextGo is the Go twin of copyText.
func copyTextGo(dst []byte, at int64, starts, ends []int64, data []byte) {
	for i, start := range starts {
		n := copy(dst, data[start:ends[i]])
		dst = dst[n:]
		starts[i] = at
		at += int64(n)
		ends[i] = at
	}
}
