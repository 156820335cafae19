package transform

import (
	"encoding/json"
	"fmt"
	"strings"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// DatasetName is the name of the named tuple that a component becomes whose values
// are datasets; no type of Python can have it. Its only key is the description of
// their elements, as spec.Component writes it in JSON, or spec.Element where they are no
// tensors, and its only field a string that [DatasetOf] reads. So elements that have
// datasets are elements like others.
const DatasetName = ":dataset"

// datasetsOf describes elements that have a dataset for each component, and says where
// what it is made of starts among the components of elements, and at last ends.
func datasetsOf(e *spec.Element) (out *spec.Element, starts []int, err error) {
	out, starts = &spec.Element{}, []int{0}
	out.Structure, err = replaceLeaves(e.Structure, func(s spec.Structure) (spec.Structure, error) {
		from := starts[len(starts)-1]
		starts = append(starts, from+s.Leaves())
		text, err := elementText(s, e.Components[from:from+s.Leaves()])
		out.Components = append(out.Components, spec.Component{DType: spec.Text})
		return spec.Structure{Kind: spec.NamedTuple, Name: DatasetName, Keys: []string{text}, Items: make([]spec.Structure, 1)}, err
	})
	return out, starts, err
}

// elementText is a component in JSON, as short as can be, so that equal ones have equal
// texts; one that is no tensor is an element.
func elementText(s spec.Structure, parts []spec.Component) (string, error) {
	var texts []string
	for _, c := range parts {
		shape, err := json.Marshal(append([]int64{}, c.Shape...))
		if err != nil {
			return "", err
		}
		texts = append(texts, fmt.Sprintf(`{"dtype":%q,"shape":%s}`, c.DType.Code(), shape))
	}
	if s.Kind == spec.Leaf {
		return texts[0], nil
	}
	var keys []string
	for _, k := range s.Keys {
		keys = append(keys, fmt.Sprintf(`[%q,null]`, k))
	}
	return fmt.Sprintf(`{"structure":{"dict":[%s],"name":%q},"components":[%s]}`, strings.Join(keys, ","), s.Name, strings.Join(texts, ",")), nil
}

// elementOf reads what elementText wrote.
func elementOf(text string) (*spec.Element, error) {
	e := &spec.Element{}
	if !strings.HasPrefix(text, `{"structure":`) {
		e.Components = make([]spec.Component, 1)
		return e, json.Unmarshal([]byte(text), &e.Components[0])
	}
	err := json.Unmarshal([]byte(text), e)
	if err == nil && e.Structure.Leaves() != len(e.Components) {
		err = errs.New(errs.InvalidArgument, "window", "%d components", len(e.Components))
	}
	return e, err
}

// replaceLeaves puts what leaf returns in the place of each component, be it a leaf, or a
// named tuple that stands for one.
func replaceLeaves(s spec.Structure, leaf func(spec.Structure) (spec.Structure, error)) (_ spec.Structure, err error) {
	if s.Kind == spec.Leaf || s.Kind == spec.NamedTuple && (s.Name == RaggedName || s.Name == anyRankName || s.Name == DatasetName) {
		return leaf(s)
	}
	out := s
	out.Items = make([]spec.Structure, len(s.Items))
	for i, item := range s.Items {
		if out.Items[i], err = replaceLeaves(item, leaf); err != nil {
			return out, err
		}
	}
	return out, nil
}

// DatasetOf returns a dataset that is a value of a component, whose structure is of
// the name [DatasetName].
func DatasetOf(s spec.Structure, value []byte) (dataset.Indexed, error) {
	const op = "window"
	if s.Name != DatasetName || len(s.Keys) != 1 {
		return nil, errs.New(errs.InvalidArgument, op, "this component is no dataset")
	}
	e, err := elementOf(s.Keys[0])
	if err != nil {
		return nil, errs.Wrap(err, errs.InvalidArgument, op, "%q describes no component", s.Keys[0])
	}
	rest := append([]byte(nil), value...)
	var blocks []block.Block
	for len(rest) > 0 {
		b, left, err := readBlock(op, e, rest)
		if err != nil {
			return nil, err
		}
		blocks, rest = append(blocks, b), left
	}
	return Stored(e, blocks), nil
}

// datasetsIn returns the datasets that an element of a structure has, the only row of
// a block.
func datasetsIn(structure spec.Structure, row block.Block) ([]dataset.Definition, error) {
	var out []dataset.Definition
	column := 0
	var visit func(s spec.Structure) error
	visit = func(s spec.Structure) error {
		if s.Name == DatasetName && s.Kind == spec.NamedTuple {
			d, err := DatasetOf(s, row.Columns[column].Text.At(0))
			out = append(out, d)
			column++
			return err
		}
		for _, item := range s.Items {
			if err := visit(item); err != nil {
				return err
			}
		}
		if s.Kind == spec.Leaf {
			column++
		}
		return nil
	}
	return out, visit(structure)
}
