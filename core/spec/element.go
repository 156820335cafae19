package spec

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"infeed/core/errs"
)

// Component is one tensor of an element.
type Component struct {
	DType DType
	Shape []int64 // -1 where elements differ
}

// Bytes returns the size of a value with this dtype and shape. It returns false
// when a dimension differs between elements, or the size is beyond int64.
func (c Component) Bytes() (int64, bool) {
	n := c.DType.Size
	for _, d := range c.Shape {
		if d < 0 || d > 0 && n > math.MaxInt64/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}

// IsText tells whether values are strings of any length.
func (c Component) IsText() bool { return c.DType == Text }

// Count returns how many values there are in one with this shape, all dimensions
// of which are known.
func (c Component) Count() int64 {
	n := int64(1)
	for _, d := range c.Shape {
		n *= d
	}
	return n
}

// Equal tells whether dtypes and shapes are the same.
func (c Component) Equal(o Component) bool {
	return c.DType == o.DType && slices.Equal(c.Shape, o.Shape)
}

// String returns, for instance, float32[-1 28 28].
func (c Component) String() string {
	dims := make([]string, len(c.Shape))
	for i, d := range c.Shape {
		dims[i] = strconv.FormatInt(d, 10)
	}
	return c.DType.String() + "[" + strings.Join(dims, " ") + "]"
}

// Element describes elements. It is immutable.
type Element struct {
	Structure  Structure   `json:"structure"`
	Components []Component `json:"components"`
}

type componentJSON struct {
	DType string  `json:"dtype"` // see ParseDType
	Shape []int64 `json:"shape"` // -1 where elements differ
}

// MarshalJSON writes {"dtype": ..., "shape": [...]}.
func (c Component) MarshalJSON() ([]byte, error) {
	return json.Marshal(componentJSON{c.DType.Code(), append([]int64{}, c.Shape...)})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (c *Component) UnmarshalJSON(b []byte) (err error) {
	var form componentJSON
	if err := json.Unmarshal(b, &form); err != nil {
		return errs.Wrap(err, errs.InvalidArgument, "spec", "cannot read %.80s", b)
	}
	c.Shape = form.Shape
	c.DType, err = ParseDType(form.DType)
	return err
}

// Equal tells whether elements of both have the same structure, dtypes and shapes.
func (e *Element) Equal(o *Element) bool {
	return e == o || e.Structure.Equal(o.Structure) && slices.EqualFunc(e.Components, o.Components, Component.Equal)
}

// Same is Equal for two descriptions of elements of one dataset: only shapes can
// differ.
func (e *Element) Same(o *Element) bool {
	return e == o || slices.EqualFunc(e.Components, o.Components, Component.Equal)
}

// Known tells whether all dimensions are: then all elements have these shapes.
func (e *Element) Known() bool {
	for _, c := range e.Components {
		if slices.Contains(c.Shape, -1) {
			return false
		}
	}
	return true
}

// HasText tells whether some component is text.
func (e *Element) HasText() bool { return slices.ContainsFunc(e.Components, Component.IsText) }

// Batched describes n elements stacked; -1 when n is not the same everywhere.
func (e *Element) Batched(n int64) *Element {
	out := &Element{Structure: e.Structure, Components: make([]Component, len(e.Components))}
	for i, c := range e.Components {
		out.Components[i] = Component{DType: c.DType, Shape: append([]int64{n}, c.Shape...)}
	}
	return out
}

// Name says which component i is, as it is written in Python: ['image'], [0], or
// nothing where an element is one component.
func (e *Element) Name(i int) string { return e.Structure.leaves("")[i] }

// String returns, for instance, ({'image': uint8[28 28]}, int64[]).
func (e *Element) String() string {
	rest := e.Components
	return e.Structure.text(func() string {
		c := rest[0]
		rest = rest[1:]
		return c.String()
	})
}

// Shapes lists the shapes only, for messages.
func (e *Element) Shapes() string {
	out := make([]string, len(e.Components))
	for i, c := range e.Components {
		out[i] = fmt.Sprint(c.Shape)
	}
	return strings.Join(out, ", ")
}
