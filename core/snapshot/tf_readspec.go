package snapshot

import (
	"fmt"
	"sort"
	"strings"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// Names of the named tuples that components become which are no plain tensors. Whoever
// delivers elements makes one object of each; no type of Python can have such a name.
const (
	raggedName = ":ragged" // "values", all of them, and "shapes", a row for each array
	sparseName = ":sparse" // "indices", "values", "dense_shape"
	anyName    = ":tensor" // "values" and "shape", where not even the rank is known
)

// The fields of a StructuredValue that are read; more are in tf_spec.go.
const (
	tfNumber     = 12
	tfShape      = 31
	tfType       = 32
	tfTypeSpec   = 34
	tfBounded    = 35
	tfList       = 51
	tfLastField  = 63 // a field with a higher number is none of a StructuredValue
	tfSpecDepth  = 60
	tfSparseKind = 1
	tfRaggedKind = 3
)

// parseTFSpec reads what elements are like, from the StructuredValue in a file.
func parseTFSpec(text []byte, at string) (*spec.Element, error) {
	r := &tfSpecReader{path: at, out: &spec.Element{}}
	r.out.Structure = r.structure(text, "", 0)
	if r.err == nil && r.out.Structure.Leaves() != len(r.out.Components) {
		r.broken()
	}
	return r.out, r.err
}

// tfSpecReader reads a StructuredValue of specs.
type tfSpecReader struct {
	path string
	out  *spec.Element
	err  error
}

func (r *tfSpecReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *tfSpecReader) broken() {
	r.fail(lost(r.path, 0, "this is no spec of elements that tf.data saved"))
}

func (r *tfSpecReader) fields(b []byte, f func(field int, value uint64, data []byte)) {
	if !protoFields(b, func(field int, value uint64, data []byte) bool { f(field, value, data); return r.err == nil }) {
		r.broken()
	}
}

// structure reads what is at a place of an element, which name tells.
func (r *tfSpecReader) structure(b []byte, name string, depth int) (s spec.Structure) {
	if depth > tfSpecDepth {
		r.fail(lost(r.path, 0, "its spec is nested too deep"))
		return
	}
	r.fields(b, func(field int, _ uint64, data []byte) {
		switch field {
		case tfTensorSpec, tfBounded:
			s = r.tensor(data)
		case tfTypeSpec:
			s = r.typed(data, name)
		case tfList, tfTuple:
			s = spec.Structure{Kind: spec.Tuple}
			r.fields(data, func(_ int, _ uint64, item []byte) {
				s.Items = append(s.Items, r.structure(item, fmt.Sprintf("%s[%d]", name, len(s.Items)), depth+1))
			})
		case tfDict:
			s = r.pairs(spec.Structure{Kind: spec.Dict}, data, name, depth)
		case tfNamedTuple:
			s = r.pairs(spec.Structure{Kind: spec.NamedTuple}, data, name, depth)
			if strings.HasPrefix(s.Name, ":") {
				r.broken()
			}
		default:
			if field > tfLastField {
				r.broken()
			}
			r.fail(errs.New(errs.Unimplemented, "load", "%q has elements whose component%s is no tensor (field %d of their spec)", r.path, name, field))
		}
	})
	return s
}

// pairs reads the keys and values of a dict, in the order of keys, or of a named tuple.
func (r *tfSpecReader) pairs(s spec.Structure, b []byte, name string, depth int) spec.Structure {
	in, key := 1, "%s[%q]"
	if s.Kind == spec.NamedTuple {
		in, key = 2, "%s.%s"
	}
	var keys []string
	values := map[string][]byte{}
	r.fields(b, func(field int, _ uint64, pair []byte) {
		if field == 1 && in == 2 {
			s.Name = string(pair)
		}
		if field != in {
			return
		}
		k, v := r.pair(pair)
		if _, twice := values[k]; !twice {
			keys = append(keys, k)
		}
		values[k] = v
	})
	if s.Kind == spec.Dict {
		sort.Strings(keys)
	}
	for _, k := range keys {
		s.Keys = append(s.Keys, k)
		s.Items = append(s.Items, r.structure(values[k], fmt.Sprintf(key, name, k), depth+1))
	}
	return s
}

func (r *tfSpecReader) pair(b []byte) (key string, value []byte) {
	r.fields(b, func(field int, _ uint64, data []byte) {
		if field == 1 {
			key = string(data)
		} else {
			value = data
		}
	})
	return key, value
}

// tensor reads a TensorSpecProto.
func (r *tfSpecReader) tensor(b []byte) spec.Structure {
	c, known := spec.Component{Shape: []int64{}}, true
	r.fields(b, func(field int, value uint64, data []byte) {
		switch field {
		case 2:
			c.Shape, known = r.shape(data)
		case 3:
			c.DType = r.dtype(value)
		}
	})
	if !known {
		return r.parts(anyName, []string{"values", "shape"}, spec.Component{DType: c.DType, Shape: []int64{-1}}, numbers64(-1))
	}
	r.out.Components = append(r.out.Components, c)
	return spec.Structure{}
}

// parts adds the components of what is no plain tensor.
func (r *tfSpecReader) parts(name string, keys []string, components ...spec.Component) spec.Structure {
	r.out.Components = append(r.out.Components, components...)
	return spec.Structure{Kind: spec.NamedTuple, Name: name, Keys: keys, Items: make([]spec.Structure, len(components))}
}

// numbers64 describes integers.
func numbers64(shape ...int64) spec.Component {
	return spec.Component{DType: spec.DType{Kind: 'i', Size: 8}, Shape: shape}
}

// shape reads a TensorShapeProto; false where the rank is not known.
func (r *tfSpecReader) shape(b []byte) (shape []int64, known bool) {
	shape, known = []int64{}, true
	r.fields(b, func(field int, unknown uint64, dim []byte) {
		if field == 3 {
			known = unknown == 0
		}
		if field != 2 {
			return
		}
		n := int64(0)
		r.fields(dim, func(field int, value uint64, _ []byte) {
			if field == 1 {
				n = int64(value)
			}
		})
		shape = append(shape, max(n, -1))
	})
	return shape, known
}

func (r *tfSpecReader) dtype(value uint64) spec.DType {
	d, known := tfDType(tfproto.DataType(value))
	if !known {
		r.fail(errs.New(errs.Unimplemented, "load", "%q has a component of dtype %d of TensorFlow's, which has no plain values", r.path, value))
	}
	return d
}

// typed reads a TypeSpecProto: of ragged and sparse tensors.
func (r *tfSpecReader) typed(b []byte, name string) spec.Structure {
	class, kind := "", uint64(0)
	var state tfTyped
	r.fields(b, func(field int, value uint64, data []byte) {
		switch field {
		case 1:
			kind = value
		case 2:
			state = r.state(data)
		case 3:
			class = string(data)
		}
	})
	values := spec.Component{DType: state.dtype, Shape: []int64{-1}}
	rank := int64(len(state.shape))
	switch {
	case r.err != nil:
	case kind == tfSparseKind && state.known:
		return r.parts(sparseName, []string{"indices", "values", "dense_shape"}, numbers64(-1, rank), values, numbers64(rank))
	case kind == tfRaggedKind && state.known && state.ragged == 0:
		r.out.Components = append(r.out.Components, spec.Component{DType: state.dtype, Shape: state.shape})
	case kind == tfRaggedKind && state.known && state.ragged == 1 && rank > 1:
		return r.parts(raggedName, []string{"values", "shapes"}, values, numbers64(state.shape[0], rank-1))
	case kind == tfRaggedKind && state.known:
		r.fail(errs.New(errs.Unimplemented, "load", "%q has elements whose component%s is ragged in %d dimensions; one is read", r.path, name, state.ragged))
	default:
		r.fail(errs.New(errs.Unimplemented, "load", "%q has elements whose component%s is a %s, which is not read", r.path, name, class))
	}
	return spec.Structure{}
}

// tfTyped is what a TypeSpecProto of a ragged or sparse tensor says.
type tfTyped struct {
	shape  []int64
	known  bool // the rank
	dtype  spec.DType
	ragged int64 // how many dimensions are
}

// state reads a StructuredValue that is a tuple of a shape, a dtype and, of ragged
// tensors, how many dimensions differ between rows; what follows is of no matter.
func (r *tfSpecReader) state(b []byte) (s tfTyped) {
	items := 0
	r.fields(b, func(field int, _ uint64, data []byte) {
		if field != tfTuple && field != tfList {
			return
		}
		r.fields(data, func(_ int, _ uint64, item []byte) {
			items++
			r.fields(item, func(field int, value uint64, data []byte) {
				switch {
				case items == 1 && field == tfShape:
					s.shape, s.known = r.shape(data)
				case items == 2 && field == tfType:
					s.dtype = r.dtype(value)
				case items == 3 && field == tfNumber:
					s.ragged = int64(value>>1) ^ -int64(value&1)
				}
			})
		})
	})
	return s
}
