package op

import (
	"encoding/json"
	"testing"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// mostFuzzed is how many bytes a value of a program has at most that is run here.
const mostFuzzed = 1 << 16

// FuzzParse reads programs and runs those that can be read: neither may panic, and
// errors have a kind.
func FuzzParse(f *testing.F) {
	for _, s := range singles {
		attrs := json.RawMessage("null")
		if s.attrs != "" {
			attrs = json.RawMessage(s.attrs)
		}
		for in := range 3 {
			f.Add(string(document(f, []int{3}, &node{Op: s.op, In: []int{in, 2 - in}[:1+in%2], Attrs: attrs})))
		}
	}
	f.Add(string(document(f, []int{4, 3}, constNode(f64(nil, 2)), opNode("multiply", 0, 3))))
	e := &spec.Element{Components: []spec.Component{{DType: float64s, Shape: dims(2, 3)}, {DType: int64s, Shape: dims(-1)}, {DType: spec.Text, Shape: dims(1)}}}
	shapes := &spec.Element{Components: []spec.Component{e.Components[0], {DType: int64s, Shape: dims(3)}, e.Components[2]}}
	b := block.Block{Rows: 2, Shapes: shapes, Columns: []block.Column{
		{Data: make([]byte, 96), RowBytes: 48}, {Data: i64(nil, 0, 1, 2, -3, 0, 1).data, RowBytes: 24}, {Text: texts("ab", "")}}}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse([]byte(text), e)
		if err == nil && small(p.(*program)) {
			var out block.Buffer
			_, err = p.Run(nil, b, dataset.Chance{}, &out)
		}
		if err != nil && errs.KindOf(err) == errs.Internal {
			t.Fatalf("%s: %v", text, err)
		}
	})
}

// small tells whether no value of a program is large; -1 is 3 here. Operations that
// read files are not run.
func small(p *program) bool {
	for _, c := range p.values {
		n := c.DType.Size
		for _, d := range c.Shape {
			if d < 0 {
				d = 3
			}
			if n *= d; d > mostFuzzed || n > mostFuzzed {
				return false
			}
		}
	}
	for _, n := range p.nodes {
		if n.Op == "read_file" {
			return false
		}
	}
	return true
}
