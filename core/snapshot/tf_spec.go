package snapshot

import (
	"encoding/binary"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// The fields of messages in which tf.data says what elements are like: a
// StructuredValue, and those of its parts.
const (
	tfTensorSpec = 33
	tfTuple      = 52
	tfDict       = 53
	tfNamedTuple = 54
)

// protoBytes appends a field of bytes: a text, or a message.
func protoBytes(dst []byte, field uint64, data []byte) []byte {
	dst = binary.AppendUvarint(dst, field<<3|2)
	dst = binary.AppendUvarint(dst, uint64(len(data)))
	return append(dst, data...)
}

// protoNumber appends a field with a number; zero is left out, as protocol buffers do.
func protoNumber(dst []byte, field, value uint64) []byte {
	if value == 0 {
		return dst
	}
	return binary.AppendUvarint(binary.AppendUvarint(dst, field<<3), value)
}

// tfSpecOf returns what elements are like as tf.data writes it, and TensorFlow's type of
// each component.
func tfSpecOf(e *spec.Element) ([]byte, []tfproto.DataType, error) {
	types := make([]tfproto.DataType, len(e.Components))
	for i, c := range e.Components {
		t, known := tfproto.DataTypeFor(c.DType)
		if !known {
			return nil, nil, errs.New(errs.Unimplemented, "save", "component%s has dtype %v, which TensorFlow does not have; map it to one that it has (times to int64), or save with format=\"infeed\"", e.Name(i), c.DType)
		}
		types[i] = t
	}
	if len(types) == 0 {
		return nil, nil, errs.New(errs.Unimplemented, "save", "elements without components cannot be told apart in TensorFlow's format; save with format=\"infeed\"")
	}
	w := tfSpecWriter{e.Components, types}
	text, err := w.structure(&e.Structure)
	return text, types, err
}

// tfSpecWriter writes the StructuredValue of the components that are left.
type tfSpecWriter struct {
	components []spec.Component
	types      []tfproto.DataType
}

func (w *tfSpecWriter) structure(s *spec.Structure) ([]byte, error) {
	if s.Kind == spec.Leaf {
		out := protoBytes(nil, 2, tfproto.AppendShape(nil, w.components[0].Shape))
		out = protoNumber(out, 3, uint64(w.types[0]))
		w.components, w.types = w.components[1:], w.types[1:]
		return protoBytes(nil, tfTensorSpec, out), nil
	}
	if s.Kind == spec.NamedTuple && s.Name != "" && s.Name[0] == ':' {
		return nil, errs.New(errs.Unimplemented, "save", "ragged components are not written in TensorFlow's format; pad them (padded_batch), or save with format=\"infeed\"")
	}
	field, out := uint64(tfTuple), []byte(nil)
	switch s.Kind {
	case spec.Dict:
		field = tfDict
	case spec.NamedTuple:
		field, out = tfNamedTuple, protoBytes(nil, 1, []byte(s.Name))
	}
	for i := range s.Items {
		item, err := w.structure(&s.Items[i])
		if err != nil {
			return nil, err
		}
		at := uint64(1)
		if s.Kind != spec.Tuple {
			item = protoBytes(protoBytes(nil, 1, []byte(s.Keys[i])), 2, item)
		}
		if s.Kind == spec.NamedTuple {
			at = 2
		}
		out = protoBytes(out, at, item)
	}
	return protoBytes(nil, field, out), nil
}
