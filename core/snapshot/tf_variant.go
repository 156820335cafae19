package snapshot

import (
	"encoding/binary"
	"slices"

	"infeed/core/tfproto"
)

// flat returns the values of a tensor as a vector.
func flat(t tfproto.Tensor) tfproto.Tensor {
	n := int64(1)
	for _, d := range t.Shape {
		n *= d
	}
	t.Shape = []int64{n}
	return t
}

const tfInt64 tfproto.DataType = 9

// vector returns a tensor of integers.
func vector(values []int64) tfproto.Tensor {
	t := tfproto.Tensor{Type: tfInt64, Shape: []int64{int64(len(values))}}
	for _, v := range values {
		t.Data = binary.LittleEndian.AppendUint64(t.Data, uint64(v))
	}
	return t
}

// raggedOf returns values and row shapes of a ragged tensor; nil where the variants that
// are stored are none. One variant has the places of rows, and the values; a batch has one
// for each row.
func raggedOf(shape []int64, parts [][]tfproto.Tensor) []tfproto.Tensor {
	if len(shape) == 0 && len(parts[0]) == 2 {
		if shapes, ok := rowShapes(&parts[0][0], parts[0][1].Shape); ok {
			return []tfproto.Tensor{flat(parts[0][1]), shapes}
		}
	}
	if len(shape) != 1 || len(parts) == 0 {
		return nil
	}
	var rows []tfproto.Tensor
	var shapes []int64
	for _, p := range parts {
		if len(p) != 1 || p[0].Type != parts[0][0].Type || len(p[0].Shape) != len(parts[0][0].Shape) {
			return nil
		}
		rows = append(rows, flat(p[0]))
		shapes = append(shapes, p[0].Shape...)
	}
	all := vector(shapes)
	all.Shape = []int64{shape[0], int64(len(parts[0][0].Shape))}
	return []tfproto.Tensor{joined(rows), all}
}

// sparseOf returns indices, values and dense shape of a sparse tensor, which are three
// variants; nil where those that are stored are none. A batch has three for each of its
// elements, whose places come before the indices.
func sparseOf(shape []int64, parts [][]tfproto.Tensor) []tfproto.Tensor {
	if len(shape) == 0 || shape[len(shape)-1] != 3 || len(parts) == 0 {
		return nil
	}
	batch := shape[:len(shape)-1]
	var indices, dense []int64
	var values []tfproto.Tensor
	for i := 0; i < len(parts); i += 3 {
		one, ok := readSparse(parts[i : i+3])
		if dense == nil {
			dense = append(slices.Clone(batch), one.dims...)
		}
		if !ok || len(dense) != len(batch)+len(one.dims) || one.values.Type != parts[1][0].Type {
			return nil
		}
		first := unravel(int64(i/3), batch)
		for at, rank := 0, len(one.dims); at < len(one.indices); at += rank {
			indices = append(append(indices, first...), one.indices[at:at+rank]...)
		}
		for k, d := range one.dims {
			dense[len(batch)+k] = max(dense[len(batch)+k], d)
		}
		values = append(values, one.values)
	}
	places, all := vector(indices), joined(values)
	places.Shape = []int64{all.Shape[0], int64(len(dense))}
	return []tfproto.Tensor{places, all, vector(dense)}
}

// sparse is a sparse tensor.
type sparse struct {
	indices, dims []int64
	values        tfproto.Tensor
}

// readSparse reads three variants with a tensor each, if they fit one another.
func readSparse(parts [][]tfproto.Tensor) (s sparse, ok bool) {
	for _, p := range parts {
		if len(p) != 1 {
			return s, false
		}
	}
	places := &parts[0][0]
	s.values = parts[1][0]
	s.indices, ok = integersOf(places)
	if ok {
		s.dims, ok = integersOf(&parts[2][0])
	}
	return s, ok && len(places.Shape) == 2 && len(s.values.Shape) == 1 && len(s.dims) > 0 &&
		places.Shape[0] == s.values.Shape[0] && places.Shape[1] == int64(len(s.dims))
}

// unravel returns the indices of value i of a shape.
func unravel(i int64, shape []int64) []int64 {
	out := make([]int64, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		out[k] = i % shape[k]
		i /= shape[k]
	}
	return out
}

// joined returns vectors of the same type as one.
func joined(parts []tfproto.Tensor) tfproto.Tensor {
	if len(parts) == 1 {
		return parts[0]
	}
	out := tfproto.Tensor{Type: parts[0].Type, Shape: []int64{0}}
	if out.Type == tfproto.String {
		out.Offsets = []int64{0}
	}
	for _, p := range parts {
		for _, end := range p.Offsets[min(1, len(p.Offsets)):] {
			out.Offsets = append(out.Offsets, int64(len(out.Data))+end)
		}
		out.Data = append(out.Data, p.Data...)
		out.Shape[0] += p.Shape[0]
	}
	return out
}

// rowShapes returns the shape of each row, of which the values in a tensor of a shape
// are: row i has those from splits[i] on, up to splits[i+1].
func rowShapes(splits *tfproto.Tensor, values []int64) (t tfproto.Tensor, ok bool) {
	numbers, ok := integersOf(splits)
	if !ok || len(splits.Shape) != 1 || len(numbers) == 0 || len(values) == 0 || numbers[0] != 0 || numbers[len(numbers)-1] != values[0] {
		return t, false
	}
	var all []int64
	for i, end := range numbers[1:] {
		if end < numbers[i] {
			return t, false
		}
		all = append(append(all, end-numbers[i]), values[1:]...)
	}
	t = vector(all)
	t.Shape = []int64{int64(len(numbers) - 1), int64(len(values))}
	return t, true
}

// integersOf returns the values of a tensor of int64 or int32.
func integersOf(t *tfproto.Tensor) (out []int64, ok bool) {
	d, _ := t.Type.DType()
	if d.Kind != 'i' || d.Size < 4 {
		return nil, false
	}
	for at := int64(0); at < int64(len(t.Data)); at += d.Size {
		if d.Size == 8 {
			out = append(out, int64(le.Uint64(t.Data[at:])))
		} else {
			out = append(out, int64(int32(le.Uint32(t.Data[at:]))))
		}
	}
	return out, true
}
