package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/klauspost/compress/flate"
)

// headBytes is how much of a stream's beginning is looked at.
const headBytes = 4096

// Detect tells from the beginning of a stream, the longer the better, how it is
// compressed.
//
// The marks of gzip and zstd are no text in any encoding. Those of zlib are, so it
// is zlib only if it can be decompressed.
func Detect(head []byte) Kind {
	switch {
	case len(head) >= 4 && bytes.HasPrefix(head, []byte{0x1f, 0x8b, 8}) && head[3] < 0x20:
		return Gzip
	case len(head) >= 4 && isZstd(binary.LittleEndian.Uint32(head)):
		return Zstd
	case zlibHeader(head) && inflates(head[2:]):
		return Zlib
	}
	return None
}

// isZstd knows the beginning of a frame, and of a frame that readers skip.
func isZstd(mark uint32) bool { return mark == 0xfd2fb528 || mark&^0xf == 0x184d2a50 }

// begins tells whether a member of gzip or zlib can begin with c.
func begins(kind Kind, c byte) bool {
	return kind == Gzip && c == 0x1f || kind == Zlib && c&0xf == 8 && c>>4 <= 7
}

// zlibHeader checks what RFC 1950 says of the first two bytes.
func zlibHeader(head []byte) bool {
	return len(head) > 2 && head[0]&0xf == 8 && head[0]>>4 <= 7 && head[1]&0x20 == 0 &&
		binary.BigEndian.Uint16(head)%31 == 0
}

// inflates tells whether at least a byte, or a whole empty stream, comes out of the
// beginning of deflated data, and nothing that contradicts.
func inflates(head []byte) bool {
	out, err := io.Copy(io.Discard, io.LimitReader(flate.NewReader(bytes.NewReader(head)), 1<<20))
	return err == nil || err == io.ErrUnexpectedEOF && out > 0
}

var marks = []struct{ mark, what string }{
	{"BZh", "data compressed with bzip2"},
	{"\xfd7zXZ\x00", "data compressed with xz"},
	{"\x04\x22\x4d\x18", "data compressed with lz4"},
	{"PK\x03\x04", "a zip archive"},
	{"PK\x05\x06", "an empty zip archive"},
	{"\x89PNG\r\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"%PDF-", "a PDF document"},
	{"\x93NUMPY", "a NumPy array"},
	{"\x89HDF\r\n", "an HDF5 file"},
	{"PAR1", "a Parquet file"},
	{"ARROW1", "an Arrow file"},
	{"SQLite format 3\x00", "an SQLite database"},
	{"\xff\xfe", "text in UTF-16"},
	{"\xfe\xff", "text in UTF-16"},
}

// Describe says in words what begins like head, for messages.
func Describe(head []byte) string {
	if len(head) == 0 {
		return "nothing"
	}
	if kind := Detect(head); kind != None {
		return "data compressed with " + map[Kind]string{Gzip: "gzip", Zlib: "zlib", Zstd: "zstd"}[kind]
	}
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.mark)) {
			return m.what
		}
	}
	if len(head) > 262 && string(head[257:262]) == "ustar" {
		return "a tar archive"
	}
	if text := firstText(head); text != "" {
		return fmt.Sprintf("text that begins with %q", text)
	}
	return fmt.Sprintf("unknown data that begins with % x", head[:min(8, len(head))])
}

// firstText returns the beginning of head when that is text in UTF-8.
func firstText(head []byte) string {
	const most = 24
	n := 0
	for n < len(head) && n < most {
		c, size := utf8.DecodeRune(head[n:])
		if c == utf8.RuneError && size <= 1 || c < ' ' && c != '\n' && c != '\r' && c != '\t' {
			return ""
		}
		n += size
	}
	return string(head[:n])
}
