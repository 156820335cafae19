// Package errs holds the one error type of infeed.
//
// Every error that can reach a user has a [Kind]. A kind has a number, and the
// number is a contract: C returns it negated as a status, Python maps it to an
// exception class, and it never changes. An [Error] also says during which
// operation it happened, where (path and offset, when there is a place), and
// what caused it.
//
// The end of a sequence is not an error kind: it is a bare io.EOF.
package errs

import (
	"errors"
	"fmt"
	"strings"
)

// Kind is the class of an error. The zero Kind is not valid.
type Kind int32

// The kinds. Their numbers are frozen; new kinds are added at the end.
const (
	InvalidArgument   Kind = 1
	NotFound          Kind = 2
	AlreadyExists     Kind = 3
	DataLoss          Kind = 4
	StateMismatch     Kind = 5
	ResourceExhausted Kind = 6
	Worker            Kind = 7
	Timeout           Kind = 8
	ForkedProcess     Kind = 9
	Cancelled         Kind = 10
	Unimplemented     Kind = 11
	Internal          Kind = 12
)

var names = map[Kind]string{
	InvalidArgument:   "InvalidArgument",
	NotFound:          "NotFound",
	AlreadyExists:     "AlreadyExists",
	DataLoss:          "DataLoss",
	StateMismatch:     "StateMismatch",
	ResourceExhausted: "ResourceExhausted",
	Worker:            "Worker",
	Timeout:           "Timeout",
	ForkedProcess:     "ForkedProcess",
	Cancelled:         "Cancelled",
	Unimplemented:     "Unimplemented",
	Internal:          "Internal",
}

func (k Kind) String() string {
	if n, ok := names[k]; ok {
		return n
	}
	return fmt.Sprintf("Kind(%d)", int32(k))
}

// Error is the error type of infeed. Unset fields are left out of the text.
type Error struct {
	Op     string // the operation that failed, such as "batch"
	Kind   Kind
	Path   string // the file concerned
	Offset int64  // place in the file; meaningful only with Path
	Text   string // what was given and what to do
	Err    error  // the cause
}

// New returns an error of the given kind; the text is formatted as by fmt.Sprintf.
func New(kind Kind, op, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Text: fmt.Sprintf(format, args...)}
}

// Wrap returns an error of the given kind caused by err.
func Wrap(err error, kind Kind, op, format string, args ...any) *Error {
	return &Error{Op: op, Kind: kind, Text: fmt.Sprintf(format, args...), Err: err}
}

func (e *Error) Error() string {
	var parts []string
	if e.Op != "" {
		parts = append(parts, e.Op)
	}
	if e.Path != "" {
		parts = append(parts, fmt.Sprintf("%s at byte %d", e.Path, e.Offset))
	}
	if e.Text != "" {
		parts = append(parts, e.Text)
	}
	if e.Err != nil {
		parts = append(parts, e.Err.Error())
	}
	return strings.Join(parts, ": ")
}

func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of the outermost [Error] in err's chain. An error
// without a kind is ours to explain: Internal.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return Internal
}

// Place returns the file, and the place in it, that err or the first of its causes
// to name one names; no path where none does.
func Place(err error) (path string, offset int64) {
	for e := (*Error)(nil); errors.As(err, &e); err = e.Err {
		if e.Path != "" {
			return e.Path, e.Offset
		}
	}
	return "", 0
}
