package tfproto

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
)

// raggedRow is a variant that TensorFlow wrote: [[2, 6], [3]] as row splits and values.
const raggedRow = "08151200223d3c0a1352616767656454656e736f7256617269616e741a0d08091204120208035203000203" +
	"1a1608011204120208032a0c000000400000c04000004040"

func TestVariantsHoldTensors(t *testing.T) {
	b, err := hex.DecodeString(raggedRow)
	require.NoError(t, err)
	require.Equal(t, VariantType, TypeOf(b))
	shape, values, err := ReadVariants(b)
	require.NoError(t, err)
	require.Empty(t, shape)
	require.Len(t, values, 1)
	require.Equal(t, "RaggedTensorVariant", values[0].Name)
	require.Len(t, values[0].Tensors, 2)
	splits, err := ReadTensor(values[0].Tensors[0])
	require.NoError(t, err)
	require.Equal(t, []byte("\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x00\x00"), splits.Data)
	flat, err := ReadTensor(values[0].Tensors[1])
	require.NoError(t, err)
	require.Equal(t, []int64{3}, flat.Shape)

	// The same in a field of its own, as the classes of protocol buffers write it.
	own := append([]byte("\x08\x15\x12\x00\x7a"), b[6:]...)
	_, again, err := ReadVariants(own)
	require.NoError(t, err)
	require.Equal(t, values, again)

	for n := range b {
		if _, _, err := ReadVariants(b[:n]); err != nil {
			require.True(t, isInvalid(err), "cut at %d: %v", n, err)
		}
	}
}

func TestWhatIsNoVariant(t *testing.T) {
	for text, b := range map[string]string{
		"is not variant":       "\x08\x01\x12\x00\x22\x04\x00\x00\x80\x3f",
		"0 variants":           "\x08\x15\x12\x00",
		"its shape is [3]":     "\x08\x15\x12\x04\x12\x02\x08\x03\x22\x02\x01a",
		"variant 0 cannot":     "\x08\x15\x12\x00\x22\x02\x01\x0a",
		"its shape is [-1]":    "\x08\x15\x12\x0d\x12\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
		"2 variants that can":  "\x08\x15\x12\x00\x7a\x00\x7a\x00",
		"number 0 of Tensor":   "",
		"cut, corrupt, or no ": "\xff",
	} {
		_, _, err := ReadVariants([]byte(b))
		require.True(t, isInvalid(err), "%q: %v", b, err)
		require.ErrorContains(t, err, text)
	}
	require.Zero(t, TypeOf([]byte("\xff")))
	require.Zero(t, TypeOf(nil))
	require.Equal(t, String, TypeOf([]byte("\x12\x00\x08\x07")))
}
