package kernel

import (
	"encoding/binary"
	"hash/crc32"

	"infeed/core/errs"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// wide is from how many bytes on the kernel is used: where one block of it fits.
const wide = 16368

// Checksum returns the CRC-32C of b.
func Checksum(b []byte) uint32 {
	if len(b) >= wide {
		if sum, ok := wideChecksum(b); ok {
			return sum
		}
	}
	return crc32.Checksum(b, castagnoli)
}

// Masked returns the CRC-32C of b as TFRecord files store it: turned and shifted, so
// that data which holds checksums has no special ones.
func Masked(b []byte) uint32 {
	c := Checksum(b)
	return (c>>15 | c<<17) + 0xa282ead8
}

// alone is how long texts are, on average, from where on one at a time is as fast as
// several side by side.
const alone = 4096

// Corrupt returns the first text data[starts[i]:ends[i]] whose masked checksum is not
// in the four bytes behind it, or len(starts). It panics where a text is not inside.
func Corrupt(data []byte, starts, ends []int64) int {
	total := int64(0)
	for i, from := range starts {
		if to := ends[i]; from < 0 || to < from || to > int64(len(data))-4 {
			panic(errs.New(errs.Internal, "checksum", "text from %d to %d of %d bytes", from, to, len(data)))
		}
		total += ends[i] - from
	}
	if total > alone*int64(len(starts)) || len(starts) == 0 {
		return corruptGo(data, starts, ends)
	}
	return corrupt(data, starts, ends)
}

// corruptGo is the Go twin of corrupt.
func corruptGo(data []byte, starts, ends []int64) int {
	for i, from := range starts {
		if to := ends[i]; Masked(data[from:to]) != binary.LittleEndian.Uint32(data[to:]) {
			return i
		}
	}
	return len(starts)
}
