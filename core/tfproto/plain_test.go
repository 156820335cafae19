package tfproto

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPlainExamplesAreReadAsOthers reads examples of the form that writers make, and
// nearly of it, and the same ones with fields that nobody knows, which are read the
// general way.
func TestPlainExamplesAreReadAsOthers(t *testing.T) {
	unknown, places := []byte{15 << 3, 1}, regexp.MustCompile(`at byte \d+ of its \d+`)
	features := []Feature{{Key: "x", Type: Float, Size: 2}, {Key: "y", Type: Int64, Size: 1}, {Key: "s", Type: Bytes, Size: 1},
		{Key: "v", Type: Int64, Shape: Var}, {Key: "d", Type: Float, Size: 1, Default: &Column{Values: packedFloats(7)}}}
	long := string(make([]byte, 200))
	examples := func(kv func(key string, value []byte) []byte) map[string][]byte {
		x, y, s, v := kv("x", floats(1, 2)), kv("y", ints(1<<40)), kv("s", texts("text")), kv("v", ints(1, 2, 3))
		return map[string][]byte{
			"plain":                  example(s, x, y, v),
			"other order":            example(y, v, x, s),
			"a long text":            example(x, kv("s", texts(long)), y, v),
			"a long key":             example(kv(long, texts("")), x, y, s, v),
			"twice":                  example(x, y, s, v, kv("x", floats(3, 4))),
			"twice, empty at last":   example(x, y, s, v, kv("x", nil)),
			"with a default's value": example(x, y, s, v, kv("d", floats(9))),
			"one float too many":     example(kv("x", floats(1, 2, 3)), y, s, v),
			"one int too many":       example(x, kv("y", ints(1, 2)), s, v),
			"two texts":              example(x, y, kv("s", texts("a", "b")), v),
			"another type":           example(x, kv("y", floats(1)), s, v),
			"one is missing":         example(x, y, v),
			"an empty list":          example(x, y, s, kv("v", ints())),
			"nothing":                example(),
			"floats that are cut":    example(kv("x", field(2, field(1, 1, 2, 3, 4, 5, 6, 7)...)), y, s, v),
			"an int that is cut":     example(x, kv("y", field(3, field(1, 0x80)...)), s, v),
		}
	}
	general := examples(func(key string, value []byte) []byte {
		if len(value) > 0 {
			value = slices.Concat(value, unknown)
		}
		return kv(key, value)
	})
	for name, e := range examples(kv) {
		t.Run(name, func(t *testing.T) {
			p := want(t, features...)
			columns, others := make([]Column, len(features)), make([]Column, len(features))
			n, err := p.Parse(serialized(e, e), columns)
			other := slices.Concat(general[name], unknown)
			m, why := p.Parse(serialized(other, other), others)
			require.Equal(t, m, n)
			require.Equal(t, places.ReplaceAllString(fmt.Sprint(why), ""), places.ReplaceAllString(fmt.Sprint(err), ""))
			for i := range columns {
				require.Equal(t, others[i].Splits, columns[i].Splits)
				require.Equal(t, others[i].Offsets, columns[i].Offsets)
				require.Equal(t, string(others[i].Values), string(columns[i].Values))
			}
		})
	}
}
