// Package fault holds the law of faults: whatever operation on files fails, and
// whenever a machine dies, what was committed is read back exactly, nothing is stored
// twice, and damage is found or has no effect.
package fault
