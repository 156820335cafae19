// Package rng makes every random choice of infeed: numbers and orders that are
// functions of a key, never of what was drawn before.
//
// Terms. A [Key] is hashed from a seed and from words that say what it is for
// (which dataset node, which pass, which element). [Key.Uint64] is a
// counter-based generator: the i-th number of a key is made alone, so that any
// element's numbers can be found without those of the elements before it. A
// [Permutation] is an order of [0, n) of which any part can be computed alone.
//
// Orders are part of what users keep: a state saved today must go on tomorrow in
// the same order. [OrderVersion] numbers the algorithm and is stored with every
// state; testdata holds orders that must never change while it stays the same.
//
// None of this is for secrets.
package rng

// OrderVersion is the version of the algorithms of this package. It changes when
// any key, number or permutation changes.
const OrderVersion = 1
