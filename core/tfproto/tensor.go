package tfproto

import (
	"encoding/binary"
	"math"

	"infeed/core/errs"
)

// Tensor is what a TensorProto holds.
type Tensor struct {
	Type  DataType
	Shape []int64
	// Data is the values in row-major order, little-endian, or the bytes of strings.
	Data []byte
	// Offsets, for strings: string i is Data[Offsets[i]:Offsets[i+1]].
	Offsets []int64
}

// maxFill bounds the bytes of a tensor whose message holds fewer values than its
// shape has: the rest are like the last.
const maxFill = 256 << 20

// The fields of TensorProto and TensorShapeProto.
const (
	tensorType    = 1<<3 | wireVarint
	tensorShape   = 2<<3 | wireBytes
	tensorContent = 4<<3 | wireBytes
	shapeDim      = 2<<3 | wireBytes
	shapeUnknown  = 3<<3 | wireVarint
	dimSize       = 1<<3 | wireVarint
)

// ReadTensor reads a serialized TensorProto. The tensor may share its memory.
func ReadTensor(b []byte) (*Tensor, error) {
	t := &Tensor{}
	content, n, err := t.read(b)
	if err != nil {
		return nil, err
	}
	d, known := dataTypes[t.Type]
	if !known {
		return nil, bad("its dtype is number %d of TensorFlow's, which has no plain values or is not known", t.Type)
	}
	if t.Type == String {
		return t, t.readStrings(b, content, n)
	}
	return t, t.readNumbers(b, content, n, d)
}

// read reads what all tensors have, and returns tensor_content and how many values there
// are by the shape.
func (t *Tensor) read(b []byte) (content []byte, n int64, err error) {
	m := cursor{b: b}
	for m.more() {
		tag, ok := m.tag()
		var v uint64
		var s span
		switch {
		case !ok:
		case tag == tensorType:
			v, ok = m.varint()
			t.Type = DataType(v)
		case tag == tensorShape:
			if s, ok = m.bytes(); ok {
				ok = t.readShape(m.in(s))
			}
		case tag == tensorContent:
			s, ok = m.bytes()
			content = m.b[s.from:s.to]
		default:
			ok = m.skip(tag)
		}
		if !ok {
			return nil, 0, bad("what is at byte %d of its %d is cut, corrupt, or no TensorProto", m.pos, len(b))
		}
	}
	n, ok := t.elements()
	if !ok {
		return nil, 0, bad("its shape is %v", t.Shape)
	}
	return content, n, nil
}

func bad(format string, args ...any) error {
	return errs.New(errs.InvalidArgument, "parse_tensor", "not a tensor: "+format, args...)
}

func (t *Tensor) readShape(m cursor) bool {
	for m.more() {
		tag, ok := m.tag()
		if ok && tag == shapeDim {
			var s span
			if s, ok = m.bytes(); ok {
				size := uint64(0)
				dim := m.in(s)
				for ok && dim.more() {
					if tag, ok = dim.tag(); ok && tag == dimSize {
						size, ok = dim.varint()
					} else if ok {
						ok = dim.skip(tag)
					}
				}
				t.Shape = append(t.Shape, int64(size))
			}
		} else if ok && tag == shapeUnknown {
			_, ok = m.varint() // a tensor that is there has a shape
		} else if ok {
			ok = m.skip(tag)
		}
		if !ok {
			return false
		}
	}
	return true
}

// elements returns how many values the shape has, if that can be at all.
func (t *Tensor) elements() (int64, bool) {
	n := int64(1)
	for _, d := range t.Shape {
		if d < 0 || d > 0 && n > math.MaxInt64/16/d {
			return 0, false
		}
		n *= d
	}
	return n, len(t.Shape) <= 254
}

// readNumbers makes n numbers of tensor_content, or of the field of their type.
func (t *Tensor) readNumbers(b, content []byte, n int64, d dataType) error {
	size := n * d.dtype.Size
	if len(content) > 0 {
		if int64(len(content)) != size {
			return bad("%v values of %s take %d bytes; it has %d", t.Shape, d.name, size, len(content))
		}
		t.Data = content
		return nil
	}
	values, ok := appendTyped(nil, b, d)
	if !ok {
		return bad("the values of %s cannot be read", d.name)
	}
	have := int64(len(values)) / d.dtype.Size * d.dtype.Size
	if have >= size {
		t.Data = values[:size]
		return nil
	}
	if size > maxFill {
		return errs.New(errs.ResourceExhausted, "parse_tensor", "a message with %d bytes of values stands for a tensor of %d; at most %d are made of fewer", have, size, maxFill)
	}
	t.Data = append(make([]byte, 0, size), values[:have]...)
	if have == 0 {
		t.Data = t.Data[:size]
		return nil
	}
	last := values[have-d.dtype.Size : have]
	for int64(len(t.Data)) < size {
		t.Data = append(t.Data, last...)
	}
	return nil
}

