package op

import (
	"slices"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// parse_tensor reads serialized TensorProtos. Attributes: dtype, TensorFlow's name of
// what they have to hold, and shape, whose dimensions may be -1. Without a shape, which
// leaves open how many dimensions there are, the results are a vector of the values, and
// one of the dimensions.
//
// serialize_tensor makes them. Attribute: dtype, TensorFlow's name of the operand's.
func init() {
	binders["parse_tensor"] = bindParseTensor
	binders["serialize_tensor"] = bindSerializeTensor
}

// dataType returns the dtype that the attribute dtype names.
func (n *node) dataType() (tfproto.DataType, spec.DType, error) {
	var attrs struct {
		DType string `json:"dtype"`
	}
	if err := n.attrs(&attrs); err != nil {
		return 0, spec.DType{}, err
	}
	t, known := tfproto.DataTypeOf(attrs.DType)
	if !known {
		return 0, spec.DType{}, errs.New(errs.InvalidArgument, n.Op, "there are no tensors of dtype %q", attrs.DType)
	}
	if t == tfproto.String {
		return t, spec.Text, nil
	}
	d, _ := t.DType()
	if d.Kind == 'V' {
		d.Label = attrs.DType // as NumPy does not know it
	}
	return t, d, nil
}

type parseTensor struct {
	data  tfproto.DataType
	dtype spec.DType
	shape []int64
}

func bindParseTensor(n *node, in []spec.Component) (*binding, error) {
	var attrs struct {
		Shape []int64 `json:"shape"`
	}
	if err := n.attrs(&attrs); err != nil {
		return nil, err
	}
	t, d, err := n.dataType()
	if err != nil {
		return nil, err
	}
	if len(in) != 1 || !in[0].IsText() || len(in[0].Shape) > 0 {
		return nil, n.refuse(in)
	}
	f := &parseTensor{data: t, dtype: d, shape: attrs.Shape}
	out := []spec.Component{{DType: d, Shape: f.shape}}
	if f.shape == nil {
		vector := []int64{-1}
		out = []spec.Component{{DType: d, Shape: vector}, {DType: int64Type, Shape: vector}}
	}
	return &binding{function: f, out: out}, nil
}

func (f *parseTensor) run(c *call) (rows int64, err error) {
	o := &c.in[0]
	p := c.parsed(1, 0)
	all := &p.context[0]
	*all = tfproto.Column{Values: all.Values[:0], Offsets: append(all.Offsets[:0], 0)}
	var shape []int64
	for ; rows < c.rows; rows++ {
		_, at := o.texts(rows)
		var t *tfproto.Tensor
		if t, err = f.read(o.Text.At(at)); err != nil || rows > 0 && !slices.Equal(t.Shape, shape) {
			break
		}
		shape = t.Shape
		before := int64(len(all.Values))
		all.Values = append(all.Values, t.Data...)
		if f.data == tfproto.String {
			for _, end := range t.Offsets[1:] {
				all.Offsets = append(all.Offsets, before+end)
			}
		}
	}
	if rows == 0 {
		return 0, err
	}
	if f.dtype.Kind == 'b' {
		normalizeBools(all.Values)
	}
	if f.shape != nil {
		c.giveColumn(0, f.dtype, all, rows, slices.Clone(shape)...)
		return rows, err
	}
	rank, values := int64(len(shape)), spec.Component{Shape: shape}.Count()
	c.giveColumn(0, f.dtype, all, rows, values)
	p.values[1] = appendInts(p.values[1][:0], slices.Repeat(shape, int(rows)))
	c.giveBytes(1, spec.Component{DType: int64Type, Shape: []int64{rank}}, rows, p.values[1])
	return rows, err
}

func (f *parseTensor) read(message []byte) (*tfproto.Tensor, error) {
	t, err := tfproto.ReadTensor(message)
	if err != nil {
		return nil, err
	}
	if t.Type != f.data {
		return nil, errs.New(errs.InvalidArgument, "parse_tensor", "the tensor is of %s; out_type asks for %s", t.Type.Name(), f.data.Name())
	}
	fits := f.shape == nil || len(t.Shape) == len(f.shape)
	for i := 0; fits && i < len(f.shape); i++ {
		fits = f.shape[i] < 0 || f.shape[i] == t.Shape[i]
	}
	if !fits {
		return nil, errs.New(errs.InvalidArgument, "parse_tensor", "the tensor has the shape %v; %v was asked for", t.Shape, f.shape)
	}
	return t, nil
}

type serializeTensor struct{ data tfproto.DataType }

func bindSerializeTensor(n *node, in []spec.Component) (*binding, error) {
	t, d, err := n.dataType()
	if err != nil {
		return nil, err
	}
	if len(in) != 1 || in[0].DType != d {
		return nil, n.refuse(in)
	}
	return &binding{function: &serializeTensor{t}, out: []spec.Component{{DType: spec.Text}}}, nil
}

func (f *serializeTensor) run(c *call) (int64, error) {
	o := &c.in[0]
	out, err := c.make(0, spec.Text)
	if err != nil {
		return 0, err
	}
	t := tfproto.Tensor{Type: f.data, Shape: o.Shape}
	var message []byte
	for i := range c.rows {
		if o.Text == nil {
			t.Data = o.row(i)
		} else {
			t.Data, t.Offsets = t.Data[:0], append(t.Offsets[:0], 0)
			each, first := o.texts(i)
			for k := range each {
				t.Data = append(t.Data, o.Text.At(first+k)...)
				t.Offsets = append(t.Offsets, int64(len(t.Data)))
			}
		}
		message = tfproto.AppendTensor(message[:0], &t)
		out.Text.Append(message)
	}
	return c.rows, nil
}
