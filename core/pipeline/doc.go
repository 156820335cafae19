// Package pipeline turns the definition of a dataset into a running iterator.
//
// A definition is data: a tree of nodes, each an operation with its arguments, in
// Go values or in JSON ([Parse]). [Dataset] is one that was checked. [Iterator]
// runs it: workers claim runs of consecutive elements, make them straight in slots
// of an arena, and hand them over in order.
//
// A group is what travels in one slot: consecutive elements of equal shapes. The
// first group is one element, so that it is not late; groups grow to about a
// mebibyte, so that small batches do not cost a wake-up each. How elements are
// grouped shows nowhere: not in values, order, state or errors.
//
// Memory. A slot is lent with its group and is not written again before it is
// released. There are slots for the groups that are being made or wait, and for
// [Iterator.MayLend] more with the consumer; a consumer that keeps more than these
// stops the pipeline until it releases some.
//
// State ([State]) is the position in a pass, the seeds, and a fingerprint of the
// definition's structure, which must be the same where it is loaded.
package pipeline
