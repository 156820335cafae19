package tfproto

import (
	"slices"

	"infeed/core/errs"
)

// Type is the type of a feature's values. Its number is that of the field of
// tf.train.Feature that holds them.
type Type uint8

// The types.
const (
	Bytes Type = 1
	Float Type = 2 // 32 bits
	Int64 Type = 3
)

var typeNames = []string{"nothing", "string", "float32", "int64"}

func (t Type) String() string { return typeNames[t] }

// width returns how many bytes a number takes.
func (t Type) width() int { return widths[t] }

var widths = [...]int{Float: 4, Int64: 8}

// Shape says how many values a feature has in an example.
type Shape uint8

// The shapes, after tf.io.FixedLenFeature, VarLenFeature and
// FixedLenSequenceFeature.
const (
	Fixed    Shape = iota // Size values; Default if there are none
	Var                   // any number
	Sequence              // any number of steps of Size values
)

// Feature is what is wanted of examples.
type Feature struct {
	Key   string
	Type  Type
	Shape Shape
	Size  int64 // values in all of a Fixed feature, or in each step of a Sequence
	// Default holds the Size values that an example without a Fixed feature gets;
	// nil makes it an error.
	Default *Column
	// Required makes an example without a Sequence an error. In feature lists only.
	Required bool
}

// Column is the values of a feature of a run of examples.
type Column struct {
	// Values holds numbers one after the other, little-endian, or the bytes of
	// strings.
	Values []byte
	// Offsets, for strings: string i is Values[Offsets[i]:Offsets[i+1]].
	Offsets []int64
	// Splits, for Var and Sequence: example i has the values, or steps, from
	// Splits[i] to Splits[i+1].
	Splits []int64
	// Steps, for Var in feature lists: step i has the values from Steps[i] to
	// Steps[i+1].
	Steps []int64
}

// Count returns how many values of a type there are.
func (c *Column) Count(t Type) int64 {
	if t == Bytes {
		return int64(len(c.Offsets)) - 1
	}
	return int64(len(c.Values) / t.width())
}

// cut leaves the first n values.
func (c *Column) cut(t Type, n int64) {
	if t == Bytes {
		c.Offsets = c.Offsets[:n+1]
		c.Values = c.Values[:c.Offsets[n]]
	} else {
		c.Values = c.Values[:n*int64(t.width())]
	}
}

// reset empties a column for a feature, and makes room for rows if that is no more
// than the examples themselves suggest.
func (c *Column) reset(f *Feature, rows int) {
	const suggested = 64 << 20
	*c = Column{c.Values[:0], c.Offsets[:0], c.Splits[:0], c.Steps[:0]}
	if f.Type == Bytes {
		c.Offsets = append(c.Offsets, 0)
	} else if f.Shape == Fixed && f.Size < suggested/8/int64(max(rows, 1)) {
		c.Values = slices.Grow(c.Values, rows*int(f.Size)*f.Type.width())
	}
	if f.Shape != Fixed {
		c.Splits = append(c.Splits, 0)
	}
}

// Text returns string i of a column.
func (c *Column) Text(i int) []byte { return c.Values[c.Offsets[i]:c.Offsets[i+1]] }

// Serialized is a run of serialized messages in one piece of memory: message i is
// Data[Starts[i]:Ends[i]]. First is the number of the first for messages of errors, or
// Unnumbered.
type Serialized struct {
	Data         []byte
	Starts, Ends []int64
	First        int64
}

// Unnumbered is the First of messages that an error need not tell apart.
const Unnumbered int64 = -1

// check looks whether features make sense.
func check(features []Feature) error {
	seen := map[string]bool{}
	for i := range features {
		f := &features[i]
		switch {
		case f.Type < Bytes || f.Type > Int64:
			return errs.New(errs.InvalidArgument, "parse_example", "feature %q has no type; there are float32, int64 and string", f.Key)
		case seen[f.Key]:
			return errs.New(errs.InvalidArgument, "parse_example", "feature %q is asked for twice", f.Key)
		case f.Size < 0 || f.Size > 1<<40:
			return errs.New(errs.InvalidArgument, "parse_example", "feature %q has a shape of %d values", f.Key, f.Size)
		case f.Shape == Sequence && f.Size == 0:
			return errs.New(errs.InvalidArgument, "parse_example", "feature %q has steps of no values, which cannot be counted", f.Key)
		case f.Default != nil && f.Shape != Fixed:
			return errs.New(errs.InvalidArgument, "parse_example", "feature %q has any number of values, and a default", f.Key)
		case f.Default != nil && f.Default.Count(f.Type) != f.Size:
			return errs.New(errs.InvalidArgument, "parse_example", "feature %q has a default of %d values; its shape asks for %d", f.Key, f.Default.Count(f.Type), f.Size)
		}
		seen[f.Key] = true
	}
	return nil
}
