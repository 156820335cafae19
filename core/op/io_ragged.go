package op

import (
	"encoding/binary"

	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/tfproto"
)

// raggedForm is what the attributes of a node say of a ragged feature besides its values.
type raggedForm struct {
	// Shapes is the dtype of the shapes of arrays, int32 or int64.
	Shapes string `json:"shapes"`
	// Partition says how values are cut into rows: row_lengths, row_splits, row_starts or
	// row_limits, which are the integers of the feature Key, or uniform, into rows of Length;
	// "" not at all.
	Partition string `json:"partition"`
	Key       string `json:"key"`
	Length    int64  `json:"length"`
}

// raggedFeature is a ragged feature: what a tf.io.RaggedFeature is, with one partition at
// most.
type raggedFeature struct {
	raggedForm
	shapes spec.DType
	column int // of the integers of the partition
}

var partitions = map[string]bool{"": true, "row_lengths": true, "row_splits": true, "row_starts": true, "row_limits": true, "uniform": true}

func (r *raggedForm) read(op, key string) (*raggedFeature, error) {
	dtype, err := spec.ParseDType(r.Shapes)
	if err != nil || dtype.Kind != 'i' || dtype.Size < 4 || !partitions[r.Partition] || r.Partition == "uniform" && (r.Length < 1 || r.Length > 1<<40) {
		return nil, errs.New(errs.InvalidArgument, op, "feature %q has the partition %+v", key, *r)
	}
	return &raggedFeature{raggedForm: *r, shapes: dtype}, nil
}

// cut tells whether there are integers that cut the values into rows.
func (r *raggedFeature) cut() bool { return r.Partition != "" && r.Partition != "uniform" }

// components describes the results for examples of a shape: one, or a batch.
func (r *raggedFeature) components(values spec.DType, batch []int64) []spec.Component {
	flat := spec.Component{DType: values, Shape: []int64{-1}}
	switch {
	case len(batch) > 0 && r.Partition == "uniform":
		return []spec.Component{flat, {DType: r.shapes, Shape: []int64{batch[0], 2}}}
	case len(batch) > 0:
		return []spec.Component{flat, {DType: r.shapes, Shape: []int64{batch[0], 1}}}
	case r.cut():
		return []spec.Component{flat, {DType: r.shapes, Shape: []int64{-1, 1}}}
	case r.Partition == "uniform":
		flat.Shape = []int64{-1, r.Length}
	}
	return []spec.Component{flat}
}

// rows appends how long the rows of an example are, which has n values and these integers,
// to lengths. It returns false where they are not those of n values.
func (r *raggedFeature) rows(lengths []int64, n int64, integers []byte) ([]int64, bool) {
	at, count := int64(0), len(integers)/8
	if r.Partition == "row_splits" && count > 0 {
		if binary.LittleEndian.Uint64(integers) != 0 {
			return lengths, false
		}
		integers, count = integers[8:], count-1
	} else if r.Partition == "row_starts" && count > 0 { // the next one starts where one ends
		if binary.LittleEndian.Uint64(integers) != 0 {
			return lengths, false
		}
		integers = binary.LittleEndian.AppendUint64(append([]byte(nil), integers[8:]...), uint64(n))
	}
	for k := range count {
		length := int64(binary.LittleEndian.Uint64(integers[8*k:]))
		if r.Partition != "row_lengths" {
			length -= at
		}
		if length < 0 || length > n-at {
			return lengths, false
		}
		lengths = append(lengths, length)
		at += length
	}
	return lengths, at == n
}

