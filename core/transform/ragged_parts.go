package transform

import (
	"strings"

	"infeed/core/errs"
	"infeed/core/spec"
)

// RaggedName is the name of the named tuple that a ragged component is; no type of
// Python can have it. Its fields are "values", all values of all arrays one after the
// other, and "shapes", integers: the last dimension is the shape of an array, those
// before it count arrays, as the dimensions that batches add do. An array that was
// taken out of a batch has one field, itself, whose key is the dtype of such shapes.
// Whoever delivers a component makes arrays of it.
const RaggedName = ":ragged"

// anyRankName is the type of a component of which not even the rank is known: its values and its shape.
const anyRankName = ":tensor"

// raggedPart is what a component is of a ragged one, whose shapes have the dtype shapes; of a
// row, they have it in batches.
type raggedPart struct {
	kind   partKind
	shapes spec.DType
}

// mostDimensions is how many an array of NumPy's can have.
const mostDimensions = 64

type partKind uint8

const (
	plainPart  partKind = iota // a tensor
	rowPart                    // an array
	valuesPart                 // all values of arrays
	shapesPart                 // the shapes of those arrays, which are the component before
)

func isRagged(s spec.Structure) bool { return s.Kind == spec.NamedTuple && s.Name == RaggedName }

// raggedStructure is that of a ragged component.
func raggedStructure() spec.Structure {
	return spec.Structure{Kind: spec.NamedTuple, Name: RaggedName, Keys: []string{"values", "shapes"}, Items: make([]spec.Structure, 2)}
}

// rowStructure is that of an array that was taken out of a ragged component, with shapes
// of a dtype.
func rowStructure(shapes spec.DType) spec.Structure {
	return spec.Structure{Kind: spec.NamedTuple, Name: RaggedName, Keys: []string{shapes.Code()}, Items: make([]spec.Structure, 1)}
}

// arraysStructure is that of elements whose rows are arrays like others.
func arraysStructure(s spec.Structure) spec.Structure {
	if isRagged(s) && len(s.Items) == 1 {
		return spec.Structure{}
	}
	if s.Kind == spec.Leaf {
		return s
	}
	out := s
	out.Items = make([]spec.Structure, len(s.Items))
	for i, item := range s.Items {
		out.Items[i] = arraysStructure(item)
	}
	return out
}

// partsOf returns what the components of elements are; nil where all of them are tensors.
// It fails where a component's rank is not known: such are not stacked, nor taken apart.
func partsOf(op string, e *spec.Element) ([]raggedPart, error) {
	var out []raggedPart
	ragged := false
	var visit func(s spec.Structure) error
	visit = func(s spec.Structure) error {
		switch {
		case s.Kind == spec.NamedTuple && s.Name == anyRankName:
			return errs.New(errs.Unimplemented, op, "components of unknown rank can be neither stacked nor taken apart; map them to arrays first")
		case isRagged(s):
			ragged = true
			parts, err := raggedParts(op, e, s, len(out))
			out = append(out, parts...)
			return err
		case s.Kind == spec.Leaf:
			out = append(out, raggedPart{})
		}
		for _, item := range s.Items {
			if err := visit(item); err != nil {
				return err
			}
		}
		return nil
	}
	if err := visit(e.Structure); err != nil || !ragged {
		return nil, err
	}
	return out, nil
}

// raggedParts returns the parts of a ragged component, whose first is component at.
func raggedParts(op string, e *spec.Element, s spec.Structure, at int) ([]raggedPart, error) {
	bad := errs.New(errs.InvalidArgument, op, "a ragged component cannot have the parts %v", s)
	if s.Leaves() != len(s.Items) || len(s.Items) != len(s.Keys) {
		return nil, bad
	}
	switch len(s.Items) {
	case 1:
		shapes, err := spec.ParseDType(s.Keys[0])
		if err != nil || !isShape(shapes) {
			return nil, bad
		}
		return []raggedPart{{rowPart, shapes}}, nil
	case 2:
		values, shapes := e.Components[at], e.Components[at+1]
		if rank := len(shapes.Shape); len(values.Shape) != 1 || rank < 2 || shapes.Shape[rank-1] < 0 || shapes.Shape[rank-1] > mostDimensions || !isShape(shapes.DType) {
			return nil, bad
		}
		return []raggedPart{{valuesPart, shapes.DType}, {shapesPart, shapes.DType}}, nil
	}
	return nil, bad
}

// isShape tells whether shapes can be of a dtype.
func isShape(d spec.DType) bool { return d.Kind == 'i' && (d.Size == 4 || d.Size == 8) }

// partName says which component a part belongs to, as it is written in Python.
func partName(e *spec.Element, parts []raggedPart, i int) string {
	name := e.Name(i)
	if parts != nil && parts[i].kind != plainPart {
		name = name[:strings.LastIndexByte(name, '.')]
	}
	return name
}
