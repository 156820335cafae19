package spec

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"infeed/core/errs"
)

// Structure is how the components of an element are nested. The zero Structure
// is a single component.
//
// In JSON it is null for a component, {"tuple": [...]}, or
// {"dict": [[key, structure], ...]} with sorted keys; a named tuple is a dict with
// its fields in order and a "name".
type Structure struct {
	Kind  Kind
	Name  string   // of the type of a named tuple
	Keys  []string // of a dict or named tuple
	Items []Structure
}

// Kind says what a node of a structure is.
type Kind uint8

// The kinds of nodes.
const (
	Leaf Kind = iota
	Tuple
	Dict
	NamedTuple
)

// maxDepth bounds the nesting of structures that are read.
const maxDepth = 64

// UnmarshalJSON reads the form that Structure documents.
func (s *Structure) UnmarshalJSON(b []byte) error {
	return s.read(b, 0)
}

func (s *Structure) read(b []byte, depth int) error {
	if depth > maxDepth {
		return errs.New(errs.InvalidArgument, "structure", "nested more than %d deep", maxDepth)
	}
	*s = Structure{}
	if string(b) == "null" {
		return nil
	}
	var form struct {
		Tuple []json.RawMessage    `json:"tuple"`
		Dict  [][2]json.RawMessage `json:"dict"`
		Name  string               `json:"name"`
	}
	if err := json.Unmarshal(b, &form); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "structure", "cannot read %.80s", b)
	}
	s.Kind, s.Name = Tuple, form.Name
	items := form.Tuple
	if form.Dict != nil {
		s.Kind = Dict
		if form.Name != "" {
			s.Kind = NamedTuple
		}
		s.Keys = make([]string, len(form.Dict))
		for i, pair := range form.Dict {
			if err := json.Unmarshal(pair[0], &s.Keys[i]); err != nil {
				return errs.Wrap(err, errs.InvalidArgument, "structure", "key %.80s", pair[0])
			}
			items = append(items, pair[1])
		}
	}
	s.Items = make([]Structure, len(items))
	for i, item := range items {
		if err := s.Items[i].read(item, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes the form that Structure documents.
func (s Structure) MarshalJSON() ([]byte, error) {
	switch s.Kind {
	case Leaf:
		return []byte("null"), nil
	case Tuple:
		return json.Marshal(map[string]any{"tuple": append([]Structure{}, s.Items...)})
	}
	pairs := make([][2]any, len(s.Keys))
	for i, k := range s.Keys {
		pairs[i] = [2]any{k, s.Items[i]}
	}
	form := map[string]any{"dict": pairs}
	if s.Kind == NamedTuple {
		form["name"] = s.Name
	}
	return json.Marshal(form)
}

// Leaves returns how many components an element has.
func (s Structure) Leaves() int {
	if s.Kind == Leaf {
		return 1
	}
	n := 0
	for _, item := range s.Items {
		n += item.Leaves()
	}
	return n
}

// Equal tells whether both nest alike, names and keys included.
func (s Structure) Equal(o Structure) bool {
	return s.Kind == o.Kind && s.Name == o.Name && slices.Equal(s.Keys, o.Keys) &&
		slices.EqualFunc(s.Items, o.Items, Structure.Equal)
}

// leaves returns the path of each component.
func (s Structure) leaves(path string) []string {
	if s.Kind == Leaf {
		return []string{path}
	}
	var out []string
	for i, item := range s.Items {
		step := fmt.Sprintf("[%d]", i)
		if s.Kind == Dict {
			step = "['" + s.Keys[i] + "']"
		} else if s.Kind == NamedTuple {
			step = "." + s.Keys[i]
		}
		out = append(out, item.leaves(path+step)...)
	}
	return out
}

func (s Structure) text(leaf func() string) string {
	if s.Kind == Leaf {
		return leaf()
	}
	parts := make([]string, len(s.Items))
	for i, item := range s.Items {
		parts[i] = item.text(leaf)
		if s.Kind == Dict {
			parts[i] = "'" + s.Keys[i] + "': " + parts[i]
		} else if s.Kind == NamedTuple {
			parts[i] = s.Keys[i] + "=" + parts[i]
		}
	}
	inside := strings.Join(parts, ", ")
	switch s.Kind {
	case Dict:
		return "{" + inside + "}"
	case NamedTuple:
		return s.Name + "(" + inside + ")"
	}
	if len(parts) == 1 {
		inside += ","
	}
	return "(" + inside + ")"
}
