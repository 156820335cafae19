// Package kernel holds the hot loops of infeed: plain functions over memory.
//
// Each has a Go twin, which is the specification, and may have a C twin where a
// measurement earned it. The twins agree bit for bit, which a test shows. C twins
// are compiled with -ffp-contract=off, and left out by the build tag purego. The Go twins
// of [CSV] and [Feistel] are in csvtext and rng, which do what these leave to them.
//
// A kernel does not check its arguments for sense beyond what keeps it inside the
// memory it was given; a C twin must never be given memory mapped from a file
// that others may cut short.
package kernel
