// Package csvtext turns the bytes of CSV files into columns.
//
// Terms. A row is fields with a delimiter between them; it ends at LF, CR LF, a CR
// alone, or the end of the file. With quotes on, a field that begins with a quote
// ends at the next quote before a delimiter or a row's end; in between may be
// delimiters, row ends, and quotes written twice. A [Dialect] says what of this a
// file has.
//
// A [Splitter] walks over a file and finds where rows end, at little cost, so that
// one goroutine can read and cut while others parse. A [Format] parses whole rows
// into [Values], a buffer for each selected column; it is immutable, and any number
// of goroutines may use one. Nothing is allocated for a row or a field.
//
// The rules are those of TensorFlow's CsvDataset for [Format.Parse], and of its
// decode_csv for [Format.ParseRecords], which differ: single records may not end in
// CR or LF, but have them before a field. In detail:
//
//   - An empty line is a row of one empty field.
//   - A field that is empty, also in quotes, or equal to Dialect.Missing takes the
//     column's default; without one it is an error.
//   - Quotes inside unquoted fields are errors, in columns that are not selected
//     too. After a stray quote in a quoted field, the field goes on to a quote that
//     may end it.
//   - With selected columns, rows may have more fields than are needed; otherwise
//     exactly as many as there are columns.
//   - Numbers may have white space around them, a sign, for floats also inf, nan and
//     hexadecimal digits. Floats are rounded once, to the nearest, from the text to
//     their own precision; too large ones are infinite. Integers that overflow are
//     errors.
//
// On purpose other than TensorFlow: a quote or a line end is refused as delimiter,
// and [Mark] leaves out a byte order mark.
package csvtext

import (
	"bytes"

	"infeed/core/errs"
)

// Dialect says how rows lie in bytes. The zero Dialect is the usual one.
type Dialect struct {
	Delim   byte   // between fields; a comma if 0
	Plain   bool   // quotes are characters like others
	Missing string // a field with this text has no value, as an empty one has none
}

func (d Dialect) delim() byte {
	if d.Delim == 0 {
		return ','
	}
	return d.Delim
}

func (d Dialect) check() error {
	if c := d.delim(); c == '\n' || c == '\r' || c == '"' && !d.Plain {
		return errs.New(errs.InvalidArgument, "csv", "the delimiter %q also ends rows or quotes fields; give another, such as a comma or a tab", string(c))
	}
	return nil
}

// orderMarks are the beginnings of files in encodings that CSV cannot be read in.
var orderMarks = []struct{ name, bytes string }{
	{"UTF-32", "\xff\xfe\x00\x00"}, {"UTF-32", "\x00\x00\xfe\xff"}, {"UTF-16", "\xff\xfe"}, {"UTF-16", "\xfe\xff"},
}

// Mark returns how many bytes at the head of a file are a byte order mark, not data.
// A file in UTF-16 or UTF-32 is an error.
func Mark(head []byte) (int, error) {
	const utf8 = "\xef\xbb\xbf"
	if bytes.HasPrefix(head, []byte(utf8)) {
		return len(utf8), nil
	}
	for _, m := range orderMarks {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return 0, errs.New(errs.InvalidArgument, "csv", "the file begins with the byte order mark of %s; convert it to UTF-8", m.name)
		}
	}
	return 0, nil
}
