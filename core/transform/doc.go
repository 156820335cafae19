// Package transform holds the datasets that have inputs, one file an operation.
//
// Where the input is indexed and the operation allows it, so is the result: element i
// of the output is found from elements of the input by arithmetic on numbers, without
// a position or a buffer. All others are iterators over streams. Both give the same
// elements, and fail at the same places, but for shuffle, which orders a stream within
// windows.
//
// Failures. An element that fails is an element: it has a number, takes its partners
// in zip, its batch and the windows that reach over it with it, and changes nothing
// else. What nobody asked for, such as elements that are skipped, does not fail.
//
// Components that are no arrays. A dataset that is a component, as those of window
// are, is a string that can be read as one ([DatasetName]); a component of a ragged
// batch is its values and shapes ([RaggedName]), and an array that was taken out of
// one keeps a sign of it, so that batches of such arrays are ragged again. Their
// structure says so, so that they go through every operation.
//
// Randomness. A pass is named by a key. repeat gives each repetition of its input
// a key of its own, made from that of the pass; shuffle makes its order from the
// key of the pass, its seed and its height above the source. What is put on top
// of a dataset therefore changes nothing in the order below, and two shuffles with
// one seed agree when what lies under them has the same height. cache gives pass 0 of
// its input in every pass.
package transform
