package op

import (
	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// wanted is a feature of tf.io: what to find in examples and what to make of it.
type wanted struct {
	tfproto.Feature
	dtype spec.DType
	shape []int64         // of Fixed, or of a step of Sequence
	fill  *tfproto.Column // one value: what missing steps of Sequence have; nil: zeros
	// column is which of those that are parsed has the values.
	column int
	ragged *raggedFeature // of Var; nil: it is no ragged one
}

// featureForm is a feature in the attributes of a node.
type featureForm struct {
	Key     string  `json:"key"`
	Kind    string  `json:"kind"`  // fixed, var, sequence, ragged
	DType   string  `json:"dtype"` // float32, int64, string
	Shape   []int64 `json:"shape"`
	Default *struct {
		Data  []byte   `json:"data"`
		Texts [][]byte `json:"texts"`
	} `json:"default"`
	Required bool       `json:"required"` // of feature lists
	Ragged   raggedForm `json:"ragged"`
}

var featureTypes = map[string]struct {
	tfproto.Type
	dtype spec.DType
}{
	"float32": {tfproto.Float, spec.DType{Kind: 'f', Size: 4}},
	"int64":   {tfproto.Int64, int64Type},
	"string":  {tfproto.Bytes, spec.Text},
}

var int64Type = spec.DType{Kind: 'i', Size: 8}

var featureKinds = map[string]tfproto.Shape{"fixed": tfproto.Fixed, "var": tfproto.Var, "sequence": tfproto.Sequence, "ragged": tfproto.Var}

// wants reads features, which are left to tfproto to check, and returns the columns that
// have to be parsed for them.
func wants(op string, forms []featureForm) ([]wanted, []tfproto.Feature, error) {
	out, features := make([]wanted, len(forms)), make([]tfproto.Feature, 0, len(forms))
	for i, f := range forms {
		t, known := featureTypes[f.DType]
		kind, right := featureKinds[f.Kind]
		if !known || !right {
			return nil, nil, errs.New(errs.InvalidArgument, op, "feature %q is %s of %s; there are fixed, var, sequence and ragged of float32, int64 and string", f.Key, f.Kind, f.DType)
		}
		w := wanted{Feature: tfproto.Feature{Key: f.Key, Type: t.Type, Shape: kind, Size: 1, Required: f.Required}, dtype: t.dtype, shape: f.Shape}
		for _, d := range f.Shape {
			if d < 0 || d > 0 && w.Size > 1<<40/d {
				return nil, nil, errs.New(errs.InvalidArgument, op, "feature %q has the shape %v", f.Key, f.Shape)
			}
			w.Size *= d
		}
		if err := w.defaultTo(op, &f); err != nil {
			return nil, nil, err
		}
		features, w.column = columnOf(features, w.Feature)
		if f.Kind == "ragged" {
			var err error
			if w.ragged, err = f.Ragged.read(op, f.Key); err != nil {
				return nil, nil, err
			}
		}
		out[i] = w
	}
	for i := range out {
		if r := out[i].ragged; r != nil && r.cut() {
			features, r.column = columnOf(features, tfproto.Feature{Key: r.Key, Type: tfproto.Int64, Shape: tfproto.Var, Size: 1})
		}
	}
	return out, features, nil
}

// defaultTo reads what examples without a feature have, or what missing steps have.
func (w *wanted) defaultTo(op string, f *featureForm) error {
	if f.Default == nil {
		return nil
	}
	value := &tfproto.Column{Values: f.Default.Data}
	if w.Type == tfproto.Bytes {
		value.Values, value.Offsets = nil, []int64{0}
		for _, s := range f.Default.Texts {
			value.Values = append(value.Values, s...)
			value.Offsets = append(value.Offsets, int64(len(value.Values)))
		}
	}
	if w.Shape == tfproto.Fixed {
		w.Default = value
	} else if w.fill = value; value.Count(w.Type) != 1 {
		return errs.New(errs.InvalidArgument, op, "feature %q is filled up with a default_value of %d values; give one", f.Key, value.Count(w.Type))
	}
	return nil
}

// parsed is what is kept of a call of a parser for the next one: memory.
type parsed struct {
	context, lists []tfproto.Column
	starts, ends   []int64
	lengths        []int64      // of rows of ragged features
	texts          []block.Text // of results
	values         [][]byte     // of results
}

func (c *call) parsed(context, lists int) *parsed {
	p, _ := c.own.(*parsed)
	if p == nil {
		n := len(c.results)
		p = &parsed{context: make([]tfproto.Column, context), lists: make([]tfproto.Column, lists), texts: make([]block.Text, n), values: make([][]byte, n)}
		c.own = p
	}
	return p
}

// messages returns the texts of the first rows of an operand.
func (p *parsed) messages(o *operand, rows int64) tfproto.Serialized {
	t, each := o.Text, int(o.Count())
	if !o.uniform {
		n := int(rows) * each
		return tfproto.Serialized{Data: t.Data, Starts: t.Starts[:n], Ends: t.Ends[:n]}
	}
	p.starts, p.ends = p.starts[:0], p.ends[:0]
	for range rows {
		p.starts, p.ends = append(p.starts, t.Starts...), append(p.ends, t.Ends...)
	}
	return tfproto.Serialized{Data: t.Data, Starts: p.starts, Ends: p.ends}
}

// only returns message i by itself. In a batch it has the number that it has there.
func only(in tfproto.Serialized, i int, o *operand) tfproto.Serialized {
	in.Starts, in.Ends, in.First = in.Starts[i:i+1], in.Ends[i:i+1], tfproto.Unnumbered
	if len(o.Shape) > 0 {
		in.First = int64(i) % o.Count()
	}
	return in
}

// name adds to an error about message i which name the operand of names gives it.
func (c *call) name(err error, i int) error {
	e, ok := err.(*errs.Error)
	if !ok || len(c.in) < 2 {
		return err
	}
	o := &c.in[1]
	if o.uniform {
		i %= int(max(o.Count(), 1))
	}
	return errs.New(e.Kind, e.Op, "%q: %s", o.Text.At(i), e.Text)
}

// giveColumn makes result i the first values of a column: rows of a shape.
func (c *call) giveColumn(i int, dtype spec.DType, column *tfproto.Column, rows int64, shape ...int64) {
	component := spec.Component{DType: dtype, Shape: shape}
	if !component.IsText() {
		c.giveBytes(i, component, rows, column.Values)
		return
	}
	n := rows * component.Count()
	t := &c.own.(*parsed).texts[i]
	*t = block.Text{Data: column.Values, Starts: column.Offsets[:n:n], Ends: column.Offsets[1 : n+1 : n+1]}
	c.results[i].operand = operand{Component: component, Column: block.Column{Text: t}}
}

// giveBytes makes result i the first values in memory.
func (c *call) giveBytes(i int, component spec.Component, rows int64, data []byte) {
	n, _ := component.Bytes()
	c.results[i].operand = operand{Component: component, Column: block.Column{Data: data[:rows*n], RowBytes: n}}
}

// giveInts makes result i one row of int64s.
func (c *call) giveInts(i int, numbers []int64, shape ...int64) {
	p := c.own.(*parsed)
	p.values[i] = appendInts(p.values[i][:0], numbers)
	c.giveBytes(i, spec.Component{DType: int64Type, Shape: shape}, 1, p.values[i])
}
