package pipeline

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/source"
	"infeed/core/spec"
)

// values is what a template's values are for one element: the columns of a row.
type values struct{ row block.Block }

// fill writes what goes into a hole, as JSON.
func (v values) fill(out []byte, h hole) ([]byte, error) {
	switch h.kind {
	case "$const":
		return v.constant(out, h.value)
	case "$bytes":
		return v.bytes(out, h.value)
	}
	return v.append(out, h.value)
}

// constant writes the attributes of a constant of a program.
func (v values) constant(out []byte, k int) ([]byte, error) {
	if err := v.has(k); err != nil {
		return nil, err
	}
	c, column := v.row.Shapes.Components[k], v.row.Columns[k]
	var a struct {
		DType string   `json:"dtype"`
		Shape []int64  `json:"shape"`
		Data  []byte   `json:"data,omitempty"`
		Texts [][]byte `json:"texts,omitempty"`
	}
	a.DType, a.Shape, a.Data = c.DType.Code(), append([]int64{}, c.Shape...), column.Data
	if t := column.Text; t != nil {
		a.Data = nil
		for i := range t.Len() {
			a.Texts = append(a.Texts, t.At(i))
		}
	}
	text, err := json.Marshal(a)
	return append(out, text...), err
}

// bytes writes a string in base64.
func (v values) bytes(out []byte, k int) ([]byte, error) {
	if err := v.has(k); err != nil {
		return nil, err
	}
	t := v.row.Columns[k].Text
	if t == nil || t.Len() != 1 {
		return nil, errs.New(errs.InvalidArgument, "function", "%v is not a string", v.row.Shapes.Components[k])
	}
	text, err := json.Marshal(t.At(0))
	return append(out, text...), err
}

// append writes value k as JSON.
func (v values) append(out []byte, k int) ([]byte, error) {
	if err := v.has(k); err != nil {
		return nil, err
	}
	c := v.row.Shapes.Components[k]
	if len(c.Shape) > 1 {
		return nil, errs.New(errs.InvalidArgument, "function", "%v cannot be an argument of a dataset; numbers, strings and lists of them can", c)
	}
	if len(c.Shape) == 0 {
		return v.one(out, k, 0)
	}
	out = append(out, '[')
	for i := range c.Shape[0] {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = v.one(out, k, i); err != nil {
			return nil, err
		}
	}
	return append(out, ']'), nil
}

func (v values) has(k int) error {
	if k < 0 || v.row.Shapes == nil || k >= len(v.row.Shapes.Components) {
		return errs.New(errs.InvalidArgument, "function", "there is no value %d in the template of a dataset", k)
	}
	return nil
}

// one writes number i of value k.
func (v values) one(out []byte, k int, i int64) ([]byte, error) {
	d, column := v.row.Shapes.Components[k].DType, v.row.Columns[k]
	if column.Text != nil {
		return quoted(out, column.Text.At(int(i)))
	}
	b := column.Data[i*d.Size:]
	switch d.Kind {
	case 'b':
		return strconv.AppendBool(out, b[0] != 0), nil
	case 'i':
		return strconv.AppendInt(out, signed(b, d.Size), 10), nil
	case 'u':
		return strconv.AppendUint(out, unsigned(b, d.Size), 10), nil
	case 'f':
		if d.Size == 4 {
			return finite(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(b))))
		}
		if d.Size == 8 {
			return finite(out, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case 'S':
		return quoted(out, trimmed(b[:d.Size]))
	}
	return nil, errs.New(errs.InvalidArgument, "function", "a %v cannot be an argument of a dataset", d)
}

func finite(out []byte, x float64) ([]byte, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil, errs.New(errs.InvalidArgument, "function", "%v cannot be an argument of a dataset", x)
	}
	return strconv.AppendFloat(out, x, 'g', -1, 64), nil
}

// trimmed is text of a fixed size without the zeros at its end.
func trimmed(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

func quoted(out, s []byte) ([]byte, error) {
	if !utf8.Valid(s) {
		return nil, errs.New(errs.InvalidArgument, "function", "%q is not UTF-8 and cannot be an argument of a dataset", s)
	}
	text, err := json.Marshal(string(s))
	return append(out, text...), err
}

func unsigned(b []byte, size int64) uint64 {
	switch size {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(b))
	case 4:
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

func signed(b []byte, size int64) int64 {
	shift := 64 - 8*uint(size)
	return int64(unsigned(b, size)<<shift) >> shift
}

// source makes a source of values: their rows, or all of them as one element.
func (v values) source(structure spec.Structure, ks []int, rows bool) (dataset.Definition, error) {
	e := &spec.Element{Structure: structure}
	var numbers [][]byte
	var texts []*block.Text
	n := int64(1)
	for i, k := range ks {
		if err := v.has(k); err != nil {
			return nil, err
		}
		c := v.row.Shapes.Components[k]
		if rows {
			if len(c.Shape) == 0 {
				return nil, errs.New(errs.InvalidArgument, "from_tensor_slices", "a single value of %v cannot be sliced; give arrays of at least one dimension", c.DType)
			}
			if i > 0 && c.Shape[0] != n {
				return nil, errs.New(errs.InvalidArgument, "from_tensor_slices", "an array has %d rows and another %d; all need the same first dimension", c.Shape[0], n)
			}
			n = c.Shape[0]
			c.Shape = c.Shape[1:]
		}
		e.Components = append(e.Components, c)
		numbers = append(numbers, v.row.Columns[k].Data)
		if t := v.row.Columns[k].Text; t != nil {
			texts = append(texts, t)
		}
	}
	if rows {
		return source.Slices(e, n, numbers, texts...)
	}
	return source.Tensors(e, numbers, texts...)
}
