package op

import (
	"slices"

	"infeed/core/errs"
	"infeed/core/spec"
)

// decode_raw sees the bytes of texts as numbers: a text becomes a vector. Attributes:
// dtype; big, when numbers have their highest byte first; fixed_length in bytes, to
// which texts are cut or filled up with zeros. Without it, all texts of a row need
// the same length.
func init() { binders["decode_raw"] = bindDecodeRaw }

type decodeRaw struct {
	dtype spec.DType
	big   bool
	fixed int64 // -1: none
}

func bindDecodeRaw(n *node, in []spec.Component) (*binding, error) {
	var attrs struct {
		DType string `json:"dtype"`
		Big   bool   `json:"big"`
		Fixed *int64 `json:"fixed_length"`
	}
	if err := n.attrs(&attrs); err != nil {
		return nil, err
	}
	if len(in) != 1 || !in[0].IsText() {
		return nil, n.refuse(in)
	}
	d, err := spec.ParseDType(attrs.DType)
	if err != nil || d.Size == 0 {
		return nil, errs.New(errs.InvalidArgument, n.Op, "%q is no dtype of numbers", attrs.DType)
	}
	f, count := &decodeRaw{dtype: d, big: attrs.Big, fixed: -1}, int64(-1)
	if attrs.Fixed != nil {
		f.fixed = *attrs.Fixed
		if f.fixed <= 0 || f.fixed%d.Size != 0 {
			return nil, errs.New(errs.InvalidArgument, n.Op, "fixed_length is %d; give a multiple of the %d bytes of %v, more than 0", f.fixed, d.Size, d)
		}
		count = f.fixed / d.Size
	}
	return &binding{function: f, out: []spec.Component{{DType: d, Shape: append(slices.Clone(in[0].Shape), count)}}}, nil
}

func (f *decodeRaw) run(c *call) (int64, error) {
	o := &c.in[0]
	size, rows, err := f.sizes(o, c.rows)
	if rows == 0 {
		return 0, err
	}
	c.rows = rows
	out, err := c.make(0, f.dtype, append(slices.Clone(o.Shape), size/f.dtype.Size)...)
	if err != nil {
		return 0, err
	}
	to := out.Data
	for i := range rows {
		each, first := o.texts(i)
		for k := range each {
			n := copy(to[:size], o.Text.At(first+k))
			clear(to[n:size])
			to = to[size:]
		}
	}
	f.convert(out.Data)
	return rows, nil
}

// sizes returns the size of the texts of the first rows, and how many rows have that.
func (f *decodeRaw) sizes(o *operand, rows int64) (size, same int64, err error) {
	if f.fixed >= 0 {
		return f.fixed, rows, nil
	}
	for i := range rows {
		now, err := f.sizeOf(o, i)
		if i == 0 {
			size = now
		}
		if err != nil || now != size {
			return size, i, err
		}
	}
	return size, rows, nil
}

// sizeOf returns the size of each text of a row; 0 for no texts.
func (f *decodeRaw) sizeOf(o *operand, row int64) (int64, error) {
	each, first := o.texts(row)
	if each == 0 {
		return 0, nil
	}
	size := len(o.Text.At(first))
	for k := range each {
		if n := len(o.Text.At(first + k)); n != size {
			return 0, errs.New(errs.InvalidArgument, "decode_raw", "text %d has %d bytes, and text 0 has %d; all need the same size, or give fixed_length", k, n, size)
		}
	}
	if int64(size)%f.dtype.Size != 0 {
		return 0, errs.New(errs.InvalidArgument, "decode_raw", "a text has %d bytes, no multiple of the %d bytes of %v", size, f.dtype.Size, f.dtype)
	}
	return int64(size), nil
}

// convert makes values of this machine of bytes.
func (f *decodeRaw) convert(b []byte) {
	if f.dtype.Kind == 'b' {
		normalizeBools(b)
	}
	size := int(f.dtype.Size)
	if f.dtype.Kind == 'c' {
		size /= 2 // a complex number is two
	}
	if !f.big || size == 1 {
		return
	}
	for ; len(b) > 0; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

// normalizeBools makes every byte that is not 0 a 1: NumPy's bool has no other values.
func normalizeBools(b []byte) {
	for i, v := range b {
		if v != 0 {
			b[i] = 1
		}
	}
}