// appendTyped appends the values of the field of a type, packed or not.
func appendTyped(dst, b []byte, d dataType) ([]byte, bool) {
	m := cursor{b: b}
	for m.more() {
		tag, ok := m.tag()
		if !ok {
			return dst, false
		}
		if tag>>3 != d.field {
			if !m.skip(tag) {
				return dst, false
			}
			continue
		}
		from := m.pos
		var s span
		switch wire := tag & 7; {
		case wire == wireBytes:
			s, ok = m.bytes()
		case wire == wireVarint && d.form == varints, (wire == wire32 || wire == wire64) && d.form == fixed:
			ok = m.skip(tag)
			s = span{from, m.pos}
		default:
			return dst, false
		}
		if !ok {
			return dst, false
		}
		if d.form != varints {
			dst = append(dst, b[s.from:s.to]...)
			continue
		}
		numbers := m.in(s)
		for numbers.more() {
			v, ok := numbers.varint()
			if !ok {
				return dst, false
			}
			var eight [8]byte
			binary.LittleEndian.PutUint64(eight[:], v)
			dst = append(dst, eight[:d.dtype.Size]...)
		}
	}
	return dst, true
}

// readStrings makes n strings of tensor_content, which is all lengths and then all
// bytes, or of the field for strings.
func (t *Tensor) readStrings(b, content []byte, n int64) error {
	if len(content) > 0 {
		if n > int64(len(content)) {
			return bad("%v strings do not fit in its %d bytes", t.Shape, len(content))
		}
		return t.readContentStrings(content, n)
	}
	t.Offsets = []int64{0}
	m := cursor{b: b}
	for m.more() && int64(len(t.Offsets)) <= n {
		tag, ok := m.tag()
		if ok && tag == 8<<3|wireBytes {
			var s span
			if s, ok = m.bytes(); ok {
				t.Data = append(t.Data, b[s.from:s.to]...)
				t.Offsets = append(t.Offsets, int64(len(t.Data)))
			}
		} else if ok {
			ok = m.skip(tag)
		}
		if !ok {
			return bad("the strings cannot be read")
		}
	}
	have := int64(len(t.Offsets)) - 1
	if have == n {
		return nil
	}
	var last []byte
	if have > 0 {
		last = t.Data[t.Offsets[have-1]:]
	}
	if n > maxFill/int64(8+len(last)) {
		return errs.New(errs.ResourceExhausted, "parse_tensor", "a message with %d strings stands for a tensor of %d; at most %d bytes are made of fewer", have, n, maxFill)
	}
	for ; have < n; have++ {
		t.Data = append(t.Data, last...)
		t.Offsets = append(t.Offsets, int64(len(t.Data)))
	}
	return nil
}

func (t *Tensor) readContentStrings(content []byte, n int64) error {
	t.Offsets = make([]int64, 1, n+1)
	m := cursor{b: content}
	for i := range n {
		size, ok := m.varint()
		if !ok || size > uint64(len(content)) {
			return bad("the length of string %d cannot be read", i)
		}
		t.Offsets = append(t.Offsets, t.Offsets[i]+int64(size))
	}
	t.Data = m.rest()
	if t.Offsets[n] != int64(len(t.Data)) {
		return bad("its %d strings have %d bytes together; %d are there", n, t.Offsets[n], len(t.Data))
	}
	return nil
}

// AppendTensor appends the TensorProto of a tensor to dst, byte for byte as
// tf.io.serialize_tensor makes it.
func AppendTensor(dst []byte, t *Tensor) []byte {
	dst = AppendHead(dst, t.Type, t.Shape)
	for i := 1; i < len(t.Offsets); i++ {
		dst = appendField(dst, 8<<3|wireBytes, t.Data[t.Offsets[i-1]:t.Offsets[i]])
	}
	if t.Type != String {
		dst = AppendContent(dst, t.Data)
	}
	return dst
}

// AppendHead appends the dtype and shape of a TensorProto, which come before its
// content. A dimension of -1, in the spec of tensors, is not known.
func AppendHead(dst []byte, t DataType, shape []int64) []byte {
	dst = append(dst, tensorType)
	dst = binary.AppendUvarint(dst, uint64(t))
	return appendField(dst, tensorShape, AppendShape(nil, shape))
}

// AppendShape appends a TensorShapeProto.
func AppendShape(dst []byte, shape []int64) []byte {
	for _, d := range shape {
		var dim []byte
		if d != 0 { // protocol buffers leave out what is 0
			dim = binary.AppendUvarint([]byte{dimSize}, uint64(d))
		}
		dst = appendField(dst, shapeDim, dim)
	}
	return dst
}

// AppendContent appends the values of a TensorProto behind its head: in row-major
// order, little-endian; of strings, the length of each as a varint and then all bytes.
func AppendContent(dst, values []byte) []byte {
	if len(values) == 0 {
		return dst
	}
	return appendField(dst, tensorContent, values)
}

func appendField(dst []byte, tag byte, payload []byte) []byte {
	dst = append(dst, tag)
	dst = binary.AppendUvarint(dst, uint64(len(payload)))
	return append(dst, payload...)
}
