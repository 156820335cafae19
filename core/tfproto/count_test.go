package tfproto

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is counted is what would be read.
func TestCountsAreOfWhatIsRead(t *testing.T) {
	long := []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}
	for name, feature := range map[string][]byte{
		"nothing":             nil,
		"floats":              floats(1, 2, 3),
		"no floats":           floats(),
		"ints":                ints(1, -1, 1<<40),
		"texts":               texts("a", "", "bc"),
		"one by one":          field(2, join([]byte{tagFloat}, packedFloats(1), []byte{tagFloat}, packedFloats(2))...),
		"ints one by one":     field(3, join([]byte{tagInt}, packedInts(1), []byte{tagInt}, packedInts(1<<50))...),
		"both ways":           field(2, join(field(1, packedFloats(1)...), []byte{tagFloat}, packedFloats(2))...),
		"two lists":           join(floats(1, 2), floats(3)),
		"another type, last":  join(floats(1, 2), ints(3)),
		"another type, first": join(ints(3), floats(1, 2)),
		"more fields":         join([]byte{5<<3 | wireVarint, 7}, floats(1), []byte{15<<3 | wireGroup, 15<<3 | wireGroupTo}),
		"cut floats":          field(2, field(1, 1, 2, 3)...),
		"a cut number":        field(3, field(1, 0x80)...),
		"eleven bytes":        field(3, field(1, long...)...),
		"a cut list":          floats(1, 2)[:7],
		"no tag":              {0},
		"a field of no list":  field(2, field(2, 1)...),
		"another wire type":   field(2, 1<<3|wireVarint, 1),
		"text cut":            {1<<3 | wireBytes, 3, 1<<3 | wireBytes, 9, 'a'},
	} {
		for _, want := range []Type{Bytes, Float, Int64} {
			var c Column
			c.reset(&Feature{Type: want, Shape: Var}, 1)
			have, ok := c.appendFeature(want, cursor{b: feature})
			n, counted, okCounted := countFeature(want, cursor{b: feature})
			require.Equal(t, ok, okCounted, "%s as %v", name, want)
			if ok {
				require.Equal(t, have, counted, "%s as %v", name, want)
			}
			if ok && have == want {
				require.Equal(t, c.Count(want), n, "%s as %v", name, want)
			}
		}
	}
}

// An example with far too many values takes no memory for them.
func TestFarTooManyValuesAreNotRead(t *testing.T) {
	many := make([]float32, 1<<20)
	numbers := make([]int64, 1<<20)
	strings := make([]string, 1<<18)
	for kind, value := range map[Type][]byte{Float: join(floats(many...), floats(1)), Int64: ints(numbers...), Bytes: texts(strings...)} {
		f := Feature{Key: "x", Type: kind, Size: 2}
		columns := make([]Column, 1)
		n, err := want(t, f).Parse(serialized(example(kv("x", value))), columns)
		require.Zero(t, n)
		require.ErrorContains(t, err, `feature "x" has `+map[Type]string{Float: "1048577", Int64: "1048576", Bytes: "262144"}[kind]+" values; its shape asks for 2")
		require.Less(t, cap(columns[0].Values)+8*cap(columns[0].Offsets), 1000)

		f.Shape = Sequence
		p, err := NewSequenceParser(nil, []Feature{f})
		require.NoError(t, err)
		lists := make([]Column, 1)
		_, err = p.Parse(serialized(sequence(nil, kv("x", steps(value)))), nil, lists)
		require.ErrorContains(t, err, `feature list "x", step 0 has `)
		require.Less(t, cap(lists[0].Values)+8*cap(lists[0].Offsets), 1000)
	}
}
