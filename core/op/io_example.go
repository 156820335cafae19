package op

import (
	"encoding/binary"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// parse_example finds features in the tf.train.Examples that an operand has: one, or a
// batch. Attributes: features. A second operand of the same shape has names for
// messages of errors. Results, for the features in order:
//
//   - fixed: a value of its shape; in a batch, of (examples, shape).
//   - sequence: (steps, shape); in a batch (examples, longest, shape).
//   - var: a vector; in a batch the parts of a tf.SparseTensor: indices (values, 2),
//     values, and dense_shape (2).
//   - ragged: as var; in a batch, and where its values are cut into rows, a ragged
//     component: values, and the shape of each array.
func init() { binders["parse_example"] = bindParseExample }

type parseExample struct {
	parser  *tfproto.Parser
	wanted  []wanted
	columns int // that are parsed
	batched bool
	fixed   bool // all features are
}

func bindParseExample(n *node, in []spec.Component) (*binding, error) {
	var attrs struct {
		Features []featureForm `json:"features"`
	}
	if err := n.attrs(&attrs); err != nil {
		return nil, err
	}
	if err := n.takesMessages(in); err != nil {
		return nil, err
	}
	want, features, err := wants(n.Op, attrs.Features)
	if err != nil {
		return nil, err
	}
	f := &parseExample{wanted: want, columns: len(features), batched: len(in[0].Shape) > 0, fixed: true}
	if f.parser, err = tfproto.NewParser(features); err != nil {
		return nil, err
	}
	b := &binding{function: f}
	for i := range want {
		if r := want[i].ragged; f.batched && r != nil && r.cut() {
			return nil, errs.New(errs.Unimplemented, n.Op, "feature %q: batches of examples whose rows differ in number cannot be ragged in both; parse single examples (parse_single_example), whose rows are ragged", want[i].Key)
		}
		f.fixed = f.fixed && want[i].Shape == tfproto.Fixed
		b.out = append(b.out, want[i].components(in[0].Shape)...)
	}
	return b, nil
}

// takesMessages checks that operands are texts, one or a vector of them, and their
// names.
func (n *node) takesMessages(in []spec.Component) error {
	if len(in) < 1 || len(in) > 2 || !in[0].IsText() || len(in[0].Shape) > 1 {
		return n.refuse(in)
	}
	if len(in) == 2 && !in[1].Equal(in[0]) {
		return errs.New(errs.InvalidArgument, n.Op, "example_names are %v, and examples %v; give each a name", in[1], in[0])
	}
	return nil
}

// components describes the results of a feature of examples of a shape: one, or a
// batch.
func (w *wanted) components(batch []int64) []spec.Component {
	shape := append([]int64{}, batch...)
	switch {
	case w.ragged != nil:
		return w.ragged.components(w.dtype, batch)
	case w.Shape == tfproto.Fixed:
		shape = append(shape, w.shape...)
	case w.Shape == tfproto.Sequence:
		shape = append(append(shape, -1), w.shape...)
	case len(batch) > 0:
		return sparse(w.dtype, 2)
	default:
		shape = append(shape, -1)
	}
	return []spec.Component{{DType: w.dtype, Shape: shape}}
}

// sparse describes the parts of a tf.SparseTensor.
func sparse(values spec.DType, rank int64) []spec.Component {
	return []spec.Component{
		{DType: int64Type, Shape: []int64{-1, rank}}, {DType: values, Shape: []int64{-1}}, {DType: int64Type, Shape: []int64{rank}},
	}
}

func (f *parseExample) run(c *call) (int64, error) {
	p, o := c.parsed(f.columns, 0), &c.in[0]
	rows, parse := c.rows, f.parser.Parse
	switch {
	case f.fixed:
	case f.batched:
		rows = 1 // what a batch gives has a shape of its own
	default:
		parse = f.parser.ParseAlike
	}
	in := p.messages(o, rows)
	n, err := parse(in, p.context)
	if err != nil {
		_, err = f.parser.Parse(only(in, n, o), make([]tfproto.Column, f.columns))
		err = c.name(err, n)
	}
	if good, bad := f.valid(p, int64(n)); bad != nil {
		n, err = int(good), c.name(bad, int(good))
	}
	if n < len(in.Starts) {
		rows = int64(n) / o.Count()
	}
	if rows == 0 {
		return 0, err
	}
	at := 0
	for i := range f.wanted {
		if f.wanted[i].ragged != nil {
			at += c.giveRagged(at, &f.wanted[i], rows, o.Shape)
			continue
		}
		used, bad := c.giveFeature(at, &f.wanted[i], &p.context[f.wanted[i].column], rows, o.Shape)
		if bad != nil {
			return 0, bad
		}
		at += used
	}
	return rows, err
}

// giveFeature makes results from result i on of a column, and returns how many.
func (c *call) giveFeature(i int, w *wanted, column *tfproto.Column, rows int64, batch []int64) (int, error) {
	shape := append([]int64{}, batch...)
	switch {
	case w.Shape == tfproto.Fixed:
		c.giveColumn(i, w.dtype, column, rows, append(shape, w.shape...)...)
	case len(batch) == 0:
		shape = append(shape, column.Splits[1])
		if w.Shape == tfproto.Sequence {
			shape = append(shape, w.shape...)
		}
		c.giveColumn(i, w.dtype, column, rows, shape...)
	case w.Shape == tfproto.Var:
		n := column.Splits[len(column.Splits)-1]
		c.giveInts(i, column.Indices(), n, 2)
		c.giveColumn(i+1, w.dtype, column, 1, n)
		c.giveInts(i+2, []int64{batch[0], column.Longest()}, 2)
		return 3, nil
	default:
		return 1, c.givePadded(i, w, column, batch[0])
	}
	return 1, nil
}

// maxPadded bounds what one batch is padded to.
const maxPadded = 8 << 30

// givePadded makes result i of the steps of a batch, as many for each example.
func (c *call) givePadded(i int, w *wanted, column *tfproto.Column, examples int64) error {
	longest, size := column.Longest(), w.dtype.Size*w.Size
	if w.dtype == spec.Text {
		size = 16 * w.Size // of where they begin and end
	}
	if examples > 0 && longest > maxPadded/size/examples {
		return errs.New(errs.ResourceExhausted, "parse_example", "feature %q: %d examples filled up to the %d steps of the longest take more than %d bytes; leave long ones out, or ask for a VarLenFeature", w.Key, examples, longest, int64(maxPadded))
	}
	padded := column.Pad(&w.Feature, longest, w.fill)
	c.giveColumn(i, w.dtype, &padded, 1, append([]int64{examples, longest}, w.shape...)...)
	return nil
}

func appendInts(dst []byte, numbers []int64) []byte {
	for _, v := range numbers {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(v))
	}
	return dst
}
