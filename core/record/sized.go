package record

import (
	"encoding/binary"
	"fmt"
)

// sizedHead is the length of a sized record, in front of it.
const sizedHead = 8

// sized is records behind their lengths.
type sized struct{}

// Sized is the format of records that follow their length, 8 bytes in little-endian
// order. No checksum tells whether they are what was written.
func Sized() Format { return sized{} }

func (sized) frame(w *window, b *Block, rows int) (int64, *fault) {
	for len(b.Starts) < rows {
		h := w.rest()
		if len(h) < sizedHead {
			if w.last && len(h) > 0 {
				return 0, &fault{offset: w.offset(), ends: true,
					text: fmt.Sprintf("the file ends within the length of a record: %d of its %d bytes are there", len(h), sizedHead)}
			}
			return 0, nil
		}
		length := binary.LittleEndian.Uint64(h)
		if length > maxInt-sizedHead || w.beyond(length+sizedHead) {
			return 0, &fault{offset: w.offset(), ends: true, text: fmt.Sprintf("the file ends within a record of %d bytes, or its length is corrupt", length)}
		}
		size := length + sizedHead
		if size > uint64(len(h)) {
			return int64(size), nil
		}
		b.add(w.pos+sizedHead, w.pos+int(size))
		w.pos += int(size)
	}
	return 0, nil
}

func (sized) fits(int64) *fault                                  { return nil }
func (sized) layout(int64) (first, stride, count int64, ok bool) { return }
func (sized) before() int64                                      { return sizedHead }
