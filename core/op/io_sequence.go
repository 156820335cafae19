package op

import (
	"slices"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// parse_sequence_example finds features in the tf.train.SequenceExamples that an
// operand has, one or a batch. Attributes: context and lists, which are features.
// Results are those of parse_example for the context, and then, for the lists:
//
//   - sequence: (steps, shape), and the number of steps; in a batch (examples, longest,
//     shape) and (examples).
//   - var: the parts of a tf.SparseTensor of (steps, values), in a batch of (examples,
//     steps, values).
func init() { binders["parse_sequence_example"] = bindParseSequence }

type parseSequence struct {
	parser         *tfproto.SequenceParser
	context, lists []wanted
}

func bindParseSequence(n *node, in []spec.Component) (*binding, error) {
	var attrs struct {
		Context []featureForm `json:"context"`
		Lists   []featureForm `json:"lists"`
	}
	if err := n.attrs(&attrs); err != nil {
		return nil, err
	}
	if err := n.takesMessages(in); err != nil {
		return nil, err
	}
	context, features, err := wants(n.Op, attrs.Context)
	if err != nil {
		return nil, err
	}
	lists, steps, err := wants(n.Op, attrs.Lists)
	if err != nil {
		return nil, err
	}
	for _, w := range slices.Concat(context, lists) {
		if w.ragged != nil {
			return nil, errs.New(errs.Unimplemented, n.Op, "feature %q is ragged, which only those of parse_example and parse_single_example can be", w.Key)
		}
	}
	f := &parseSequence{context: context, lists: lists}
	if f.parser, err = tfproto.NewSequenceParser(features, steps); err != nil {
		return nil, err
	}
	b, batch := &binding{function: f}, in[0].Shape
	for i := range context {
		b.out = append(b.out, context[i].components(batch)...)
	}
	for i := range lists {
		if lists[i].Shape == tfproto.Var {
			b.out = append(b.out, sparse(lists[i].dtype, int64(2+len(batch)))...)
		} else {
			b.out = append(b.out, lists[i].components(batch)[0], spec.Component{DType: int64Type, Shape: batch})
		}
	}
	return b, nil
}

// run makes one row: steps differ.
func (f *parseSequence) run(c *call) (int64, error) {
	p, o := c.parsed(len(f.context), len(f.lists)), &c.in[0]
	in := p.messages(o, 1)
	if n, err := f.parser.Parse(in, p.context, p.lists); err != nil {
		_, err = f.parser.Parse(only(in, n, o), make([]tfproto.Column, len(f.context)), make([]tfproto.Column, len(f.lists)))
		return 0, c.name(err, n)
	}
	at := 0
	for i := range f.context {
		used, err := c.giveFeature(at, &f.context[i], &p.context[i], 1, o.Shape)
		if err != nil {
			return 0, err
		}
		at += used
	}
	for i := range f.lists {
		used, err := c.giveList(at, &f.lists[i], &p.lists[i], o.Shape)
		if err != nil {
			return 0, err
		}
		at += used
	}
	return 1, nil
}

// giveList makes results from result i on of a column of a feature list.
func (c *call) giveList(i int, w *wanted, column *tfproto.Column, batch []int64) (int, error) {
	lengths := make([]int64, len(column.Splits)-1)
	for k := range lengths {
		lengths[k] = column.Splits[k+1] - column.Splits[k]
	}
	if w.Shape == tfproto.Sequence {
		c.giveInts(i+1, lengths, batch...)
		_, err := c.giveFeature(i, w, column, 1, batch)
		return 2, err
	}
	most := int64(0)
	for k := 1; k < len(column.Steps); k++ {
		most = max(most, column.Steps[k]-column.Steps[k-1])
	}
	indices, values := column.Indices(), column.Steps[len(column.Steps)-1]
	shape := append(append([]int64{}, batch...), column.Longest(), most)
	if len(batch) == 0 { // there is no number of an example
		kept := indices[:0]
		for k := 0; k < len(indices); k += 3 {
			kept = append(kept, indices[k+1], indices[k+2])
		}
		indices = kept
	}
	c.giveInts(i, indices, values, int64(len(shape)))
	c.giveColumn(i+1, w.dtype, column, 1, values)
	c.giveInts(i+2, shape, int64(len(shape)))
	return 3, nil
}
