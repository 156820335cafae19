package snapshot

import (
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/s2"

	"infeed/core/errs"
	"infeed/core/tfproto"
)

// Versions 0 and 1 of tf.data's snapshots have one record an element, a SnapshotRecord of
// its tensors; compressed with SNAPPY, version 1 has two: what tensors there are, and
// all their bytes as Snappy data. No checksum tells whether they are what was written.

// legacyHead is where in a file the first record begins.
const legacyHead = 8

// plainLegacy tells whether a file begins with a record of tensors, of less than 4 GiB.
func plainLegacy(head []byte) bool {
	return len(head) > legacyHead && le.Uint32(head[4:]) == 0 && head[legacyHead] == 1<<3|2
}

// packedLegacy tells whether that record only says what tensors there are: a TensorProto
// begins with its dtype, which is never 0, and what is known of a tensor without one.
func packedLegacy(head []byte) bool {
	_, n := binary.Uvarint(head[legacyHead+1:])
	at := legacyHead + 1 + n
	return n > 0 && len(head) > at && head[at] != 1<<3|0
}

// packedTensor is a TensorMetadata: what is known of a tensor whose bytes are elsewhere.
type packedTensor struct {
	shape []int64
	bytes uint64
}

// readPacked reads a SnapshotTensorMetadata.
func readPacked(b []byte) (out []packedTensor, ok bool) {
	ok = protoFields(b, func(field int, _ uint64, data []byte) bool {
		if field != 1 {
			return true
		}
		t := packedTensor{shape: []int64{}}
		whole := protoFields(data, func(field int, value uint64, data []byte) bool {
			switch field {
			case 2:
				var known bool
				t.shape, known = readTFShape(data)
				return known
			case 3:
				t.bytes = value
			}
			return true
		})
		out = append(out, t)
		return whole
	})
	return out, ok
}

// readTFShape reads the TensorShapeProto of a tensor.
func readTFShape(b []byte) ([]int64, bool) {
	shape := []int64{}
	ok := protoFields(b, func(field int, _ uint64, data []byte) bool {
		if field != 2 {
			return true
		}
		n := int64(0)
		ok := protoFields(data, func(field int, value uint64, _ []byte) bool {
			if field == 1 {
				n = int64(value)
			}
			return true
		})
		shape = append(shape, n)
		return ok && n >= 0
	})
	return shape, ok
}

// unpackLegacy returns the TensorProtos of the n tensors of a SnapshotRecord.
func unpackLegacy(b []byte, n int) ([][]byte, error) {
	var out [][]byte
	ok := protoFields(b, func(field int, _ uint64, data []byte) bool {
		if field == 1 {
			out = append(out, data)
		}
		return len(out) <= n
	})
	if !ok || len(out) != n {
		return nil, errs.New(errs.DataLoss, "load", "the record is corrupt: it has no %d tensors", n)
	}
	return out, nil
}

// unsnapLegacy returns the TensorProtos of tensors of the given types from what is known
// of them and their bytes.
func unsnapLegacy(known, packed []byte, types []tfproto.DataType) ([][]byte, error) {
	tensors, ok := readPacked(known)
	size := uint64(0)
	for _, t := range tensors {
		if t.bytes > math.MaxInt32 {
			ok = false
		}
		size += t.bytes
	}
	raw, err := s2.DecodedLen(packed)
	if !ok || err != nil || len(tensors) != len(types) || uint64(raw) != size || size > mostSnapped(len(packed)) {
		return nil, errs.New(errs.DataLoss, "load", "the records are corrupt: they have no %d tensors of %d bytes", len(types), size)
	}
	data, err := s2.Decode(nil, packed)
	if err != nil {
		return nil, errs.New(errs.DataLoss, "load", "the Snappy data of its tensors are corrupt: %v", err)
	}
	out := make([][]byte, len(types))
	for i, t := range tensors {
		bytes := data[:t.bytes]
		data = data[t.bytes:]
		if _, fixed := types[i].DType(); !fixed { // these are messages already
			out[i] = bytes
			continue
		}
		out[i] = tfproto.AppendContent(tfproto.AppendHead(nil, types[i], t.shape), bytes)
	}
	return out, nil
}

// mostSnapped is how much so many bytes of Snappy data can hold, and more.
func mostSnapped(bytes int) uint64 { return 64*uint64(bytes) + 1024 }
