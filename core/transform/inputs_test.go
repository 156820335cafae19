package transform

import (
	"encoding/binary"
	"fmt"
	"testing"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/rng"
	"infeed/core/spec"
)

// value is one component of an element: numbers, truth values or texts.
type value struct {
	shape []int64
	ints  []int64
	bools []bool
	texts []string
}

func number(x int64) value    { return value{ints: []int64{x}} }
func truth(x bool) value      { return value{bools: []bool{x}} }
func vector(x ...int64) value { return value{shape: []int64{int64(len(x))}, ints: x} }
func texts(x ...string) value { return value{shape: []int64{int64(len(x))}, texts: x} }

// put makes an element of equal structure to e in dst.
func put(e *spec.Element, values []value, dst dataset.Sink) error {
	shapes := &spec.Element{Structure: e.Structure}
	for i, v := range values {
		shapes.Components = append(shapes.Components, spec.Component{DType: e.Components[i].DType, Shape: v.shape})
	}
	b, err := dst.Block(shapes, 1)
	if err != nil {
		return err
	}
	for i, v := range values {
		for k, x := range v.ints {
			binary.LittleEndian.PutUint64(b.Columns[i].Data[8*k:], uint64(x))
		}
		for k, x := range v.bools {
			b.Columns[i].Data[k] = 0
			if x {
				b.Columns[i].Data[k] = 1
			}
		}
		for _, x := range v.texts {
			b.Columns[i].Text.Append([]byte(x))
		}
	}
	return nil
}

// at returns the integer at a place of a row's component.
func at(row block.Block, component, place int) int64 {
	return int64(binary.LittleEndian.Uint64(row.Columns[component].Data[8*place:]))
}

func leaf(kind byte, size int64, shape ...int64) spec.Component {
	return spec.Component{DType: spec.DType{Kind: kind, Size: size}, Shape: shape}
}

func element(c ...spec.Component) *spec.Element {
	if len(c) == 1 {
		return &spec.Element{Components: c}
	}
	s := spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, len(c))}
	return &spec.Element{Structure: s, Components: c}
}

// made is an indexed dataset of what a function makes.
type made struct {
	spec *spec.Element
	n    int64
	f    func(i int64) ([]value, error)
}

func (m made) Spec() *spec.Element { return m.spec }
func (m made) Cardinality() int64  { return m.n }

func (m made) Iterate(s *dataset.Scope, pass rng.Key, from *dataset.Token) (dataset.Iterator, error) {
	return dataset.Walk(m, s, pass, from)
}

func (m made) Open(*dataset.Scope, rng.Key) (dataset.RandomAccess, error) { return m, nil }

func (m made) Fetch(index []int64, dst dataset.Sink) error {
	for i, x := range index {
		v, err := m.f(x)
		if err == nil {
			err = put(m.spec, v, dst)
		}
		if err != nil {
			return err
		}
		index[i] = -1
	}
	return nil
}

// mixed has numbers, texts and vectors of differing lengths.
func mixed(n int64) made {
	e := element(leaf('i', 8), spec.Component{DType: spec.Text, Shape: []int64{-1}}, leaf('i', 8, -1))
	return made{e, n, func(i int64) ([]value, error) {
		var words []string
		for k := range i / 2 % 3 {
			words = append(words, fmt.Sprintf("word %d of %d", k, i))
		}
		return []value{number(i), texts(words...), vector(upTo(0, (i+1)/3%3, 1)...)}, nil
	}}
}

// lame is mixed, but for a few elements that cannot be made.
func lame(n int64) made {
	m := mixed(n)
	whole := m.f
	m.f = func(i int64) ([]value, error) {
		if i == 0 || i == 5 || i == 6 || i == n-1 {
			return nil, errs.New(errs.DataLoss, "made", "element %d is lame", i)
		}
		return whole(i)
	}
	return m
}

// inputs are datasets of a first component that counts up, for every operation.
func inputs() map[string]dataset.Definition {
	return map[string]dataset.Definition{
		"indexed":       datasettest.Range(13),
		"stream":        stream(datasettest.Range(13)),
		"empty":         datasettest.Range(0),
		"empty stream":  stream(datasettest.Range(0)),
		"endless":       datasettest.Range(dataset.Infinite),
		"mixed":         mixed(13),
		"mixed stream":  stream(mixed(13)),
		"lame":          lame(13),
		"lame stream":   stream(lame(13)),
		"shuffled":      shuffledBy(mixed(13), 1, 1),
		"repeated lame": must(Repeat(stream(lame(7)), 2)),
	}
}

// checkOn checks what make makes of every input.
func checkOn(t *testing.T, make func(in dataset.Definition) dataset.Definition) {
	t.Helper()
	for name, in := range inputs() {
		t.Run(name, func(t *testing.T) { datasettest.Check(t, make(in), limit) })
	}
}

// checkOnSome is checkOn for what takes long.
func checkOnSome(t *testing.T, make func(in dataset.Definition) dataset.Definition) {
	t.Helper()
	all := inputs()
	for _, name := range []string{"endless", "mixed stream", "lame", "repeated lame"} {
		t.Run(name, func(t *testing.T) { datasettest.Check(t, make(all[name]), 20) })
	}
}

// byRow is a program that looks at one row after the other.
type byRow struct {
	spec *spec.Element
	f    func(row block.Block, number int64, key rng.Key) ([]value, error)
}

func (p byRow) Spec() *spec.Element { return p.spec }
func (p byRow) Calls() int          { return 0 }

func (p byRow) Run(_ *dataset.Scope, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	for r := range in.Rows {
		v, err := p.f(in.Slice(r, r+1), at.Number(r), at.Key)
		if err != nil {
			return r, err
		}
		if err := put(p.spec, v, dst); err != nil {
			return r, err
		}
	}
	return in.Rows, nil
}

// isTrue is a predicate of the first component; it fails where f does.
func isTrue(f func(x int64) (bool, error)) byRow {
	return byRow{element(leaf('b', 1)), func(row block.Block, _ int64, _ rng.Key) ([]value, error) {
		yes, err := f(at(row, 0, 0))
		return []value{truth(yes)}, err
	}}
}

// firsts reads a pass and returns first components, and -1 for errors.
func firsts(t *testing.T, d dataset.Definition) []int64 {
	t.Helper()
	out := []int64{}
	for _, e := range datasettest.ReadAll(t, d, dataset.PassKey(0), limit) {
		if e.Err != "" {
			out = append(out, -1)
			continue
		}
		out = append(out, e.Int64s()[0])
	}
	return out
}
