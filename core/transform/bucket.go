package transform

import (
	"slices"

	"infeed/core/dataset"
	"infeed/core/errs"
	"infeed/core/spec"
)

// BucketOptions says how BucketBySequenceLength makes batches.
type BucketOptions struct {
	// Length gives the length of an element, an integer.
	Length dataset.Program
	// Boundaries are between the buckets: one has the elements that are at least as
	// long as the boundary before it and shorter than the one after it. BatchSizes has
	// one more.
	Boundaries, BatchSizes []int64
	Padding                Padding
	// ToBoundary pads to one less than the boundary after the bucket, rather than to
	// the longest of a batch.
	ToBoundary bool
	// NoPadding makes batches of elements of equal shapes.
	NoPadding     bool
	DropRemainder bool
	// Height is how many datasets lie under the operation.
	Height uint64
}

// BucketBySequenceLength returns batches of elements of about equal length, each at
// the place where its last element was read. What is left at the end comes in the
// order of buckets.
func BucketBySequenceLength(in dataset.Definition, o BucketOptions) (dataset.Definition, error) {
	const op = "bucket_by_sequence_length"
	if len(o.BatchSizes) != len(o.Boundaries)+1 {
		return nil, errs.New(errs.InvalidArgument, op, "%d bucket_batch_sizes for %d bucket_boundaries; one more is needed", len(o.BatchSizes), len(o.Boundaries))
	}
	for i, b := range o.Boundaries {
		if i > 0 && b <= o.Boundaries[i-1] {
			return nil, errs.New(errs.InvalidArgument, op, "bucket_boundaries has %d behind %d; each must be greater than the one before it", b, o.Boundaries[i-1])
		}
	}
	if err := dataset.IsInteger(op, "element_length_func", o.Length.Spec()); err != nil {
		return nil, err
	}
	o.Boundaries, o.BatchSizes = slices.Clone(o.Boundaries), slices.Clone(o.BatchSizes)
	anywhere := o
	anywhere.ToBoundary = false
	like, err := anywhere.batch(Stored(in.Spec(), nil), 0, 1)
	if err != nil {
		return nil, err
	}
	return &grouping{op: op, in: in, spec: anyBatch(like.Spec()), height: o.Height, key: o.Length, class: o.bucket,
		size: func(_ *dataset.Scope, bucket int64) (int64, error) { return o.BatchSizes[bucket], nil },
		reduce: func(_ *dataset.Scope, bucket int64, elements dataset.Definition) (dataset.Definition, error) {
			if o.ToBoundary && !o.NoPadding && bucket == int64(len(o.Boundaries)) {
				return nil, errs.New(errs.InvalidArgument, op, "elements are as long as the last of bucket_boundaries, or longer; with pad_to_bucket_boundary=True they must have length < max(bucket_boundaries)")
			}
			return o.batch(elements, bucket, o.BatchSizes[bucket])
		}}, nil
}

// bucket returns the first bucket that a length belongs to.
func (o *BucketOptions) bucket(length int64) int64 {
	for i, b := range o.Boundaries {
		if length < b {
			return int64(i)
		}
	}
	return int64(len(o.Boundaries))
}

// batch makes a batch of the elements of a bucket.
func (o *BucketOptions) batch(in dataset.Definition, bucket, size int64) (dataset.Definition, error) {
	if o.NoPadding {
		return Batch(in, size, o.DropRemainder)
	}
	padding := o.Padding
	if o.ToBoundary && bucket < int64(len(o.Boundaries)) {
		padding.Shapes = o.toBoundary(in.Spec(), o.Boundaries[bucket]-1)
	}
	return PaddedBatch(in, size, padding, o.DropRemainder)
}

// toBoundary puts a length where dimensions are not given.
func (o *BucketOptions) toBoundary(e *spec.Element, length int64) [][]int64 {
	shapes := make([][]int64, len(e.Components))
	for i, c := range e.Components {
		shape := c.Shape
		if i < len(o.Padding.Shapes) {
			shape = o.Padding.Shapes[i]
		}
		for _, n := range shape {
			if n < 0 {
				n = length
			}
			shapes[i] = append(shapes[i], n)
		}
	}
	return shapes
}

// anyBatch describes batches like one with as many elements as they have.
func anyBatch(like *spec.Element) *spec.Element {
	out := &spec.Element{Structure: like.Structure, Components: slices.Clone(like.Components)}
	for i := range out.Components {
		shape := slices.Clone(out.Components[i].Shape)
		shape[0] = -1
		out.Components[i].Shape = shape
	}
	return out
}
