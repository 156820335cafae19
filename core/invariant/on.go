//go:build invariants || race

package invariant

// Enabled tells whether checks are compiled in.
const Enabled = true
