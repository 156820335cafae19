// Package record reads files of records a block at a time, and writes them.
//
// Terms. A [Format] is how records lie in a file: TFRecord frames, lines of text,
// records of a fixed length. A [Reader] walks over the records of files one after
// the other, compressed or not; each call gives a [Block]: the bytes of a run of
// records of one file, and where in them each record is. Nothing is copied or
// allocated for a record. A [Token] is a file and an offset in what it holds when
// decompressed; reading from the token of a block gives the block's records again,
// and those after it. An [Index] makes uncompressed files random access.
//
// How many records come in a block is an accident: nothing else may depend on it.
//
// Damage. What is torn, cut or corrupt is a DataLoss error with the path and the
// offset of the record, after all records before it were given. A [Policy] may
// leave it out instead, counted and with places. A length read from a file is
// trusted only as far as there are bytes: memory is that of the records there are.
package record

import "infeed/core/errs"

// Policy says what becomes of damaged records.
type Policy uint8

// The policies.
const (
	Raise    Policy = iota // an error
	Skip                   // the record is left out; what follows is found again
	Truncate               // the file ends before it
)

var policies = map[string]Policy{"raise": Raise, "skip": Skip, "truncate": Truncate}

// ParsePolicy reads the name of a policy.
func ParsePolicy(name string) (Policy, error) {
	if p, ok := policies[name]; ok {
		return p, nil
	}
	return Raise, errs.New(errs.InvalidArgument, "errors", `%q is none of "raise", "skip", "truncate"`, name)
}

// Token says where reading can begin again. The zero Token is the beginning.
type Token struct {
	File   int   `json:"file"`
	Offset int64 `json:"offset"`
}

// Damage is what a policy left out.
type Damage struct {
	Count  int64   // damaged places; what is lost at one may be several records
	Places []error // of the first of them, maxPlaces at most
}

const maxPlaces = 16

func (d *Damage) add(place error) {
	d.Count++
	if len(d.Places) < maxPlaces {
		d.Places = append(d.Places, place)
	}
}

func (d *Damage) merge(more Damage) {
	d.Count += more.Count
	d.Places = append(d.Places, more.Places[:min(len(more.Places), maxPlaces-len(d.Places))]...)
}
