package record

import (
	"bytes"
	"fmt"

	"infeed/core/errs"
)

// Format is how records lie in a file.
type Format interface {
	// frame appends to b the whole records of w, until b has rows of them. It
	// leaves w.pos where the next record begins. need is how many bytes from there
	// on the next record takes, 0 when that is not known; it is asked for only when
	// w has too few.
	frame(w *window, b *Block, rows int) (need int64, bad *fault)
	// fits checks the size of a file when it is opened.
	fits(size int64) *fault
	// layout returns where record i begins without looking, if that can be told.
	layout(size int64) (first, stride, count int64, known bool)
	// before is how many bytes of a record come before its payload.
	before() int64
}

// window is a part of a file in memory.
type window struct {
	data []byte
	pos  int
	at   int64 // of data[0] in the file
	last bool  // nothing follows data
	size int64 // of the file; unknown when it is compressed
}

const unknown = -1

// beyond tells whether the file, as far as is known, ends before n bytes from
// w.pos on. A place behind its end shows that it has grown.
func (w *window) beyond(n uint64) bool {
	if n <= uint64(len(w.rest())) {
		return false
	}
	left := w.size - w.offset()
	return w.last || w.size != unknown && left >= 0 && n > uint64(left)
}

func (w *window) rest() []byte { return w.data[w.pos:] }

func (w *window) offset() int64 { return w.at + int64(w.pos) }

// lines is text: records end with a newline.
type lines struct{}

// Lines is the format of text: a line ends with a newline or the file, and neither
// the newline nor one carriage return at its end belongs to it. All other bytes do, a
// byte order mark included.
func Lines() Format { return lines{} }

func (lines) frame(w *window, b *Block, rows int) (int64, *fault) {
	for len(b.Starts) < rows && w.pos < len(w.data) {
		end, next := len(w.data), len(w.data)
		if n := bytes.IndexByte(w.rest(), '\n'); n >= 0 {
			end = w.pos + n
			next = end + 1
		} else if !w.last {
			return 0, nil
		}
		if end > w.pos && w.data[end-1] == '\r' {
			end--
		}
		b.add(w.pos, end)
		w.pos = next
	}
	return 0, nil
}

func (lines) fits(int64) *fault                                  { return nil }
func (lines) layout(int64) (first, stride, count int64, ok bool) { return }
func (lines) before() int64                                      { return 0 }

// add appends a record.
func (b *Block) add(from, to int) {
	b.Starts = append(b.Starts, int64(from))
	b.Ends = append(b.Ends, int64(to))
}

// fixed is records of one length.
type fixed struct{ record, header, footer int64 }

// FixedLength is the format of records of a fixed number of bytes, between a header
// and a footer that are left out.
func FixedLength(record, header, footer int64) (Format, error) {
	const most = maxRecord
	if record <= 0 || record > most {
		return nil, errs.New(errs.InvalidArgument, "record", "record_bytes is %d; a record has 1 to %d bytes", record, most)
	}
	for name, n := range map[string]int64{"header_bytes": header, "footer_bytes": footer} {
		if n < 0 || n > most {
			return nil, errs.New(errs.InvalidArgument, "record", "%s is %d; give 0 to %d", name, n, most)
		}
	}
	return fixed{record, header, footer}, nil
}

func (f fixed) frame(w *window, b *Block, rows int) (int64, *fault) {
	if w.offset() == 0 && f.header > 0 {
		if w.beyond(uint64(f.header + f.footer)) {
			return 0, f.fits(int64(len(w.data)))
		}
		if int64(len(w.data)) < f.header {
			return f.header, nil
		}
		w.pos = int(f.header)
	}
	// The footer may be what is in the window: it is held back.
	body := int64(len(w.rest())) - f.footer
	for len(b.Starts) < rows && body >= f.record {
		b.add(w.pos, w.pos+int(f.record))
		w.pos += int(f.record)
		body -= f.record
	}
	if len(b.Starts) < rows && w.last && body != 0 {
		return 0, f.fits(w.at + int64(len(w.data)))
	}
	return f.record + f.footer, nil
}

// fits checks that a file is a whole number of records.
func (f fixed) fits(size int64) *fault {
	body := size - f.header - f.footer
	if body < 0 {
		return &fault{ends: true, text: fmt.Sprintf("the file has %d bytes; its header of %d and footer of %d do not fit", size, f.header, f.footer)}
	}
	if rest := body % f.record; rest != 0 {
		return &fault{offset: size - f.footer - rest, ends: true, text: fmt.Sprintf("the file has %d bytes; after %d records of %d bytes there is a rest of %d (header %d, footer %d): it is cut, or record_bytes is another",
			size, body/f.record, f.record, rest, f.header, f.footer)}
	}
	return nil
}

func (f fixed) layout(size int64) (first, stride, count int64, known bool) {
	return f.header, f.record, max(size-f.header-f.footer, 0) / f.record, true
}

func (fixed) before() int64 { return 0 }
