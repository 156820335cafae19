package transform

import "sort"

// turn is how large batches are: sizes are taken in turn, over and over.
type turn struct {
	sizes, starts []int64 // of the batches of a turn; the first element of each
	sum           int64   // elements of a turn
}

// turnOf returns the turn of sizes, whose sum is an int64.
func turnOf(sizes ...int64) turn {
	t := turn{sizes: sizes}
	for _, n := range sizes {
		t.starts = append(t.starts, t.sum)
		t.sum += n
	}
	return t
}

// batches returns how many there are of n elements.
func (t turn) batches(n int64, dropRemainder bool) int64 {
	if n < 0 {
		return n
	}
	left := n % t.sum
	// Of the last turn, these batches begin before the end; all but the last are whole.
	begun := int64(sort.Search(len(t.starts), func(i int) bool { return t.starts[i] >= left }))
	if begun > 0 && dropRemainder && t.starts[begun-1]+t.sizes[begun-1] > left {
		begun--
	}
	return n/t.sum*int64(len(t.sizes)) + begun
}

// bounds returns the first element of batch k and how many it has, unless the end comes
// before.
func (t turn) bounds(k int64) (first, size int64) {
	n := int64(len(t.sizes))
	return k/n*t.sum + t.starts[k%n], t.sizes[k%n]
}
