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