// valid returns how many of the first examples have values that can be cut as they are to
// be, and why the next one cannot.
func (f *parseExample) valid(p *parsed, examples int64) (int64, error) {
	for i := range f.wanted {
		w := &f.wanted[i]
		if w.ragged == nil || w.ragged.Partition == "" {
			continue
		}
		for row := range examples {
			n, integers := p.partition(w, row)
			var err error
			if w.ragged.Partition == "uniform" && n%w.ragged.Length != 0 {
				err = errs.New(errs.InvalidArgument, "parse_example", "feature %q has %d values, which are not cut into rows of %d", w.Key, n, w.ragged.Length)
			} else if w.ragged.cut() {
				var fit bool
				if p.lengths, fit = w.ragged.rows(p.lengths[:0], n, integers); !fit {
					err = errs.New(errs.InvalidArgument, "parse_example", "feature %q has %d values, and the %s in %q are those of another number", w.Key, n, w.ragged.Partition, w.ragged.Key)
				}
			}
			if err != nil {
				return row, f.about(row, err)
			}
		}
	}
	return examples, nil
}

// about says which example an error is about.
func (f *parseExample) about(row int64, err error) error {
	e := err.(*errs.Error)
	if f.batched {
		return errs.New(e.Kind, e.Op, "example %d: %s", row, e.Text)
	}
	return errs.New(e.Kind, e.Op, "the example: %s", e.Text)
}

// partition returns how many values of a ragged feature an example has, and the integers
// that cut them.
func (p *parsed) partition(w *wanted, row int64) (n int64, integers []byte) {
	splits := p.context[w.column].Splits
	if w.ragged.cut() {
		c := &p.context[w.ragged.column]
		integers = c.Values[8*c.Splits[row] : 8*c.Splits[row+1]]
	}
	return splits[row+1] - splits[row], integers
}

// giveRagged makes results from result i on of a ragged feature, and returns how many.
func (c *call) giveRagged(i int, w *wanted, rows int64, batch []int64) int {
	p, r := c.own.(*parsed), w.ragged
	column := &p.context[w.column]
	switch {
	case len(batch) > 0:
		shape, numbers := []int64{batch[0], 1}, p.lengths[:0]
		for row := range batch[0] {
			n, _ := p.partition(w, row)
			if r.Partition == "uniform" {
				numbers = append(numbers, n/r.Length, r.Length)
			} else {
				numbers = append(numbers, n)
			}
		}
		if r.Partition == "uniform" {
			shape[1] = 2
		}
		c.giveColumn(i, w.dtype, column, 1, column.Splits[batch[0]])
		c.giveShapes(i+1, r.shapes, numbers, 1, shape...)
		p.lengths = numbers
		return 2
	case r.cut():
		numbers := p.lengths[:0]
		for row := range rows {
			n, integers := p.partition(w, row)
			numbers, _ = r.rows(numbers, n, integers)
		}
		c.giveColumn(i, w.dtype, column, rows, column.Splits[1])
		c.giveShapes(i+1, r.shapes, numbers, rows, int64(len(numbers))/rows, 1)
		p.lengths = numbers
		return 2
	case r.Partition == "uniform":
		c.giveColumn(i, w.dtype, column, rows, column.Splits[1]/r.Length, r.Length)
	default:
		c.giveColumn(i, w.dtype, column, rows, column.Splits[1])
	}
	return 1
}

// giveShapes makes result i integers of a dtype, rows of a shape.
func (c *call) giveShapes(i int, dtype spec.DType, numbers []int64, rows int64, shape ...int64) {
	p := c.own.(*parsed)
	if p.values[i] = p.values[i][:0]; dtype.Size == 8 {
		p.values[i] = appendInts(p.values[i], numbers)
	} else {
		for _, n := range numbers {
			p.values[i] = binary.LittleEndian.AppendUint32(p.values[i], uint32(n))
		}
	}
	c.giveBytes(i, spec.Component{DType: dtype, Shape: shape}, rows, p.values[i])
}

// columnOf returns which of the columns has the values of a feature, with one more where
// none has: ragged features may share one.
func columnOf(features []tfproto.Feature, f tfproto.Feature) ([]tfproto.Feature, int) {
	for i, g := range features {
		if f.Shape == tfproto.Var && g.Shape == tfproto.Var && f.Key == g.Key && f.Type == g.Type {
			return features, i
		}
	}
	return append(features, f), len(features)
}
