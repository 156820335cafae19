package csvtext

import (
	"fmt"

	"infeed/core/errs"
)

// Fault says what is wrong with a row, and where.
type Fault struct {
	Row    int // index in what the call was given, from 0
	Offset int // where the row begins there
	Column int // index of the field in the row, from 0; -1 if the row as a whole is wrong
	Text   string
}

// In returns the fault as an error of a file; base is the offset in the file of what
// the call was given.
func (f *Fault) In(path string, base int64) *errs.Error {
	e := errs.New(errs.InvalidArgument, "csv", "%s", f.Text)
	e.Path, e.Offset = path, base+int64(f.Offset)
	return e
}

// problem is what can be wrong with how a field is written.
type problem uint8

const (
	none problem = iota
	quoteInside
	quoteAlone
	noQuote
	lineInside
)

var problems = [...]string{
	quoteInside: "has a quote inside, and does not begin with one; put it in quotes and write quotes in it twice, or read without quotes (use_quote_delim=False)",
	quoteAlone:  "has a quote inside that is not written twice; write it twice",
	noQuote:     "begins with a quote and has none at its end; add it, write quotes inside twice, or read without quotes (use_quote_delim=False)",
	lineInside:  "has a line end inside and is not in quotes; give one row a string, without its line end",
}

func wrongField(column int, p problem, text []byte) *Fault {
	return &Fault{Column: column, Text: fmt.Sprintf("field %d, %s, %s", column, excerpt(text), problems[p])}
}

func wrongValue(column int, c Column, text []byte) *Fault {
	return &Fault{Column: column, Text: fmt.Sprintf("field %d is not a valid %s: %s; correct it, or read the column as bytes", column, c.DType, excerpt(text))}
}

func wrongMissing(column int) *Fault {
	return &Fault{Column: column, Text: fmt.Sprintf("field %d is required but missing; give it a value, or its column a default", column)}
}

func wrongCount(got, want int, open bool, row []byte) *Fault {
	need := "are expected"
	if open {
		need = "at least are needed for the selected columns"
	}
	return &Fault{Column: -1, Text: fmt.Sprintf("the row %s has %d fields, and %d %s; correct it, or the list of columns", excerpt(row), got, want, need)}
}

// excerpt quotes the beginning of a text.
func excerpt(text []byte) string {
	const most = 60
	if len(text) > most {
		return fmt.Sprintf("%q...", text[:most])
	}
	return fmt.Sprintf("%q", text)
}
