package pipeline

import (
	"fmt"

	"infeed/core/dataset"
	"infeed/core/spec"
	"infeed/core/transform"
)

// Rebatch is batches of other sizes, which are taken in turn.
type Rebatch struct {
	onOne
	BatchSize     []int64 `json:"batch_size"`
	DropRemainder bool    `json:"drop_remainder"`
}

func (r *Rebatch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Rebatch(inputs[0], r.BatchSize, r.DropRemainder)
}

func (r *Rebatch) text() string {
	return fmt.Sprintf("rebatch(batch_size=%v, drop_remainder=%s)", r.BatchSize, python(r.DropRemainder))
}

// PaddedBatch stacks BatchSize elements, made as large as one another, into one.
type PaddedBatch struct {
	onOne
	BatchSize    int64     `json:"batch_size"`
	PaddedShapes [][]int64 `json:"padded_shapes"` // null: as large as the largest
	// PaddingValues has the bytes of a value for each component; null: zero.
	PaddingValues [][]byte `json:"padding_values"`
	DropRemainder bool     `json:"drop_remainder"`
}

func (p *PaddedBatch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.PaddedBatch(inputs[0], p.BatchSize, transform.Padding{Shapes: p.PaddedShapes, Values: p.PaddingValues}, p.DropRemainder)
}

func (p *PaddedBatch) text() string {
	return fmt.Sprintf("padded_batch(batch_size=%d, padded_shapes=%v, padding_values=%v, drop_remainder=%s)",
		p.BatchSize, p.PaddedShapes, p.PaddingValues, python(p.DropRemainder))
}

// RaggedBatch stacks BatchSize elements of any shapes into one.
type RaggedBatch struct {
	onOne
	BatchSize     int64 `json:"batch_size"`
	DropRemainder bool  `json:"drop_remainder"`
	// RowSplitsDType is NumPy's dtype.str of the shapes in a batch.
	RowSplitsDType string `json:"row_splits_dtype"`
}

func (r *RaggedBatch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	d, err := spec.ParseDType(r.RowSplitsDType)
	if err != nil {
		return nil, err
	}
	if d.Kind != 'i' {
		d.Size = 0
	}
	return transform.RaggedBatch(inputs[0], r.BatchSize, r.DropRemainder, d.Size)
}

func (r *RaggedBatch) text() string {
	return fmt.Sprintf("ragged_batch(batch_size=%d, drop_remainder=%s, row_splits_dtype=%s)", r.BatchSize, python(r.DropRemainder), r.RowSplitsDType)
}

// SparseBatch stacks BatchSize elements into one sparse tensor.
type SparseBatch struct {
	onOne
	BatchSize int64   `json:"batch_size"`
	RowShape  []int64 `json:"row_shape"` // -1: as long as the longest
}

func (b *SparseBatch) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.SparseBatch(inputs[0], b.BatchSize, b.RowShape)
}

func (b *SparseBatch) text() string {
	return fmt.Sprintf("sparse_batch(batch_size=%d, row_shape=%v)", b.BatchSize, b.RowShape)
}

// Window is datasets of a few elements each.
type Window struct {
	onOne
	Size          int64 `json:"size"`
	Shift         int64 `json:"shift"`
	Stride        int64 `json:"stride"`
	DropRemainder bool  `json:"drop_remainder"`
}

func (w *Window) build(inputs []dataset.Definition, _ int) (dataset.Definition, error) {
	return transform.Window(inputs[0], transform.WindowOptions{Size: w.Size, Shift: w.Shift, Stride: w.Stride, DropRemainder: w.DropRemainder})
}

func (w *Window) text() string {
	return fmt.Sprintf("window(size=%d, shift=%d, stride=%d, drop_remainder=%s)", w.Size, w.Shift, w.Stride, python(w.DropRemainder))
}

// DatasetOf is a dataset that was a component of an element: Structure is that of the
// component, and Data its value.
type DatasetOf struct {
	Structure spec.Structure `json:"structure"`
	Data      []byte         `json:"data"`
}

func (*DatasetOf) inputs() int { return 0 }

func (d *DatasetOf) build([]dataset.Definition, int) (dataset.Definition, error) {
	return transform.DatasetOf(d.Structure, d.Data)
}

func (d *DatasetOf) text() string { return fmt.Sprintf("dataset_of(%d bytes)", len(d.Data)) }
