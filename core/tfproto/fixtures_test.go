package tfproto

import (
	"encoding/base64"
	"encoding/binary"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/internal/testkit"
)

// records takes a TFRecord file apart; reading them safely is not the matter here.
func records(t *testing.T, name string) (messages [][]byte) {
	t.Helper()
	data, err := os.ReadFile(testkit.TF(t, name))
	require.NoError(t, err)
	for len(data) > 0 {
		n := binary.LittleEndian.Uint64(data)
		messages = append(messages, data[12:12+n])
		data = data[16+n:]
	}
	return messages
}

// list is the values of a feature as the fixtures write them.
type list struct {
	Kind   string
	Values []any
}

// read returns the values as Go values of a type.
func (l list) read(t *testing.T) []any {
	t.Helper()
	out := []any{}
	for _, v := range l.Values {
		switch l.Kind {
		case "float":
			f, err := strconv.ParseFloat(v.(string), 32)
			require.NoError(t, err)
			out = append(out, float32(f))
		case "int64":
			n, err := strconv.ParseInt(v.(interface{ String() string }).String(), 10, 64)
			require.NoError(t, err)
			out = append(out, n)
		case "bytes":
			b, err := base64.StdEncoding.DecodeString(v.(string))
			require.NoError(t, err)
			out = append(out, string(b))
		}
	}
	return out
}

var types = map[string]Type{"x": Float, "maybe": Float, "y": Int64, "name": Bytes, "frames": Float, "tokens": Bytes, "len": Int64, "id": Bytes}

func TestExamplesOfTensorFlow(t *testing.T) {
	var expected struct{ Examples []map[string]list }
	testkit.JSON(t, testkit.TF(t, "tfrecord/examples.tfrecord.expected.json"), &expected)
	in := serialized(records(t, "tfrecord/examples.tfrecord")...)
	require.Len(t, in.Starts, len(expected.Examples))
	var features []Feature
	for _, key := range []string{"x", "y", "name", "maybe"} {
		features = append(features, Feature{Key: key, Type: types[key], Shape: Var})
	}
	columns := make([]Column, len(features))
	_, err := want(t, features...).Parse(in, columns)
	require.NoError(t, err)
	for i, f := range features {
		all := columns[i].values(f.Type)
		for row, e := range expected.Examples {
			require.Equal(t, e[f.Key].read(t), all[columns[i].Splits[row]:columns[i].Splits[row+1]], "%s of %d", f.Key, row)
		}
	}
	// As fixed features, the one without x and that with two are errors.
	for row, text := range map[int]string{7: "the example has none at all", 12: "has 2 values; its shape asks for 4"} {
		n, err := want(t, Feature{Key: "x", Type: Float, Size: 4}).Parse(Serialized{in.Data, in.Starts[row:], in.Ends[row:], int64(row)}, columns)
		require.Zero(t, n)
		require.ErrorContains(t, err, text)
	}
	n, err := want(t, Feature{Key: "x", Type: Float, Size: 4}).Parse(in, columns)
	require.Error(t, err)
	require.Equal(t, 7, n)
}

func TestSequenceExamplesOfTensorFlow(t *testing.T) {
	var expected struct {
		Examples []struct {
			Context map[string]list
			Lists   map[string][]list `json:"feature_lists"`
		} `json:"sequence_examples"`
	}
	testkit.JSON(t, testkit.TF(t, "tfrecord/sequence.tfrecord.expected.json"), &expected)
	in := serialized(records(t, "tfrecord/sequence.tfrecord")...)
	context := []Feature{{Key: "len", Type: Int64, Size: 1}, {Key: "id", Type: Bytes, Size: 1}}
	lists := []Feature{{Key: "frames", Type: Float, Shape: Sequence, Size: 2}, {Key: "tokens", Type: Bytes, Shape: Var}}
	p, err := NewSequenceParser(context, lists)
	require.NoError(t, err)
	inContext, inLists := make([]Column, 2), make([]Column, 2)
	n, err := p.Parse(in, inContext, inLists)
	require.NoError(t, err)
	require.Equal(t, len(expected.Examples), n)
	for row, e := range expected.Examples {
		for i, f := range context {
			require.Equal(t, e.Context[f.Key].read(t), inContext[i].values(f.Type)[row:row+1])
		}
		for i, f := range lists {
			c := &inLists[i]
			from, to := c.Splits[row], c.Splits[row+1]
			require.Equal(t, int64(len(e.Lists[f.Key])), to-from)
			for k, step := range e.Lists[f.Key] {
				first, last := (from+int64(k))*2, (from+int64(k)+1)*2
				if f.Shape == Var {
					first, last = c.Steps[from+int64(k)], c.Steps[from+int64(k)+1]
				}
				require.Equal(t, step.read(t), c.values(f.Type)[first:last])
			}
		}
	}
}
