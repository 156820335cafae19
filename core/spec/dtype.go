package spec

import (
	"fmt"
	"strconv"
	"strings"

	"infeed/core/errs"
)

// DType is the type of one value. Kind is NumPy's letter: b bool, i and u
// integers, f floats, c complex, S bytes and U text of a fixed size, M and m
// times, V any other fixed-size value, O [Text]. Size is in bytes. Label is what else
// Python has to know: the unit of times, the name of what NumPy itself does not have.
type DType struct {
	Kind  byte
	Size  int64
	Label string
}

// sizes lists which sizes a kind has; other kinds have any.
var sizes = map[byte][]int64{
	'b': {1}, 'i': {1, 2, 4, 8}, 'u': {1, 2, 4, 8}, 'f': {2, 4, 8, 16}, 'c': {8, 16, 32}, 'M': {8}, 'm': {8},
	'S': nil, 'U': nil, 'V': nil, 'O': {8},
}

// Text is the dtype of strings of bytes of any length: NumPy's object. Its values
// take no room of a fixed size.
var Text = DType{Kind: 'O'}

// ParseDType reads NumPy's dtype.str, such as "<f4", "|b1", "|S5", "<M8[ns]" or "|O",
// or "|V2[bfloat16]". Only the byte order of this machine is known.
func ParseDType(s string) (DType, error) {
	bad := errs.New(errs.InvalidArgument, "dtype", "%q is not a dtype of values in native byte order", s)
	if len(s) < 2 || !strings.ContainsRune("<|=", rune(s[0])) {
		return DType{}, bad
	}
	digits, label, _ := strings.Cut(s[2:], "[")
	if s[1] == 'O' && digits == "" {
		digits = "8"
	}
	size, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || size < 0 {
		return DType{}, bad
	}
	d := DType{Kind: s[1], Size: size, Label: strings.TrimSuffix(label, "]")}
	if d.Kind == 'U' {
		d.Size *= 4
	} else if d.Kind == 'O' {
		d.Size = 0
	}
	allowed, known := sizes[d.Kind]
	if !known {
		return DType{}, bad
	}
	for _, n := range allowed {
		if n == size {
			return d, nil
		}
	}
	if allowed != nil {
		return DType{}, bad
	}
	return d, nil
}

// Code returns what ParseDType reads.
func (d DType) Code() string {
	order, size := "<", strconv.FormatInt(d.Size, 10)
	if d.Size <= 1 || strings.IndexByte("bSVO", d.Kind) >= 0 {
		order = "|"
	}
	if d.Kind == 'U' {
		order, size = "<", strconv.FormatInt(d.Size/4, 10)
	} else if d.Kind == 'O' {
		size = ""
	}
	out := order + string(d.Kind) + size
	if d.Label != "" {
		out += "[" + d.Label + "]"
	}
	return out
}

// String returns NumPy's name: float32, bool, bytes5, str3.
func (d DType) String() string {
	switch d.Kind {
	case 'b':
		return "bool"
	case 'O':
		return "object"
	case 'S':
		return fmt.Sprintf("bytes%d", d.Size)
	case 'U':
		return fmt.Sprintf("str%d", d.Size/4)
	case 'V':
		if d.Label != "" {
			return d.Label
		}
		return fmt.Sprintf("void%d", d.Size)
	}
	names := map[byte]string{'i': "int", 'u': "uint", 'f': "float", 'c': "complex", 'M': "datetime", 'm': "timedelta"}
	return fmt.Sprintf("%s%d", names[d.Kind], d.Size*8)
}
