// Package spec describes what elements are made of.
//
// Terms. An element is a nested structure whose leaves are components. A
// [Component] has a [DType] and a shape; a dimension of -1 differs between
// elements. An [Element] is a [Structure] and its components in the order of its
// leaves: fields of tuples in order, keys of dicts sorted, as tf.data's.
//
// The package knows NumPy's names of dtypes and nothing of what is done with
// values.
package spec
