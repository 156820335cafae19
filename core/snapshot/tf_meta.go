package snapshot

import (
	"encoding/binary"
	"path"
	"strings"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
	"infeed/core/vfs"
)

// Names of files that tf.data writes.
const (
	tfMetadata = "snapshot.metadata"
	tfSpec     = "dataset_spec.pb"
)

// tfMeta is what a folder's snapshot.metadata says: a SnapshotMetadataRecord, or the
// DistributedSnapshotMetadata of tf.data's service.
type tfMeta struct {
	hash, run string
	written   int64 // microseconds since 1970
	version   uint64
	types     []tfproto.DataType
	elements  int64
	finished  bool

	distributed bool
	spec        []byte // of a distributed one
	compression string // of a distributed one
}

// saved tells whether Dataset.save of tf.data, or SaveTF, finished what the metadata are of.
func (m *tfMeta) saved() bool {
	return m.finished && m.version == 2 && !m.distributed && m.hash == ""
}

// protoFields calls f for each field of a serialized message: value of numbers, data of
// the others. False: it is cut or no message.
func protoFields(b []byte, f func(field int, value uint64, data []byte) bool) bool {
	for len(b) > 0 {
		tag, n := binary.Uvarint(b)
		if n <= 0 || tag>>3 == 0 || tag>>3 > 1<<28 {
			return false
		}
		b = b[n:]
		var value uint64
		var data []byte
		switch tag & 7 {
		case 0:
			if value, n = binary.Uvarint(b); n <= 0 {
				return false
			}
			b = b[n:]
		case 2:
			size, n := binary.Uvarint(b)
			if n <= 0 || size > uint64(len(b)-n) {
				return false
			}
			data, b = b[n:n+int(size)], b[n+int(size):]
		case 1, 5:
			size := map[uint64]int{1: 8, 5: 4}[tag&7]
			if len(b) < size {
				return false
			}
			b = b[size:]
		default:
			return false
		}
		if !f(int(tag>>3), value, data) {
			return false
		}
	}
	return true
}

// readTFMeta reads what a folder of tf.data's says of itself.
func readTFMeta(fs vfs.FS, folder string) (*tfMeta, error) {
	at := path.Join(folder, tfMetadata)
	text, err := readFile(fs, at)
	if err != nil {
		return nil, err
	}
	m := &tfMeta{}                                         // what is zero is not written
	if len(text) > 0 && text[0] >= 'a' && text[0] <= 'z' { // no number of a field there is
		m.distributed = true
		if !textFields(text, m.textField) {
			return nil, lost(at, 0, "these are no metadata that tf.data wrote")
		}
		return m, nil
	}
	if !protoFields(text, m.field) || m.run == "" || strings.ContainsAny(m.run, "/\\") || m.run == ".." || m.run == "." {
		return nil, lost(at, 0, "these are no metadata that tf.data wrote")
	}
	if m.version > 2 {
		return nil, errs.New(errs.Unimplemented, "load", "%q is of version %d of tf.data's snapshots; versions 0, 1 and 2 are read", folder, m.version)
	}
	return m, nil
}

// field takes a field of a SnapshotMetadataRecord.
func (m *tfMeta) field(field int, value uint64, data []byte) bool {
	switch field {
	case 1:
		m.hash = string(data)
	case 2:
		m.run = string(data)
	case 3:
		m.written = int64(value)
	case 4:
		m.version = value
	case 5:
		if data == nil {
			m.types = append(m.types, tfproto.DataType(value))
		}
		for len(data) > 0 {
			t, n := binary.Uvarint(data)
			if n <= 0 {
				return false
			}
			m.types, data = append(m.types, tfproto.DataType(t)), data[n:]
		}
	case 6:
		m.elements = int64(value)
	case 1000:
		m.finished = value != 0
	}
	return true
}

// textField takes a field of a DistributedSnapshotMetadata.
func (m *tfMeta) textField(name, value string) {
	switch name {
	case "element_spec":
		m.spec = []byte(value)
	case "compression":
		m.compression = value
	}
}

// tfDType returns the dtype of values; false where there are no plain ones.
func tfDType(t tfproto.DataType) (spec.DType, bool) {
	if t == tfproto.String {
		return spec.Text, true
	}
	d, known := t.DType()
	if d.Kind == 'V' {
		d.Label = t.Name()
	}
	return d, known
}
