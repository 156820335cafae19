package transform_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"infeed/core/block"
	"infeed/core/dataset"
	"infeed/core/dataset/datasettest"
	"infeed/core/errs"
	"infeed/core/spec"
	"infeed/core/transform"
)

// lengths is arrays 0, 1, ... of the given lengths, in memory.
func lengths(ns ...int64) dataset.Indexed {
	var b block.Buffer
	for _, n := range ns {
		row, err := b.Block(&spec.Element{Components: []spec.Component{{DType: scalars.Components[0].DType, Shape: []int64{n}}}}, 1)
		if err != nil {
			panic(err)
		}
		for i := range n {
			binary.LittleEndian.PutUint64(row.Columns[0].Data[8*i:], uint64(i))
		}
	}
	return transform.Stored(from{shapes: true}.Spec(), b.Blocks())
}

// lengthOf is the program of an element's length.
type lengthOf struct{ function }

func (lengthOf) Run(_ *dataset.Scope, in block.Block, _ dataset.Chance, dst dataset.Sink) (int64, error) {
	out, err := dst.Block(scalars, in.Rows)
	if err != nil {
		return 0, err
	}
	for i := range in.Rows {
		binary.LittleEndian.PutUint64(out.Columns[0].Data[8*i:], uint64(in.Shapes.Components[0].Shape[0]))
	}
	return in.Rows, nil
}

func bucketed(in dataset.Definition, o transform.BucketOptions) dataset.Definition {
	o.Length = lengthOf{}
	if o.BatchSizes == nil {
		o.Boundaries, o.BatchSizes = []int64{3, 5}, []int64{2, 2, 2}
	}
	return mustBe(transform.BucketBySequenceLength(in, o))
}

// The expected batches are what tf.data gives.
func TestBucketBySequenceLength(t *testing.T) {
	in := lengths(1, 2, 3, 4, 5, 6, 2, 3)
	seven := []byte{7, 0, 0, 0, 0, 0, 0, 0}
	for name, c := range map[string]struct {
		o    transform.BucketOptions
		spec string
		want [][]int64
	}{
		"padded":            {transform.BucketOptions{}, "int64[-1 -1]", [][]int64{{0, 0, 0, 1}, {0, 1, 2, 0, 0, 1, 2, 3}, {0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 5}, {0, 1}, {0, 1, 2}}},
		"without remainder": {transform.BucketOptions{DropRemainder: true}, "int64[-1 -1]", [][]int64{{0, 0, 0, 1}, {0, 1, 2, 0, 0, 1, 2, 3}, {0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 5}}},
		"with a value":      {transform.BucketOptions{DropRemainder: true, Padding: transform.Padding{Values: [][]byte{seven}}}, "int64[-1 -1]", [][]int64{{0, 7, 0, 1}, {0, 1, 2, 7, 0, 1, 2, 3}, {0, 1, 2, 3, 4, 7, 0, 1, 2, 3, 4, 5}}},
		"to shapes":         {transform.BucketOptions{DropRemainder: true, Padding: transform.Padding{Shapes: [][]int64{{4}}}}, "int64[-1 4]", [][]int64{{0, 0, 0, 0, 0, 1, 0, 0}, {0, 1, 2, 0, 0, 1, 2, 3}, nil}},
		"to the boundary":   {transform.BucketOptions{ToBoundary: true}, "int64[-1 -1]", [][]int64{{0, 0, 0, 1}, {0, 1, 2, 0, 0, 1, 2, 3}, nil, {0, 1}, {0, 1, 2, 0}}},
		"to the boundary where shapes are not given": {transform.BucketOptions{ToBoundary: true, Padding: transform.Padding{Shapes: [][]int64{{-1}}}}, "int64[-1 -1]",
			[][]int64{{0, 0, 0, 1}, {0, 1, 2, 0, 0, 1, 2, 3}, nil, {0, 1}, {0, 1, 2, 0}}},
		"no padding":         {transform.BucketOptions{NoPadding: true}, "int64[-1 -1]", [][]int64{nil, nil, nil, {0, 1}, {0, 1, 2}}},
		"one bucket":         {transform.BucketOptions{BatchSizes: []int64{3}}, "int64[-1 -1]", [][]int64{{0, 0, 0, 0, 1, 0, 0, 1, 2}, {0, 1, 2, 3, 0, 0, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 5}, {0, 1, 0, 0, 1, 2}}},
		"batches of nothing": {transform.BucketOptions{Boundaries: []int64{3, 5}, BatchSizes: []int64{2, 0, 2}}, "int64[-1 -1]", [][]int64{{0, 0, 0, 1}, nil, nil, {0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 5}, nil, {0, 1}}},
	} {
		d := bucketed(in, c.o)
		require.Equal(t, c.spec, d.Spec().String(), name)
		require.Equal(t, c.want, groups(t, d), name)
		datasettest.Check(t, d, most)
		datasettest.Check(t, bucketed(datasettest.Stream{Definition: in}, c.o), most)
	}
}

func TestNonsenseOfBucketsIsRefused(t *testing.T) {
	for text, o := range map[string]transform.BucketOptions{
		"2 bucket_batch_sizes for 2 bucket_boundaries": {Length: lengthOf{}, Boundaries: []int64{1, 2}, BatchSizes: []int64{1, 1}},
		"element_length_func must return an integer":   {Length: notInteger{}, BatchSizes: []int64{1}},
		"bucket_boundaries has 2 behind 5":             {Length: lengthOf{}, Boundaries: []int64{1, 5, 2}, BatchSizes: []int64{1, 1, 1, 1}},
		"bucket_boundaries has 5 behind 5":             {Length: lengthOf{}, Boundaries: []int64{5, 5}, BatchSizes: []int64{1, 1, 1}},
		"2 padded_shapes":                              {Length: lengthOf{}, BatchSizes: []int64{1}, Padding: transform.Padding{Shapes: [][]int64{{-1}, {2}}}},
	} {
		_, err := transform.BucketBySequenceLength(lengths(1), o)
		require.Equal(t, errs.InvalidArgument, errs.KindOf(err))
		require.ErrorContains(t, err, text)
	}
}
