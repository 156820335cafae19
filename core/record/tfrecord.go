package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"infeed/core/codec"
	"infeed/core/kernel"
)

// A frame of a TFRecord file is, in little-endian order: the length of the payload
// (8 bytes), the masked CRC-32C of these 8 bytes (4), the payload, its masked
// CRC-32C (4). There is nothing else in the file.
const (
	frameHead = 12
	frameTail = 4
)

const badPayload = "the record is corrupt: its checksum is not that of its content"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// masked returns the checksum of b as it is stored.
func masked(b []byte) uint32 { return kernel.Masked(b) }

// eight has, for each byte of eight, what it adds to their checksum.
var eight = func() (t [8][256]uint32) {
	t[7] = *castagnoli
	for k := 6; k >= 0; k-- {
		for i, c := range t[k+1] {
			t[k][i] = castagnoli[byte(c)] ^ c>>8
		}
	}
	return t
}()

// maskedLength is masked for the eight bytes of a length. It is needed for each record,
// and a general checksum costs three times as much to begin and to end.
func maskedLength(length uint64) uint32 {
	x := length ^ 0xffffffff
	c := ^(eight[0][byte(x)] ^ eight[1][byte(x>>8)] ^ eight[2][byte(x>>16)] ^ eight[3][byte(x>>24)] ^
		eight[4][byte(x>>32)] ^ eight[5][byte(x>>40)] ^ eight[6][byte(x>>48)] ^ eight[7][x>>56])
	return (c>>15 | c<<17) + 0xa282ead8
}

func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// tfrecord is the format that TensorFlow defines.
type tfrecord struct{ unchecked bool }

// TFRecord is the format of TFRecord files.
func TFRecord() Format { return tfrecord{} }

func (f tfrecord) frame(w *window, b *Block, rows int) (int64, *fault) {
	for len(b.Starts) < rows {
		length, need, whole, bad := head(w)
		if !whole {
			return need, bad
		}
		size := length + frameHead + frameTail
		if size > uint64(len(w.data)-w.pos) {
			return int64(size), nil
		}
		from := w.pos + frameHead
		to := from + int(length)
		if !f.unchecked && masked(w.data[from:to]) != le32(w.data[to:]) {
			return 0, &fault{offset: w.offset(), text: badPayload, next: w.offset() + int64(size)}
		}
		b.add(from, to)
		w.pos += int(size)
	}
	return 0, nil
}

// head reads the length of the record at w.pos, if it is whole. If it is neither
// that nor bad, more bytes must be there: need of them, or 0 for any number.
func head(w *window) (length uint64, need int64, whole bool, bad *fault) {
	h := w.rest()
	if len(h) < frameHead {
		if w.last && len(h) > 0 {
			return 0, 0, false, torn(w, fmt.Sprintf("the file ends within the first %d bytes of a record: %d of them are there", frameHead, len(h)))
		}
		return 0, 0, false, nil
	}
	length = binary.LittleEndian.Uint64(h)
	if maskedLength(length) != le32(h[8:]) {
		if w.offset() == 0 {
			need, bad = strange(w)
			return 0, need, false, bad
		}
		return 0, 0, false, &fault{offset: w.offset(), text: "the length of the record is corrupt"}
	}
	if length > maxInt-frameHead-frameTail || w.beyond(length+frameHead+frameTail) {
		return 0, 0, false, torn(w, fmt.Sprintf("the file ends within a record of %d bytes", length))
	}
	return length, 0, true, nil
}

// strange is what head returns at the beginning of a file that is not one of records.
func strange(w *window) (need int64, bad *fault) {
	const enough = 512 // to tell what it is, whatever the size of blocks
	h := w.rest()
	if len(h) < enough && !w.last {
		return enough, nil
	}
	h = h[:min(enough, len(h))]
	other := codec.Detect(h) != codec.None // in which records may be found, but none of this file
	return 0, &fault{text: "this is not a TFRecord file: it looks like " + looks(h), ends: other}
}

const maxInt = 1<<63 - 1

func torn(w *window, text string) *fault {
	if w.offset() == 0 && len(w.rest()) < frameHead {
		text = "this is not a TFRecord file, or one that was cut: it looks like " + looks(w.rest())
	}
	return &fault{offset: w.offset(), text: text, ends: true}
}

// looks says what a file that is no TFRecord file looks like, and what to do.
func looks(head []byte) string {
	if kind := codec.Detect(head); kind != codec.None {
		return codec.Describe(head) + `; give compression_type="` + kind.String() + `" or "AUTO"`
	}
	return codec.Describe(head)
}

// find looks behind damage at w.pos for a frame whose checksums are both right: one
// alone is right by chance once in 2^32 bytes. When there is none, w.pos is before
// the first place where one may yet be, and need bytes from there are asked for.
func find(w *window) (need int64, found bool) {
	for w.pos++; len(w.rest()) >= frameHead; w.pos++ {
		length, _, whole, _ := head(w)
		if !whole {
			continue
		}
		h := w.rest()
		size := length + frameHead + frameTail
		if size > uint64(len(h)) {
			need = int64(size) + 1
			break
		}
		if masked(h[frameHead:frameHead+length]) == le32(h[frameHead+length:]) {
			return 0, true
		}
	}
	w.pos--
	return need, false
}

func (tfrecord) fits(int64) *fault                                  { return nil }
func (tfrecord) layout(int64) (first, stride, count int64, ok bool) { return }
func (tfrecord) before() int64                                      { return frameHead }

// isTFRecord tells whether a file begins like a TFRecord file.
func isTFRecord(head []byte) bool {
	return len(head) >= frameHead && masked(head[:8]) == le32(head[8:])
}
