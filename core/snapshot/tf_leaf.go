package snapshot

import (
	"bytes"
	"fmt"

	"infeed/core/spec"
	"infeed/core/tfproto"
)

// tfLeaf is one of the tensors that are stored of an element. It becomes the components
// from first on.
type tfLeaf struct {
	form  string // "" of a plain tensor; sparseName, raggedName, anyName; rawName
	first int
	like  tfLike
}

// rawName is the form of tensors that are given as they are stored: as messages.
const rawName = ":raw"

// tfLike is what begins the messages of tensors of the same dtype and shape.
type tfLike struct {
	head   []byte
	bytes  int // of the message
	tensor tfproto.Tensor
}

// tfLeaves returns what is stored of elements that are as e says.
func tfLeaves(e *spec.Element) []tfLeaf {
	var out []tfLeaf
	at := 0
	var visit func(s *spec.Structure)
	visit = func(s *spec.Structure) {
		switch {
		case s.Kind == spec.Leaf:
			out = append(out, tfLeaf{first: at})
			at++
		case s.Kind == spec.NamedTuple && (s.Name == sparseName || s.Name == raggedName || s.Name == anyName):
			out = append(out, tfLeaf{form: s.Name, first: at})
			at += len(s.Items)
		default:
			for i := range s.Items {
				visit(&s.Items[i])
			}
		}
	}
	visit(&e.Structure)
	return out
}

// tfTypes returns the types of what is stored of elements.
func tfTypes(e *spec.Element) []tfproto.DataType {
	var out []tfproto.DataType
	for _, l := range tfLeaves(e) {
		t, _ := tfproto.DataTypeFor(e.Components[l.first].DType)
		if l.form == sparseName || l.form == raggedName {
			t = tfproto.VariantType
		}
		out = append(out, t)
	}
	return out
}

// stored tells whether a tensor of a type can be a leaf of elements.
func (l *tfLeaf) stored(t tfproto.DataType, e *spec.Element) bool {
	if t == tfproto.VariantType {
		return l.form != anyName
	}
	d, _ := tfDType(t)
	return (l.form == "" || l.form == anyName) && d == e.Components[l.first].DType
}

// tfDecoder makes the components of elements of the tensors that are stored.
type tfDecoder struct {
	elements *spec.Element
	leaves   []tfLeaf
	found    []tfproto.Tensor // of the elements of the run that is being made
}

// leaf adds the components of a leaf, of which message is what is stored.
func (d *tfDecoder) leaf(l *tfLeaf, message []byte) error {
	if k := &l.like; len(message) == k.bytes && k.bytes > 0 && bytes.Equal(message[:len(k.head)], k.head) {
		t := k.tensor
		t.Data = message[len(k.head):]
		d.found = append(d.found, t)
		return nil
	}
	if l.form == rawName {
		return d.raw(message)
	}
	if tfproto.TypeOf(message) == tfproto.VariantType {
		return d.variants(l, message)
	}
	if l.form != "" && l.form != anyName {
		return &unfit{"it is no variant, as ragged and sparse tensors are"}
	}
	t, err := tfproto.ReadTensor(message)
	if err != nil {
		return err
	}
	if l.form == anyName {
		return d.add(l, flat(*t), vector(t.Shape))
	}
	if err := d.add(l, *t); err != nil {
		return err
	}
	l.like.learn(message, t)
	return nil
}

// learn remembers how the message of a tensor begins, where its values end it.
func (k *tfLike) learn(message []byte, t *tfproto.Tensor) {
	head := len(message) - len(t.Data)
	if t.Type == tfproto.String || head <= 0 || len(t.Data) > 0 && &t.Data[0] != &message[head] {
		return
	}
	*k = tfLike{append(k.head[:0], message[:head]...), len(message), *t}
}

// add adds the components of a leaf, if they are as was promised.
func (d *tfDecoder) add(l *tfLeaf, tensors ...tfproto.Tensor) error {
	for i := range tensors {
		if err := fitsTF(&tensors[i], d.elements.Components[l.first+i]); err != nil {
			return err
		}
	}
	d.found = append(d.found, tensors...)
	return nil
}

// fitsTF fails for a tensor of another kind than a component.
func fitsTF(t *tfproto.Tensor, c spec.Component) error {
	d, _ := tfDType(t.Type)
	same := d == c.DType && len(t.Shape) == len(c.Shape)
	for k := 0; same && k < len(c.Shape); k++ {
		same = c.Shape[k] < 0 || c.Shape[k] == t.Shape[k]
	}
	if !same {
		return &unfit{fmt.Sprintf("it is %v; %v was promised", spec.Component{DType: d, Shape: t.Shape}, c)}
	}
	return nil
}

// unfit is the error of a tensor that is whole and none of those that were promised.
type unfit struct{ text string }

func (u *unfit) Error() string { return u.text }

// raw adds a tensor as it is stored, if it can be read.
func (d *tfDecoder) raw(message []byte) (err error) {
	if tfproto.TypeOf(message) == tfproto.VariantType {
		_, _, err = tfproto.ReadVariants(message)
	} else {
		_, err = tfproto.ReadTensor(message)
	}
	d.found = append(d.found, tfproto.Tensor{Type: tfproto.String, Data: message, Offsets: []int64{0, int64(len(message))}})
	return err
}

// variants adds the components of a ragged or sparse tensor.
func (d *tfDecoder) variants(l *tfLeaf, message []byte) error {
	shape, values, err := tfproto.ReadVariants(message)
	if err != nil {
		return err
	}
	parts := make([][]tfproto.Tensor, len(values))
	for i, v := range values {
		for _, b := range v.Tensors {
			t, err := tfproto.ReadTensor(b)
			if err != nil {
				return err
			}
			parts[i] = append(parts[i], *t)
		}
	}
	var tensors []tfproto.Tensor
	switch l.form {
	case "":
		if len(shape) == 0 && len(parts[0]) == 1 {
			tensors = parts[0]
		}
	case raggedName:
		tensors = raggedOf(shape, parts)
	case sparseName:
		tensors = sparseOf(shape, parts)
	}
	if tensors == nil {
		return &unfit{fmt.Sprintf("it is a variant of shape %v, which stores no tensor as %v is", shape, d.elements.Components[l.first])}
	}
	return d.add(l, tensors...)
}
