package snapshot

import (
	"encoding/binary"
	"slices"
	"unicode/utf8"

	"infeed/core/block"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// tfStored is what is stored of an element: a tensor for each leaf.
type tfStored struct {
	leaves []tfLeaf
	types  []tfproto.DataType // of each component
	kinds  []tfproto.DataType // of each leaf
}

// heads returns how the messages of leaves begin, as far as they are the same for all
// elements of these shapes.
func (s *tfStored) heads(shapes *spec.Element) [][]byte {
	out := make([][]byte, len(s.leaves))
	for i, l := range s.leaves {
		switch l.form {
		case "":
			out[i] = tfproto.AppendHead(nil, s.kinds[i], shapes.Components[l.first].Shape)
		case raggedName:
			out[i] = tfproto.AppendHead(nil, s.kinds[i], nil)
		case sparseName:
			out[i] = tfproto.AppendHead(nil, s.kinds[i], []int64{3})
		}
	}
	return out
}

// message completes the message of leaf i of an element, which begins with its head.
func (s *tfStored) message(dst []byte, i int, b block.Block, row int64) ([]byte, error) {
	l := &s.leaves[i]
	switch l.form {
	case anyName:
		dst = tfproto.AppendHead(dst, s.kinds[i], integersIn(b, l.first+1, row))
	case sparseName:
		var parts [][]byte
		for k := range 3 {
			tensor := s.tensor(l.first+k, b.Shapes.Components[l.first+k].Shape, b, row)
			parts = append(parts, tfproto.AppendVariant(nil, "tensorflow::Tensor", tensor))
		}
		return tfproto.AppendContent(dst, joinedTexts(parts)), nil
	case raggedName:
		splits, shape, err := rowsOf(integersIn(b, l.first+1, row), b.Shapes.Components[l.first+1].Shape)
		if err != nil {
			return nil, err
		}
		rows := vector(splits)
		variant := tfproto.AppendVariant(nil, "RaggedTensorVariant",
			tfproto.AppendContent(tfproto.AppendHead(nil, rows.Type, rows.Shape), rows.Data), s.tensor(l.first, shape, b, row))
		return tfproto.AppendContent(dst, joinedTexts([][]byte{variant})), nil
	}
	return tfproto.AppendContent(dst, contentOf(b, l.first, row)), nil
}

// tensor returns the message of the tensor that component c of an element is, with a shape.
func (s *tfStored) tensor(c int, shape []int64, b block.Block, row int64) []byte {
	return tfproto.AppendContent(tfproto.AppendHead(nil, s.types[c], shape), contentOf(b, c, row))
}

// integersIn returns the values of an element's component of int64 or int32.
func integersIn(b block.Block, c int, row int64) []int64 {
	data, size := contentOf(b, c, row), b.Shapes.Components[c].DType.Size
	out := make([]int64, int64(len(data))/size)
	for i := range out {
		if size == 4 {
			out[i] = int64(int32(le.Uint32(data[4*i:])))
		} else {
			out[i] = int64(le.Uint64(data[8*i:]))
		}
	}
	return out
}

// rowsOf returns where the rows of a ragged tensor begin and end in its values, and the
// shape of these, from the shape of each row, of which there are shape[0].
func rowsOf(shapes, shape []int64) (splits, values []int64, err error) {
	n, rank := shape[0], shape[1]
	splits, values = []int64{0}, make([]int64, max(rank, 1))
	var first, inner []int64 // the first row with values
	for i := range n {
		row := shapes[i*rank : (i+1)*rank]
		if rank == 0 || inner != nil && row[0] > 0 && !slices.Equal(inner, row[1:]) {
			return nil, nil, errs.New(errs.Unimplemented, "save", "it has a ragged component with rows of shapes %v and %v; those that differ in more than their length are not written in TensorFlow's format: pad them (padded_batch), or save with format=\"infeed\"", first, row)
		}
		if row[0] > 0 && inner == nil {
			first, inner = row, row[1:]
			copy(values[1:], inner)
		}
		splits = append(splits, splits[i]+row[0])
	}
	values[0] = splits[n]
	return splits, values, nil
}

// contentOf returns the values of an element's component as TensorFlow stores them.
func contentOf(b block.Block, c int, row int64) []byte {
	column := b.Columns[c]
	if t := column.Text; t != nil {
		each := int64(t.Len()) / b.Rows
		var texts [][]byte
		for k := row * each; k < (row+1)*each; k++ {
			texts = append(texts, t.At(int(k)))
		}
		return joinedTexts(texts)
	}
	data := column.Data[row*column.RowBytes : (row+1)*column.RowBytes]
	if d := b.Shapes.Components[c].DType; d.Kind == 'S' || d.Kind == 'U' {
		var texts [][]byte
		for k := range b.Shapes.Components[c].Count() {
			texts = append(texts, unfilled(data[k*d.Size:(k+1)*d.Size], d))
		}
		return joinedTexts(texts)
	}
	return data
}

// joinedTexts returns strings as TensorFlow stores them: the length of each, and then all.
func joinedTexts(texts [][]byte) (out []byte) {
	for _, t := range texts {
		out = binary.AppendUvarint(out, uint64(len(t)))
	}
	for _, t := range texts {
		out = append(out, t...)
	}
	return out
}

// unfilled returns a string of a fixed size without the zeros that fill it up, and UTF-32
// as UTF-8.
func unfilled(value []byte, d spec.DType) []byte {
	if d.Kind == 'U' {
		var out []byte
		for ; len(value) > 0; value = value[4:] {
			out = utf8.AppendRune(out, rune(le.Uint32(value)))
		}
		value = out
	}
	for len(value) > 0 && value[len(value)-1] == 0 {
		value = value[:len(value)-1]
	}
	return value
}
