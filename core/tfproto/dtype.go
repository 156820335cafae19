package tfproto

import (
	"infeed/core/spec"
)

// DataType is TensorFlow's number of a dtype.
type DataType int32

// String is the DataType of strings, the only one here whose values differ in size.
const String DataType = 7

// dataType is what is known of a dtype: TensorFlow's name, NumPy's kind and size, and
// the field of TensorProto that holds its values when they are not in
// tensor_content, with how they are there.
type dataType struct {
	name  string
	dtype spec.DType
	field uint64
	form  form
}

// form is how values are in a field of TensorProto.
type form uint8

const (
	varints  form = iota // one number a value
	fixed                // of the size of the value, or of half of it
	raw                  // bytes that are the values
	repeated             // one string a value
)

// dataTypes is DataType of tensorflow/core/framework/types.proto, without those
// whose values are no plain numbers (resources, variants).
var dataTypes = map[DataType]dataType{
	1:      {"float32", spec.DType{Kind: 'f', Size: 4}, 5, fixed},
	2:      {"float64", spec.DType{Kind: 'f', Size: 8}, 6, fixed},
	3:      {"int32", spec.DType{Kind: 'i', Size: 4}, 7, varints},
	4:      {"uint8", spec.DType{Kind: 'u', Size: 1}, 7, varints},
	5:      {"int16", spec.DType{Kind: 'i', Size: 2}, 7, varints},
	6:      {"int8", spec.DType{Kind: 'i', Size: 1}, 7, varints},
	String: {"string", spec.DType{}, 8, repeated},
	8:      {"complex64", spec.DType{Kind: 'c', Size: 8}, 9, fixed},
	9:      {"int64", spec.DType{Kind: 'i', Size: 8}, 10, varints},
	10:     {"bool", spec.DType{Kind: 'b', Size: 1}, 11, varints},
	11:     {"qint8", spec.DType{Kind: 'i', Size: 1}, 7, varints},
	12:     {"quint8", spec.DType{Kind: 'u', Size: 1}, 7, varints},
	13:     {"qint32", spec.DType{Kind: 'i', Size: 4}, 7, varints},
	14:     {"bfloat16", spec.DType{Kind: 'V', Size: 2}, 13, varints},
	15:     {"qint16", spec.DType{Kind: 'i', Size: 2}, 7, varints},
	16:     {"quint16", spec.DType{Kind: 'u', Size: 2}, 7, varints},
	17:     {"uint16", spec.DType{Kind: 'u', Size: 2}, 7, varints},
	18:     {"complex128", spec.DType{Kind: 'c', Size: 16}, 12, fixed},
	19:     {"float16", spec.DType{Kind: 'f', Size: 2}, 13, varints},
	22:     {"uint32", spec.DType{Kind: 'u', Size: 4}, 16, varints},
	23:     {"uint64", spec.DType{Kind: 'u', Size: 8}, 17, varints},
	24:     {"float8_e5m2", spec.DType{Kind: 'V', Size: 1}, 18, raw},
	25:     {"float8_e4m3fn", spec.DType{Kind: 'V', Size: 1}, 18, raw},
	26:     {"float8_e4m3fnuz", spec.DType{Kind: 'V', Size: 1}, 18, raw},
	27:     {"float8_e4m3b11fnuz", spec.DType{Kind: 'V', Size: 1}, 18, raw},
	28:     {"float8_e5m2fnuz", spec.DType{Kind: 'V', Size: 1}, 18, raw},
	29:     {"int4", spec.DType{Kind: 'V', Size: 1}, 7, varints}, // a byte a value
	30:     {"uint4", spec.DType{Kind: 'V', Size: 1}, 7, varints},
	31:     {"int2", spec.DType{Kind: 'V', Size: 1}, 7, varints},
	32:     {"uint2", spec.DType{Kind: 'V', Size: 1}, 7, varints},
}

// DataTypeOf returns the DataType with TensorFlow's name of a dtype.
func DataTypeOf(name string) (DataType, bool) {
	for t, d := range dataTypes {
		if d.name == name {
			return t, true
		}
	}
	return 0, false
}

// DataTypeFor returns the DataType of values that NumPy knows by a dtype; false where
// TensorFlow has none, as for times.
func DataTypeFor(d spec.DType) (DataType, bool) {
	if d.Kind == 'V' {
		return DataTypeOf(d.Label)
	}
	if d.Kind == 'O' || d.Kind == 'S' || d.Kind == 'U' {
		return String, true
	}
	t, known := DataTypeOf(d.String())
	return t, known
}

// Name returns TensorFlow's name, such as float32 or string; "" if t is not known.
func (t DataType) Name() string { return dataTypes[t].name }

// DType returns what NumPy makes of a value, and false for strings and what is not
// known. NumPy has no kind of its own for bfloat16, float8 and int4: their name tells.
func (t DataType) DType() (spec.DType, bool) {
	d := dataTypes[t].dtype
	return d, d.Size > 0
}
