package tfproto

// VariantType is the DataType of variants, whose values hold tensors.
const VariantType DataType = 21

// Variant is a value of dtype variant: the name of what it is, and the tensors in it,
// serialized.
type Variant struct {
	Name    string
	Tensors [][]byte
}

// The fields of TensorProto and VariantTensorDataProto.
const (
	tensorVariants = 15<<3 | wireBytes
	variantName    = 1<<3 | wireBytes
	variantTensor  = 3<<3 | wireBytes
)

// TypeOf returns the dtype of a serialized TensorProto; 0 if it does not say.
func TypeOf(b []byte) DataType {
	m := cursor{b: b}
	t := DataType(0)
	for m.more() {
		tag, ok := m.tag()
		if ok && tag == tensorType {
			var v uint64
			v, ok = m.varint()
			t = DataType(v)
		} else if ok {
			ok = m.skip(tag)
		}
		if !ok {
			return 0
		}
	}
	return t
}

// ReadVariants reads a serialized TensorProto of dtype variant, and returns its shape and
// values, which share its memory.
func ReadVariants(b []byte) (shape []int64, values []Variant, err error) {
	t := &Tensor{}
	content, n, err := t.read(b)
	if err != nil {
		return nil, nil, err
	}
	if t.Type != VariantType {
		return nil, nil, bad("its dtype is number %d of TensorFlow's, which is not variant", t.Type)
	}
	messages, ok := variantMessages(b, content, n)
	if !ok || int64(len(messages)) != n {
		return nil, nil, bad("it has %d variants that can be read; its shape is %v", len(messages), t.Shape)
	}
	for _, m := range messages {
		v, ok := readVariant(m)
		if !ok {
			return nil, nil, bad("variant %d cannot be read", len(values))
		}
		values = append(values, v)
	}
	return t.Shape, values, nil
}

// variantMessages finds the messages of n variants: in the content, which is all lengths
// and then all bytes, or in a field of their own.
func variantMessages(b, content []byte, n int64) (out [][]byte, ok bool) {
	if len(content) > 0 {
		t := &Tensor{}
		if n > int64(len(content)) || t.readContentStrings(content, n) != nil {
			return nil, false
		}
		for i := range n {
			out = append(out, t.Data[t.Offsets[i]:t.Offsets[i+1]])
		}
		return out, true
	}
	return repeatedBytes(b, tensorVariants)
}

// repeatedBytes returns the payloads of a field.
func repeatedBytes(b []byte, field uint64) (out [][]byte, ok bool) {
	m := cursor{b: b}
	for m.more() {
		tag, ok := m.tag()
		if ok && tag == field {
			var s span
			s, ok = m.bytes()
			out = append(out, m.b[s.from:s.to])
		} else if ok {
			ok = m.skip(tag)
		}
		if !ok {
			return nil, false
		}
	}
	return out, true
}

func readVariant(b []byte) (v Variant, ok bool) {
	names, ok := repeatedBytes(b, variantName)
	if !ok {
		return v, false
	}
	if len(names) > 0 {
		v.Name = string(names[len(names)-1])
	}
	v.Tensors, ok = repeatedBytes(b, variantTensor)
	return v, ok
}

// AppendVariant appends the message of a variant with a name, which holds serialized
// tensors.
func AppendVariant(dst []byte, name string, tensors ...[]byte) []byte {
	dst = appendField(dst, variantName, []byte(name))
	for _, t := range tensors {
		dst = appendField(dst, variantTensor, t)
	}
	return dst
}
