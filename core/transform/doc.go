// Package transform holds the datasets that have inputs, one file an operation.
//
// Each keeps random access: element i of the output is found from elements of the
// input by arithmetic on numbers, so no operation has a position or a buffer.
//
// Randomness. A pass is named by a key. repeat gives each repetition of its input
// a key of its own, made from that of the pass; shuffle makes its order from the
// key of the pass, its seed and its height above the source. What is put on top
// of a dataset therefore changes nothing in the order below, and two shuffles with
// one seed agree when what lies under them has the same height.
package transform
