package rng

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// requireUniform fails when chi-square over the counts is further from what equal
// chances give than five standard deviations, on either side.
func requireUniform(t *testing.T, counts []int, name string) {
	t.Helper()
	total := 0
	for _, c := range counts {
		total += c
	}
	expected := float64(total) / float64(len(counts))
	require.Greater(t, expected, 10.0, "%s: too few draws for the test to mean anything", name)
	var chi float64
	for _, c := range counts {
		d := float64(c) - expected
		chi += d * d / expected
	}
	freedom := float64(len(counts) - 1)
	z := (chi - freedom) / math.Sqrt(2*freedom)
	require.Less(t, math.Abs(z), 5.0, "%s: chi-square %.1f with %.0f degrees of freedom", name, chi, freedom)
}

// Of a small n every one of the n! orders is as likely as any other.
func TestSmallOrdersAreEquallyLikely(t *testing.T) {
	for n, orders := range map[int64]int{2: 2, 3: 6, 4: 24, 5: 120, 6: 720, 7: 5040} {
		counts := make([]int, orders)
		for draw := range 20 * orders {
			p := NewPermutation(n, NewKey(uint64(n), uint64(draw)))
			rank := 0
			for i := range n {
				smaller := 0
				for j := i + 1; j < n; j++ {
					if p.At(j) < p.At(i) {
						smaller++
					}
				}
				rank = rank*int(n-i) + smaller
			}
			counts[rank]++
		}
		requireUniform(t, counts, fmt.Sprintf("orders of %d", n))
	}
}

// sizes lie on both sides of the boundary between table and Feistel network, on
// both sides of powers of two, and where the halves are unequal.
var sizes = []int64{65_535, 65_536, 65_537, 100_003, 131_072, 131_073, 300_000}

// Over keys, an element is equally likely to be anywhere, and so is a pair.
func TestPlacesAreUniformOverKeys(t *testing.T) {
	const cells = 8
	for _, n := range sizes {
		draws := 6000
		if n <= tableMax {
			draws = 1000 // each makes a whole table
		}
		places := []int64{0, 1, n / 2, n - 2}
		single, pair := make([][cells * cells]int, len(places)), make([][cells * cells]int, len(places))
		for draw := range draws {
			p := NewPermutation(n, NewKey(20, uint64(n), uint64(draw)))
			for j, i := range places {
				a, b := p.At(i), p.At(i+1)
				single[j][a*cells*cells/n]++
				pair[j][a*cells/n*cells+b*cells/n]++
			}
		}
		for j, i := range places {
			requireUniform(t, single[j][:], fmt.Sprintf("n=%d: element at %d", n, i))
			requireUniform(t, pair[j][:], fmt.Sprintf("n=%d: elements at %d and the next", n, i))
		}
	}
}

// Within one order, place says nothing about element, nor an element about the
// next one.
func TestOrdersLookRandomWithin(t *testing.T) {
	for _, n := range sizes {
		for seed := range uint64(4) {
			order := make([]int64, n)
			NewPermutation(n, NewKey(seed, uint64(n))).Fill(order, 0)
			const cells = 48
			place := make([]int, cells*cells)
			next := make([]int, cells*cells)
			step := make([]int, 1024)
			low := make([]int, 32*32)
			for i, x := range order {
				y := order[(i+1)%len(order)]
				place[int64(i)*cells/n*cells+x*cells/n]++
				next[x*cells/n*cells+y*cells/n]++
				step[(y-x+n)%n*1024/n]++
				low[x%32*32+y%32]++
			}
			name := fmt.Sprintf("n=%d seed=%d ", n, seed)
			requireUniform(t, place, name+"place and element")
			requireUniform(t, next, name+"element and next")
			requireUniform(t, step, name+"step to the next")
			requireUniform(t, low, name+"low bits of element and next")
		}
	}
}

// The number of elements left in place is Poisson with mean 1 for random orders.
func TestFixedPoints(t *testing.T) {
	for _, n := range []int64{1000, 65_537, 100_000} {
		counts := make([]int, 5)
		order := make([]int64, n)
		for seed := range uint64(400) {
			NewPermutation(n, NewKey(seed, 5)).Fill(order, 0)
			fixed := 0
			for i, x := range order {
				if int64(i) == x {
					fixed++
				}
			}
			counts[min(fixed, 4)]++
		}
		var chi float64
		for k, p := range []float64{0.367879, 0.367879, 0.183940, 0.061313, 0.018988} {
			d := float64(counts[k]) - 400*p
			chi += d * d / (400 * p)
		}
		require.Less(t, chi, 25.0, "n=%d: %v orders with 0, 1, 2, 3, more elements in place", n, counts)
	}
}

func TestNumbersAreUniform(t *testing.T) {
	for seed := range uint64(4) {
		key := NewKey(seed, 99)
		high, low, pair := make([]int, 1024), make([]int, 1024), make([]int, 1024)
		for i := range uint64(200_000) {
			x, y := key.Uint64(i), key.Uint64(i+1)
			high[x>>54]++
			low[x&1023]++
			pair[x>>59<<5|y>>59]++
		}
		requireUniform(t, high, "high bits")
		requireUniform(t, low, "low bits")
		requireUniform(t, pair, "neighbours")
	}
}
