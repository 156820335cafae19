// Package dataset holds the contracts between sources, transformations and the
// pipeline that runs them.
//
// Terms. A [Definition] is an immutable description of a sequence of elements. A
// pass over it is named by a key; what is random in a pass is a function of that
// key, so that a pass can be begun again, anywhere, and is the same. An [Iterator]
// walks a pass once and makes its elements in blocks: runs of elements of equal
// shapes. Definitions that are [Indexed] can also make any elements by number
// ([RandomAccess]), from any goroutine.
//
// Whoever wants elements says where: it gives a [Sink], which is asked for memory
// when shapes are known. So elements are made where they are needed, and nobody
// lends memory to anybody.
//
// A [Token] says where an iterator can take up its walk. It is taken between
// elements, costs little, and is small whatever lies behind it.
//
// How elements fall into blocks is an accident. No value, order, token or error may
// depend on it.
//
// Errors. An element that cannot be made is an error at its place: the elements
// before it come first, and an iterator that is asked again goes on with the one
// after it.
//
// Package datasettest proves that an implementation keeps to all this.
package dataset
