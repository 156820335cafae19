package pipeline

import (
	"encoding/json"
	"fmt"

	"infeed/core/dataset"
	"infeed/core/spec"
	"infeed/core/transform"
)

// functionOps makes the operations whose functions return datasets, and those that
// group elements.
var functionOps = map[string]func() Op{
	"placeholder":               func() Op { return &Placeholder{} },
	"flat_map":                  func() Op { return &FlatMap{} },
	"interleave":                func() Op { return &Interleave{} },
	"group_by_window":           func() Op { return &GroupByWindow{} },
	"bucket_by_sequence_length": func() Op { return &Bucket{} },
}

// FlatMap is the datasets that a function makes of elements, one after the other.
type FlatMap struct {
	onOne
	MapFunc Subdataset `json:"map_func"`
}

func (f *FlatMap) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	b, err := f.MapFunc.builder(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.FlatMap(inputs[0], b, uint64(height))
}

func (f *FlatMap) resolve(find Finding) error {
	return f.MapFunc.resolve(find)
}

func (f *FlatMap) seeds() []uint64 { return f.MapFunc.seeds() }

func (f *FlatMap) withSeeds(seeds *[]uint64) Op {
	copied := *f
	copied.MapFunc = *f.MapFunc.withSeeds(seeds)
	return &copied
}

func (f *FlatMap) text() string { return fmt.Sprintf("flat_map(%s)", f.MapFunc.text()) }

// Interleave is the datasets that a function makes of elements, in turn.
type Interleave struct {
	onOne
	MapFunc     Subdataset `json:"map_func"`
	CycleLength int64      `json:"cycle_length"`
	BlockLength int64      `json:"block_length"`
	// NumParallelCalls is 0 when none is read ahead, and -1 when the engine chooses.
	NumParallelCalls int64 `json:"num_parallel_calls"`
}

func (i *Interleave) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	b, err := i.MapFunc.builder(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.Interleave(inputs[0], b, transform.InterleaveOptions{
		CycleLength: i.CycleLength, BlockLength: i.BlockLength, Parallel: i.NumParallelCalls, Height: uint64(height)})
}

func (i *Interleave) resolve(find Finding) error {
	return i.MapFunc.resolve(find)
}

func (i *Interleave) seeds() []uint64 { return i.MapFunc.seeds() }

func (i *Interleave) withSeeds(seeds *[]uint64) Op {
	copied := *i
	copied.MapFunc = *i.MapFunc.withSeeds(seeds)
	return &copied
}

func (i *Interleave) text() string {
	return fmt.Sprintf("interleave(%s, cycle_length=%d, block_length=%d)", i.MapFunc.text(), i.CycleLength, i.BlockLength)
}

// GroupByWindow is what a function makes of groups of elements with one key.
type GroupByWindow struct {
	onOne
	KeyFunc        Function   `json:"key_func"`
	ReduceFunc     Subdataset `json:"reduce_func"`
	WindowSize     *int64     `json:"window_size"`
	WindowSizeFunc *Function  `json:"window_size_func"` // of a key; instead of WindowSize
}

// keys describes the keys of groups.
var keys = &spec.Element{Components: []spec.Component{{DType: spec.DType{Kind: 'i', Size: 8}}}}

func (g *GroupByWindow) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	o := transform.GroupOptions{Height: uint64(height)}
	var err error
	if o.Key, err = g.KeyFunc.program(inputs[0].Spec()); err != nil {
		return nil, err
	}
	if o.Reduce, err = g.ReduceFunc.builder(keys); err != nil {
		return nil, err
	}
	if g.WindowSize != nil {
		o.Size = *g.WindowSize
	} else if g.WindowSizeFunc != nil {
		if o.SizeOf, err = g.WindowSizeFunc.program(keys); err != nil {
			return nil, err
		}
	}
	return transform.GroupByWindow(inputs[0], o)
}

func (g *GroupByWindow) resolve(find Finding) error {
	return g.ReduceFunc.resolve(find)
}

func (g *GroupByWindow) seeds() []uint64 { return g.ReduceFunc.seeds() }

func (g *GroupByWindow) withSeeds(seeds *[]uint64) Op {
	copied := *g
	copied.ReduceFunc = *g.ReduceFunc.withSeeds(seeds)
	return &copied
}

func (g *GroupByWindow) text() string {
	size := "None"
	if g.WindowSize != nil {
		size = fmt.Sprint(*g.WindowSize)
	} else if g.WindowSizeFunc != nil {
		size = g.WindowSizeFunc.text()
	}
	return fmt.Sprintf("group_by_window(%s, %s, %s)", g.KeyFunc.text(), g.ReduceFunc.text(), size)
}

// Bucket is batches of elements of about equal length.
type Bucket struct {
	onOne
	ElementLengthFunc Function  `json:"element_length_func"`
	BucketBoundaries  []int64   `json:"bucket_boundaries"`
	BucketBatchSizes  []int64   `json:"bucket_batch_sizes"`
	PaddedShapes      [][]int64 `json:"padded_shapes"` // null: as large as the largest
	// PaddingValues has the bytes of a value for each component; null: zero.
	PaddingValues       [][]byte `json:"padding_values"`
	PadToBucketBoundary bool     `json:"pad_to_bucket_boundary"`
	NoPadding           bool     `json:"no_padding"`
	DropRemainder       bool     `json:"drop_remainder"`
}

func (b *Bucket) build(inputs []dataset.Definition, height int) (dataset.Definition, error) {
	length, err := b.ElementLengthFunc.program(inputs[0].Spec())
	if err != nil {
		return nil, err
	}
	return transform.BucketBySequenceLength(inputs[0], transform.BucketOptions{
		Length: length, Boundaries: b.BucketBoundaries, BatchSizes: b.BucketBatchSizes,
		Padding:    transform.Padding{Shapes: b.PaddedShapes, Values: b.PaddingValues},
		ToBoundary: b.PadToBucketBoundary, NoPadding: b.NoPadding, DropRemainder: b.DropRemainder, Height: uint64(height)})
}

func (b *Bucket) text() string {
	padding, err := json.Marshal([]any{b.PaddedShapes, b.PaddingValues})
	if err != nil {
		padding = []byte(err.Error())
	}
	return fmt.Sprintf("bucket_by_sequence_length(%s, %v, %v, padding=%s, pad_to_bucket_boundary=%s, no_padding=%s, drop_remainder=%s)",
		b.ElementLengthFunc.text(), b.BucketBoundaries, b.BucketBatchSizes, padding, python(b.PadToBucketBoundary), python(b.NoPadding), python(b.DropRemainder))
}
