// Package kernel holds the hot loops of infeed: plain functions over memory.
//
// Each has a Go twin, which is the specification, and may have a C twin where a
// measurement earned it. The twins agree bit for bit, which a test shows. C twins
// are compiled with -ffp-contract=off, and left out by the build tag purego. The Go twin
// of [CSV] is in csvtext, which does what CSV leaves to it.
//
// A kernel does not check its arguments for sense beyond what keeps it inside the
// memory it was given; a C twin must never be given memory mapped from a file
// that others may cut short.
package kernel
