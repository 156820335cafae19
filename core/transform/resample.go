package transform

import (
	"encoding/binary"
	"math"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// ResampleOptions says how RejectionResample draws.
type ResampleOptions struct {
	// Target is how likely each class is to be. Initial is how likely it is in the
	// input; nil: it is estimated while elements are read.
	Target, Initial []float64
	Seed            uint64
	// Height is how many datasets lie under this one.
	Height uint64
}

// RejectionResample returns pairs of a class and an element, so that classes come
// as often as a target says. Elements are mixed from two readings of the input: one
// as it is, and one in which elements of frequent classes are rejected by chance. A
// program says which class an element has, an integer scalar.
func RejectionResample(in dataset.Definition, class dataset.Program, o ResampleOptions) (dataset.Definition, error) {
	const op = "rejection_resample"
	if err := o.check(op, class.Spec()); err != nil {
		return nil, err
	}
	labelled := Map(in, &labelling{class, tupleOf(class.Spec(), in.Spec()), int64(len(o.Target))}, o.Height)
	classes := len(class.Spec().Components)
	if o.Initial != nil {
		accept, original := acceptance(o.Initial, o.Target)
		if original >= 1 {
			return labelled, nil
		}
		rejected := &filter{in: labelled, program: &accepting{fixed: accept, seed: o.Seed}, height: o.Height}
		if original <= 0 {
			return rejected, nil
		}
		return SampleFromDatasets(SampleOptions{Weights: []float64{original, 1 - original}, StopOnEmpty: true, Seed: o.Seed, Height: o.Height}, labelled, rejected)
	}
	chances, err := o.estimates(in, class)
	if err != nil {
		return nil, err
	}
	both, err := Zip(spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)}, chances, labelled)
	if err != nil {
		return nil, err
	}
	rejected := Map(&filter{in: both, program: &accepting{classes: int64(len(o.Target)), seed: o.Seed}, height: o.Height},
		&selecting{labelled.Spec(), upFrom(2, classes+len(in.Spec().Components))}, o.Height)
	weights := Map(chances, &selecting{&spec.Element{Components: chances.Spec().Components[1:]}, []int{1}}, o.Height)
	return SampleFromDatasets(SampleOptions{Varying: weights, StopOnEmpty: true, Seed: o.Seed, Height: o.Height}, labelled, rejected)
}

func upFrom(first, n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = first + i
	}
	return out
}

func (o ResampleOptions) check(op string, class *spec.Element) error {
	if len(class.Components) != 1 || class.Components[0].DType.Kind != 'i' || class.Components[0].DType.Size < 4 || len(class.Components[0].Shape) != 0 {
		return errs.New(errs.InvalidArgument, op, "class_func must return an int32 or int64 scalar; it returns %v", class)
	}
	if len(o.Target) == 0 || o.Initial != nil && len(o.Initial) != len(o.Target) {
		return errs.New(errs.InvalidArgument, op, "target_dist has %d classes and initial_dist %d", len(o.Target), len(o.Initial))
	}
	for _, dist := range [][]float64{o.Target, o.Initial} {
		sum := 0.0
		for _, p := range dist {
			if !(p >= 0 && p <= 1) {
				return errs.New(errs.InvalidArgument, op, "a class is to have the probability %v; it must be between 0 and 1", p)
			}
			sum += p
		}
		if dist != nil && sum == 0 {
			return errs.New(errs.InvalidArgument, op, "all classes are to have the probability 0; one at least must have a greater one")
		}
	}
	return nil
}

// acceptance returns with what chance an element of each class is accepted by the
// reading that rejects, and with what chance an element is to come from the other.
// With r the ratio of target and initial probability of a class, and m the smallest
// of all, these are (r - m) / (max r - m) and m.
func acceptance(initial, target []float64) ([]float64, float64) {
	ratios := make([]float64, len(target))
	least, most := math.Inf(1), math.Inf(-1)
	for i, p := range initial {
		ratios[i] = target[i] / (p + 0x1p-126) // the smallest float32, so that it is never 0
		least, most = min(least, ratios[i]), max(most, ratios[i])
	}
	for i, r := range ratios {
		ratios[i] = (r - least) / (most - least)
	}
	return ratios, min(least, 1)
}

// estimated is how many elements share an estimate.
const estimated = 32

// estimates returns, for each element, pairs of the acceptance of classes and the
// chances that it comes from the reading as it is or from the other.
func (o ResampleOptions) estimates(in dataset.Definition, class dataset.Program) (dataset.Definition, error) {
	batched, err := Batch(Map(in, class, o.Height), estimated, false)
	if err != nil {
		return nil, err
	}
	n := int64(len(o.Target))
	counts := &spec.Element{Components: []spec.Component{{DType: int64s, Shape: []int64{n}}}}
	var first block.Buffer
	state, err := first.Block(counts, 1)
	if err != nil {
		return nil, err
	}
	for i := range n { // ten of each, so that the first estimates are not extreme
		binary.LittleEndian.PutUint64(state.Columns[0].Data[8*i:], 10)
	}
	scanned, err := Scan(batched, state, newEstimating(o.Target, counts), o.Height)
	if err != nil {
		return nil, err
	}
	return Unbatch(scanned)
}

// labelling is the program that puts the class before an element, of so many classes.
type labelling struct {
	class   dataset.Program
	spec    *spec.Element
	classes int64
}

func (l *labelling) Spec() *spec.Element { return l.spec }
func (l *labelling) Calls() int          { return l.class.Calls() }

