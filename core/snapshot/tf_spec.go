package snapshot

import (
	"encoding/binary"
	"slices"

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

	tfUnknownRank = 3 // of a TensorShapeProto
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

// tfSpecOf returns what elements are like as tf.data writes it, and what is stored of them.
func tfSpecOf(e *spec.Element) ([]byte, *tfStored, error) {
	w := tfSpecWriter{components: e.Components}
	for i, c := range e.Components {
		t, known := tfproto.DataTypeFor(c.DType)
		if !known {
			return nil, nil, errs.New(errs.Unimplemented, "save", "component%s has dtype %v, which TensorFlow does not have; map it to one that it has (times to int64), or save with format=\"infeed\"", e.Name(i), c.DType)
		}
		w.types = append(w.types, t)
	}
	if len(w.types) == 0 {
		return nil, nil, errs.New(errs.Unimplemented, "save", "elements without components cannot be told apart in TensorFlow's format; save with format=\"infeed\"")
	}
	types := w.types
	structure, err := tfStructure(e.Structure, e.Components)
	if err != nil {
		return nil, nil, err
	}
	named := &spec.Element{Structure: structure, Components: e.Components}
	text := w.structure(&named.Structure)
	return text, &tfStored{tfLeaves(named), types, tfTypes(named)}, nil
}

// tfStructure gives named tuples that are sparse tensors the name by which they are known
// here, and makes arrays out of ragged components tensors, as which they are stored.
func tfStructure(s spec.Structure, components []spec.Component) (spec.Structure, error) {
	named := s.Kind == spec.NamedTuple
	switch {
	case named && s.Name == "SparseTensor" && isSparse(s, components):
		s.Name = sparseName
		return s, nil
	case named && s.Name == raggedName && len(s.Items) == 1:
		return spec.Structure{}, nil
	case named && s.Name == raggedName && len(components[1].Shape) > 2:
		return s, errs.New(errs.Unimplemented, "save", "it has batches of ragged batches, which are not written in TensorFlow's format; unbatch them, or save with format=\"infeed\"")
	}
	var err error
	items := s.Items
	s.Items = make([]spec.Structure, len(items))
	for i, item := range items {
		if s.Items[i], err = tfStructure(item, components); err != nil {
			return s, err
		}
		components = components[item.Leaves():]
	}
	return s, nil
}

// isSparse tells whether the components of a named tuple are those of a sparse tensor of
// a rank that is known.
func isSparse(s spec.Structure, c []spec.Component) bool {
	places := spec.DType{Kind: 'i', Size: 8}
	return slices.Equal(s.Keys, []string{"indices", "values", "dense_shape"}) && s.Leaves() == 3 &&
		c[0].DType == places && c[2].DType == places && len(c[0].Shape) == 2 && len(c[1].Shape) == 1 && len(c[2].Shape) == 1 &&
		c[2].Shape[0] >= 0 && c[2].Shape[0] == c[0].Shape[1]
}

// tfSpecWriter writes the StructuredValue of the components that are left.
type tfSpecWriter struct {
	components []spec.Component
	types      []tfproto.DataType
}

// next takes n components, and returns the shapes of them and the type of one.
func (w *tfSpecWriter) next(n, typed int) (shapes [][]int64, t tfproto.DataType) {
	for _, c := range w.components[:n] {
		shapes = append(shapes, c.Shape)
	}
	t = w.types[typed]
	w.components, w.types = w.components[n:], w.types[n:]
	return shapes, t
}

func (w *tfSpecWriter) structure(s *spec.Structure) []byte {
	if s.Kind == spec.Leaf {
		shapes, t := w.next(1, 0)
		return tfTensor(tfproto.AppendShape(nil, shapes[0]), t)
	}
	field, out := uint64(tfTuple), []byte(nil)
	switch {
	case s.Kind == spec.Dict:
		field = tfDict
	case s.Name == anyName:
		_, t := w.next(2, 0)
		return tfTensor(protoNumber(nil, tfUnknownRank, 1), t)
	case s.Name == sparseName:
		shapes, t := w.next(3, 1)
		return tfTypeOf(tfSparseKind, "SparseTensorSpec", 3, unknownDims(shapes[2][0]), t)
	case s.Name == raggedName:
		shapes, t := w.next(2, 0)
		rows := protoNumber(nil, tfNumber, 1<<1) // one dimension is ragged; signed numbers lie at their double
		places := protoNumber(nil, tfType, uint64(tfInt64))
		return tfTypeOf(tfRaggedKind, "RaggedTensorSpec", 2, append(shapes[1][:1:1], unknownDims(shapes[1][1])...), t, rows, places)
	case s.Kind == spec.NamedTuple:
		field, out = tfNamedTuple, protoBytes(nil, 1, []byte(s.Name))
	}
	for i := range s.Items {
		item, at := w.structure(&s.Items[i]), uint64(1)
		if s.Kind != spec.Tuple {
			item = protoBytes(protoBytes(nil, 1, []byte(s.Keys[i])), 2, item)
		}
		if s.Kind == spec.NamedTuple {
			at = 2
		}
		out = protoBytes(out, at, item)
	}
	return protoBytes(nil, field, out)
}

// tfTensor returns the value of a TensorSpec with a TensorShapeProto.
func tfTensor(shape []byte, t tfproto.DataType) []byte {
	return protoBytes(nil, tfTensorSpec, protoNumber(protoBytes(nil, 2, shape), 3, uint64(t)))
}

// tfTypeOf returns the value of a TypeSpec, whose state is a tuple that begins with a shape
// and a type.
func tfTypeOf(kind uint64, name string, flat uint64, shape []int64, t tfproto.DataType, more ...[]byte) []byte {
	state := protoBytes(nil, 1, protoBytes(nil, tfShape, tfproto.AppendShape(nil, shape)))
	state = protoBytes(state, 1, protoNumber(nil, tfType, uint64(t)))
	for _, value := range more {
		state = protoBytes(state, 1, value)
	}
	out := protoNumber(nil, 1, kind)
	out = protoBytes(out, 2, protoBytes(nil, tfTuple, state))
	out = protoBytes(out, 3, []byte(name))
	return protoBytes(nil, tfTypeSpec, protoNumber(out, 4, flat))
}

func unknownDims(n int64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = -1
	}
	return out
}
