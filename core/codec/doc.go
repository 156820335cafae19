// Package codec turns compressed streams of bytes into the bytes they were made
// of, and back.
//
// A [Kind] names a compression by tf.data's names. A [Reader] takes several
// members one after the other as one stream (what `cat a.gz b.gz` gives), and zeros
// after the last as nothing. A stream that is cut, corrupt or of another kind is a
// DataLoss error with the path, the place in the compressed file and, where it can
// be told, what the content looks like. No bytes at all are an empty stream.
//
// Memory is bounded by the compression's window, 128 MiB at most, whatever the
// stream claims. Nothing here starts a goroutine.
package codec

import (
	"strings"

	"infeed/core/errs"
)

// Kind is a compression.
type Kind uint8

// The kinds. Auto is for reading: the content tells.
const (
	None Kind = iota
	Gzip
	Zlib
	Zstd
	Auto
)

var names = []string{"NONE", "GZIP", "ZLIB", "ZSTD", "AUTO"}

// String returns the name that [Parse] reads.
func (k Kind) String() string { return names[k] }

// Parse reads the name of a kind; no name is None.
func Parse(name string) (Kind, error) {
	if name == "" {
		return None, nil
	}
	for i, n := range names {
		if n == name {
			return Kind(i), nil
		}
	}
	return None, errs.New(errs.InvalidArgument, "compression", "%q is none of %s, or None", name, strings.Join(names, ", "))
}