func (l *labelling) Run(s *dataset.Scope, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	labels := borrow()
	defer giveBack(labels)
	done, failed := l.class.Run(s, in, at, labels)
	row := int64(0)
	for _, c := range labels.Blocks() {
		if good, bad := l.check(c); bad != nil {
			done, failed = row+good, bad
			if c = c.Slice(0, good); good == 0 {
				break
			}
		}
		out, err := dst.Block(&spec.Element{Structure: l.spec.Structure, Components: append(c.Shapes.Components[:1:1], in.Shapes.Components...)}, c.Rows)
		if err != nil {
			return row, err
		}
		block.Block{Rows: c.Rows, Shapes: c.Shapes, Columns: out.Columns[:1]}.Copy(0, c)
		block.Block{Rows: c.Rows, Shapes: in.Shapes, Columns: out.Columns[1:]}.Copy(0, in.Slice(row, row+c.Rows))
		if row += c.Rows; row == done {
			break
		}
	}
	return done, failed
}

// check returns how many classes come before one that does not exist, and what is wrong
// with that.
func (l *labelling) check(labels block.Block) (good int64, bad error) {
	for i := range labels.Rows {
		if c := integer(labels.Columns[0], i); c < 0 || c >= l.classes {
			return i, errs.New(errs.InvalidArgument, "rejection_resample", "class_func returned %d; there are %d classes", c, l.classes)
		}
	}
	return labels.Rows, nil
}

// selecting is the program whose results are some of the components.
type selecting struct {
	spec    *spec.Element
	columns []int
}

func (p *selecting) Spec() *spec.Element { return p.spec }
func (p *selecting) Calls() int          { return 0 }

func (p *selecting) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	shapes := &spec.Element{Structure: p.spec.Structure}
	for _, i := range p.columns {
		shapes.Components = append(shapes.Components, in.Shapes.Components[i])
	}
	out, err := dst.Block(shapes, in.Rows)
	if err != nil {
		return 0, err
	}
	out.Copy(0, in.Select(shapes, p.columns...))
	return in.Rows, nil
}

// accepting is the predicate that accepts elements by chance, by their class: the
// first component, or the third when the first is the acceptance of classes.
type accepting struct {
	fixed   []float64
	classes int64
	seed    uint64
}

func (p *accepting) Spec() *spec.Element { return truths }
func (p *accepting) Calls() int          { return 0 }

var truths = &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'b', Size: 1}}}}

func (p *accepting) Run(_ *dataset.Scope, in block.Block, at dataset.Chance, dst dataset.Sink) (int64, error) {
	key := at.Key.Derive(p.seed)
	column, n := 0, int64(len(p.fixed))
	if p.fixed == nil {
		column, n = 2, p.classes
	}
	class := in.Columns[column]
	out, err := dst.Block(truths, in.Rows)
	if err != nil {
		return 0, err
	}
	for i := range in.Rows {
		c := integer(class, i)
		accept := 0.0
		if p.fixed != nil {
			accept = p.fixed[c]
		} else {
			accept = number64(in.Columns[0].Data, int(i*n+c), 8)
		}
		out.Columns[0].Data[i] = 0
		if float64(key.Uint64(uint64(at.Number(i)))>>11)/(1<<53) < accept {
			out.Columns[0].Data[i] = 1
		}
	}
	return in.Rows, nil
}

// integer returns row i of scalars of int32 or int64.
func integer(c block.Column, i int64) int64 {
	if c.RowBytes == 4 {
		return int64(int32(binary.LittleEndian.Uint32(c.Data[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(c.Data[8*i:]))
}

// estimating is the program of a scan that counts classes. Its outputs are an estimate
// for each of the elements that were counted with it.
type estimating struct {
	target []float64
	spec   *spec.Element
}

func newEstimating(target []float64, counts *spec.Element) *estimating {
	f8 := spec.DType{Kind: 'f', Size: 8}
	n := int64(len(target))
	out := &spec.Element{Structure: spec.Structure{Kind: spec.Tuple, Items: make([]spec.Structure, 2)},
		Components: []spec.Component{{DType: f8, Shape: []int64{estimated, n}}, {DType: f8, Shape: []int64{estimated, 2}}}}
	return &estimating{target, tupleOf(counts, out)}
}

func (p *estimating) Spec() *spec.Element { return p.spec }
func (p *estimating) Calls() int          { return 1 }

func (p *estimating) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(p.spec, 1)
	if err != nil {
		return 0, err
	}
	counts := out.Columns[0].Data
	copy(counts, in.Columns[0].Data)
	c := in.Shapes.Components[1]
	classes := block.Column{Data: in.Columns[1].Data, RowBytes: c.DType.Size}
	for i := range c.Shape[0] {
		if k := integer(classes, i); k >= 0 && k < int64(len(p.target)) {
			at := counts[8*k:]
			binary.LittleEndian.PutUint64(at, binary.LittleEndian.Uint64(at)+1)
		}
	}
	accept, original := p.estimate(counts)
	for i := range estimated {
		for k, a := range accept {
			putNumber64(out.Columns[1].Data, i*len(accept)+k, a)
		}
		putNumber64(out.Columns[2].Data, 2*i, original)
		putNumber64(out.Columns[2].Data, 2*i+1, 1-original)
	}
	return 1, nil
}

func putNumber64(data []byte, i int, x float64) {
	binary.LittleEndian.PutUint64(data[8*i:], math.Float64bits(x))
}

// estimate is acceptance of what was counted.
func (p *estimating) estimate(counts []byte) ([]float64, float64) {
	initial := make([]float64, len(p.target))
	sum := 0.0
	for i := range initial {
		initial[i] = float64(binary.LittleEndian.Uint64(counts[8*i:]))
		sum += initial[i]
	}
	for i := range initial {
		initial[i] /= sum
	}
	return acceptance(initial, p.target)
}
