// Package dataset holds the contracts between sources, transformations and the
// pipeline that runs them.
//
// Terms. A [Definition] is an immutable description of a sequence of elements.
// Opened for a pass, it becomes a [RandomAccess]: elements by number, in any
// order, from any goroutine. A pass is named by a key; what is random in it is a
// function of that key, so that a pass can be opened again, anywhere, and is the
// same. An [Iterator] walks a pass once and hands out runs: consecutive elements
// of equal shapes, which others fill into memory. A [Token] says where a walk can
// be taken up.
//
// Elements may differ in shape (the last batch is smaller). Shapes are asked for
// before memory is found and elements are made; that never touches the data.
//
// Package datasettest proves that an implementation keeps to all this.
package dataset
