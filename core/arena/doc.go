// Package arena holds the memory that batches travel in, and the words by which
// its users take turns: Go fills it, the C shim and Python read it.
//
// Terms. A segment is a run of shared memory behind one descriptor (a memfd), so
// that worker processes can map it too. A slot is a part of a segment that holds
// one batch (or one group of small ones). A slot is in one of four states,
//
//	FREE → FILLING → READY → LENT → FREE
//
// changed by compare-and-swap on a word that holds the slot's generation too. A
// reference names slot and generation, so that a stale one is recognised. An
// event is a word to wait on; a queue hands finished batches, in order, to one
// consumer at a time.
//
// All of these live in memory outside the Go heap, laid out as in layout.go and
// declared again, for the shim, in capi/infeed.h (a test of capi compares them).
// The shim takes entries from queues and gives slots back without entering Go.
//
// Lifetimes. Whoever was lent a slot may read and write it until it is given
// back, however long that takes: an arena that is closed meanwhile leaves the
// segment mapped until the last slot of it is back.
package arena
