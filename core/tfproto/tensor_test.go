package tfproto

import (
	"encoding/base64"
	"encoding/hex"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/errs"
	"infeed/internal/testkit"
)

// Tensors that TensorFlow wrote, in each of the ways in which it writes them, and
// ones written by hand that it read.
func TestTensorsOfTensorFlow(t *testing.T) {
	var golden struct {
		Tensors []struct {
			Name, DType, Data string
			Shape             []int64
			Strings           []string
			Serialized, Typed string
			MadeByProto       string `json:"make_tensor_proto"`
		}
	}
	testkit.JSON(t, testkit.TF(t, "tensors.json"), &golden)
	require.Greater(t, len(golden.Tensors), 100)
	for _, g := range golden.Tensors {
		for _, message := range []string{g.Serialized, g.MadeByProto, g.Typed} {
			if message == "" {
				continue
			}
			b, err := hex.DecodeString(message)
			require.NoError(t, err)
			got, err := ReadTensor(b)
			require.NoError(t, err, g.Name)
			require.Equal(t, g.DType, got.Type.Name(), g.Name)
			require.Equal(t, g.Shape, append([]int64{}, got.Shape...), g.Name)
			if got.Type == String {
				strings := []string{}
				for i := range len(got.Offsets) - 1 {
					strings = append(strings, base64.StdEncoding.EncodeToString(got.Data[got.Offsets[i]:got.Offsets[i+1]]))
				}
				require.Equal(t, append([]string{}, g.Strings...), strings, g.Name)
			} else {
				require.Equal(t, g.Data, hex.EncodeToString(got.Data), g.Name)
			}
			if message == g.Serialized {
				require.Equal(t, b, AppendTensor(nil, got), g.Name)
			}
			for n := range b { // cut anywhere, it is an error or another, smaller tensor
				if cut, err := ReadTensor(b[:n]); err != nil {
					require.True(t, isInvalid(err), "%s cut at %d: %v", g.Name, n, err)
				} else {
					require.LessOrEqual(t, len(cut.Shape), len(got.Shape))
				}
			}
		}
	}
}

func TestStringsInContent(t *testing.T) {
	b := []byte("\x08\x07\x12\x04\x12\x02\x08\x02\x22\x05\x02\x01abc")
	got, err := ReadTensor(b)
	require.NoError(t, err)
	require.Equal(t, &Tensor{Type: String, Shape: []int64{2}, Data: []byte("abc"), Offsets: []int64{0, 2, 3}}, got)
	for name, b := range map[string]string{
		"too many bytes":    "\x08\x07\x12\x04\x12\x02\x08\x02\x22\x06\x02\x01abcd",
		"too few":           "\x08\x07\x12\x04\x12\x02\x08\x02\x22\x04\x02\x01ab",
		"huge":              "\x08\x07\x12\x04\x12\x02\x08\x02\x22\x0c\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x01a",
		"more than fit":     "\x08\x07\x12\x08\x12\x06\x08\x80\x80\x80\x80\x01\x22\x03\x01\x01a",
		"lengths that wrap": "\x08\x07\x12\x04\x12\x02\x08\x02\x22\x14\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
		"no length at all":  "\x08\x07\x12\x04\x12\x02\x08\x02\x22\x01\x80",
	} {
		_, err := ReadTensor([]byte(b))
		require.True(t, isInvalid(err), "%s: %v", name, err)
	}
}

func TestWhatIsNoTensor(t *testing.T) {
	for text, b := range map[string]string{
		"dtype is number 0":                            "",
		"dtype is number 20":                           "\x08\x14\x12\x00",
		"shape is [-1]":                                "\x08\x01\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"shape is [4611686018427387904 4]":             "\x08\x01\x12\x10\x12\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x40\x12\x02\x08\x04",
		"[2] values of float32 take 8 bytes; it has 4": "\x08\x01\x12\x04\x12\x02\x08\x02\x22\x04\x00\x00\x80?",
		"at byte 1 of its 1 is cut":                    "\xff",
		"values of int32 cannot be read":               "\x08\x03\x12\x04\x12\x02\x08\x02\x3a\x02\x05\x80",
		"values of float32 cannot be read":             "\x08\x01\x12\x04\x12\x02\x08\x02\x28\x05",
	} {
		_, err := ReadTensor([]byte(b))
		require.True(t, isInvalid(err), "%q: %v", b, err)
		require.ErrorContains(t, err, text)
	}
}

// A few bytes do not become gigabytes.
func TestTensorsAreNotBlownUp(t *testing.T) {
	for name, b := range map[string]string{
		"content": "\x08\x07\x12\x08\x12\x06\x08\x80\x80\x80\x80\x04\x22\x02\x01a",
		"numbers": "\x08\x01\x12\x08\x12\x06\x08\x80\x80\x80\x80\x04\x2a\x04\x00\x00\x80?",
		"zeros":   "\x08\x01\x12\x08\x12\x06\x08\x80\x80\x80\x80\x04",
		"strings": "\x08\x07\x12\x08\x12\x06\x08\x80\x80\x80\x80\x04\x42\x01a",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := ReadTensor([]byte(b))
		runtime.ReadMemStats(&after)
		want := errs.ResourceExhausted
		if name == "content" {
			want = errs.InvalidArgument
		}
		require.Equal(t, want, errs.KindOf(err), "%s: %v", name, err)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20), name)
	}
}

func TestDataTypes(t *testing.T) {
	for n, d := range dataTypes {
		back, ok := DataTypeOf(d.name)
		require.True(t, ok)
		require.Equal(t, n, back)
		_, plain := n.DType()
		require.Equal(t, n != String, plain)
	}
	_, ok := DataTypeOf("int3")
	require.False(t, ok)
	require.Empty(t, DataType(33).Name())
}
