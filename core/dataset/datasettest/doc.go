// Package datasettest proves that a dataset keeps to the contracts of package
// dataset: elements are the same however they are asked for, a walk can be taken
// up at every state, and no result depends on how large blocks are.
package datasettest
