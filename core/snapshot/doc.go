// Package snapshot keeps the elements of a dataset in a folder, and gives them back.
//
// Terms. A snapshot is committed by its manifest; before that, readers do not see it.
// Elements lie in chunks, files that never change once they have their name. A chunk
// has blocks of about a mebibyte, a block has pieces: the values of one component, and
// where shapes differ or strings end. The journal of a [Writer] lists the chunks that
// it has committed, with the token of the dataset above behind each, so that another
// writer can go on. docs/format/snapshot.md describes every byte.
//
// [Save] writes, [Load] reads in any order, and [Keep] is a transformation that writes
// while it gives elements and reads when they are there.
//
// Crashes. Every file is synced before it gets the name by which it counts, and the
// name is synced before anything refers to it. So what a journal or manifest lists is
// there, whatever moment a machine dies at, and nothing is listed twice.
//
// Two writers. Each has its own names, chunks may be shared because they do not change,
// and the manifest's name can be given once. No clock or lock is needed for that; the
// lease keeps a second process from doing the work twice, as far as it can.
//
// Damage. Each byte that is used was checked against its checksum when it was first
// read; sizes are checked against the file before anything is allocated. What is wrong
// is a DataLoss error with the file and the place in it.
package snapshot
