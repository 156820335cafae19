// Package source holds the datasets that have no inputs.
package source
