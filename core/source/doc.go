// Package source holds the datasets that have no inputs.
//
// Those that know where each element is are indexed: ranges, arrays, random numbers,
// lists of files, what a function makes of numbers, and record files that were looked
// through once. The others are streams; their tokens say where in which file, or how
// many elements in, they go on.
//
// Files are named by paths; no character of a path is special, except to [ListFiles].
// Damage in files is an error at its place, and the elements after it follow; or it
// is left out, as [Files] says, and counted in the tokens.
package source
