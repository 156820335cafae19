package op

import (
	"encoding/json"
	"slices"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
)

func init() {
	binders["const"] = bindConst
	binders["reshape"] = bindReshape
	binders["expand_dims"] = bindExpandDims
	binders["squeeze"] = bindSqueeze
	binders["select"] = bindSelect
}

// bindConst binds a constant. One with dimensions of -1 and no values stands for those of
// a template, which differ between elements: it tells what the program makes, which cannot
// be run.
func bindConst(n *node, _ []spec.Component) (*binding, error) {
	var a struct {
		DType string   `json:"dtype"`
		Shape []int64  `json:"shape"`
		Data  []byte   `json:"data"`
		Texts [][]byte `json:"texts"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	d, err := spec.ParseDType(a.DType)
	if err != nil {
		return nil, err
	}
	c := spec.Component{DType: d, Shape: a.Shape}
	size, known := c.Bytes()
	if !known && len(a.Data)+len(a.Texts) == 0 {
		return &binding{out: []spec.Component{c}}, nil
	}
	if !known || size != int64(len(a.Data)) || d == spec.Text && c.Count() != int64(len(a.Texts)) {
		return nil, errs.New(errs.InvalidArgument, n.Op, "%d bytes and %d texts for a constant %s", len(a.Data), len(a.Texts), c)
	}
	column := &block.Column{Data: a.Data, RowBytes: size}
	if d == spec.Text {
		column.Text = &block.Text{}
		for _, t := range a.Texts {
			column.Text.Append(t)
		}
	}
	return &binding{out: []spec.Component{c}, constant: column}, nil
}

// viewOf is the binding of what only changes the shape.
func viewOf(in spec.Component, shape []int64) (*binding, error) {
	return &binding{out: []spec.Component{{DType: in.DType, Shape: shape}}, view: true}, nil
}

// size is a dimension in an attribute: a number, or that of an operand.
type size struct {
	number int64
	of     *[2]int // operand and axis
}

// UnmarshalJSON reads 3 or [operand, axis].
func (s *size) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &s.number) == nil {
		return nil
	}
	return json.Unmarshal(b, &s.of)
}

// sizes returns the dimensions that are meant, and whether all are known; -1 stays.
func (n *node) sizes(all []size, in []spec.Component) (shape []int64, known bool, err error) {
	known = true
	for _, s := range all {
		if s.of != nil {
			k, axis := s.of[0], s.of[1]
			if k < 0 || k >= len(in) || axis < 0 || axis >= len(in[k].Shape) {
				return nil, false, errs.New(errs.InvalidArgument, n.Op, "there is no axis %d of operand %d", axis, k)
			}
			s.number = in[k].Shape[axis]
			known = known && s.number >= 0
		}
		shape = append(shape, s.number)
	}
	return shape, known, nil
}

// bindReshape has a shape in which -1, at most once, is what is left. Only the shapes
// of operands after the first count.
func bindReshape(n *node, in []spec.Component) (*binding, error) {
	var a struct {
		Shape []size `json:"shape"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	if len(in) == 0 {
		return nil, n.refuse(in)
	}
	wanted, all, err := n.sizes(a.Shape, in)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(wanted)
	if !all || slices.Contains(in[0].Shape, -1) {
		return viewOf(in[0], shape)
	}
	open, rest := slices.Index(shape, -1), int64(1)
	for i, d := range shape {
		if d < -1 || d == -1 && i != open {
			return nil, errs.New(errs.InvalidArgument, n.Op, "to %v; one dimension can be -1", wanted)
		}
		if d >= 0 {
			rest *= d
		}
	}
	count := in[0].Count()
	if open >= 0 && rest > 0 {
		shape[open] = count / rest
		rest *= shape[open]
	}
	if rest != count || open >= 0 && shape[open] < 0 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "cannot reshape a value of shape %v into %v", in[0].Shape, wanted)
	}
	return viewOf(in[0], shape)
}

// axis reads the attribute "axis", of the first of so many operands.
func (n *node) axis(in []spec.Component, operands int) (int, error) {
	var a struct {
		Axis int `json:"axis"`
	}
	if err := n.attrs(&a); err != nil {
		return 0, err
	}
	if len(in) != operands || operands == 0 || a.Axis < 0 || a.Axis >= len(in[0].Shape) {
		return 0, n.refuse(in)
	}
	return a.Axis, nil
}

// axes reads the attribute "axes", counted from the front, in increasing order.
func (n *node) axes(rank int) ([]int, error) {
	var a struct {
		Axes []int `json:"axes"`
	}
	if err := n.attrs(&a); err != nil {
		return nil, err
	}
	for i, x := range a.Axes {
		if x < 0 || x >= rank || i > 0 && x <= a.Axes[i-1] {
			return nil, errs.New(errs.InvalidArgument, n.Op, "axes %v of %d dimensions", a.Axes, rank)
		}
	}
	return a.Axes, nil
}

// bindExpandDims adds dimensions of 1, which are at the axes of the result.
func bindExpandDims(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 {
		return nil, n.refuse(in)
	}
	axes, err := n.axes(maxRank)
	if err != nil {
		return nil, err
	}
	shape := slices.Clone(in[0].Shape)
	for _, x := range axes {
		if x > len(shape) {
			return nil, errs.New(errs.InvalidArgument, n.Op, "axes %v for %s", axes, in[0])
		}
		shape = slices.Insert(shape, x, 1)
	}
	return viewOf(in[0], shape)
}

func bindSqueeze(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 1 {
		return nil, n.refuse(in)
	}
	axes, err := n.axes(len(in[0].Shape))
	if err != nil {
		return nil, err
	}
	shape := []int64{}
	for i, d := range in[0].Shape {
		if !slices.Contains(axes, i) {
			shape = append(shape, d)
		} else if d != 1 && d != -1 {
			return nil, errs.New(errs.InvalidArgument, n.Op, "cannot squeeze axis %d of %v, which is not 1", i, in[0].Shape)
		}
	}
	return viewOf(in[0], shape)
}

// bindSelect takes values of the second or third operand, as the first, a bool, says.
func bindSelect(n *node, in []spec.Component) (*binding, error) {
	if len(in) != 3 || in[0].DType != boolean || in[1].DType != in[2].DType || in[1].IsText() {
		return nil, n.refuse(in)
	}
	shape, err := n.broadcast(in)
	if err != nil {
		return nil, err
	}
	b := &binding{out: []spec.Component{{DType: in[1].DType, Shape: shape}}}
	switch size := int(in[1].DType.Size); size {
	case 1:
		b.loop = selectLoop[uint8]
	case 2:
		b.loop = selectLoop[uint16]
	case 4:
		b.loop = selectLoop[uint32]
	case 8:
		b.loop = selectLoop[uint64]
	default:
		b.loop = func(d, a, x, y []byte) {
			for i, yes := range a[:len(d)/max(size, 1)] {
				from := y
				if yes != 0 {
					from = x
				}
				copy(d[i*size:(i+1)*size], from[i*size:])
			}
		}
	}
	return b, nil
}

func selectLoop[T unsigned](d, a, b, c []byte) {
	z, x, y := view[T](d), view[T](b), view[T](c)
	a, x, y = a[:len(z)], x[:len(z)], y[:len(z)]
	for i := range z {
		v := y[i]
		if a[i] != 0 {
			v = x[i]
		}
		z[i] = v
	}
}
