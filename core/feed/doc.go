// Package feed runs the user's Python code: it decides which batch is made when,
// by which worker, and in which order it is delivered.
//
// Terms. A pool owns workers and lives as long as its dataset is in use. A walk is
// one consumer's way through the batches; several may be open in one pool
// (training and validation). A job is the making of one batch. Threads of Python
// take jobs themselves (Take, Done) and keep the batches as Python objects; worker
// processes get them over a socket and write the batches into slots of an arena
// (wire.go has the messages).
//
// Promises. A walk delivers every position from its start to its end once, in
// order, whatever becomes of the workers. At most as many batches as the queue is
// long (at least one for each worker) are made and not yet taken. No batch is made
// before its walk is opened. A worker process that dies is replaced and its batch
// made again, twice at most.
//
// Limits. Nothing here calls Python, and nothing waits for it.
package feed
