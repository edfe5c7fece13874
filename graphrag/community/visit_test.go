// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math/rand/v2"
	"testing"
)

// The best of some communities is that of a plain comparison: the first one of the greatest gain,
// if that is more than staying gains.
func TestBest(t *testing.T) {
	const own, k = int32(0), .25
	rng := rand.New(rand.NewPCG(1, 1))
	for range 10_000 {
		n := 1 + rng.IntN(12)
		v := &solver[float32]{
			masses:  make([]float32, n),
			links:   make([]float32, n),
			touched: make([]int32, n),
			gains:   make([]int64, n),
		}
		for c := range n {
			v.links[c], v.masses[c] = float32(rng.IntN(4)), float32(rng.IntN(16)) // many are equal, some lose
			v.touched[c] = int32(c)
		}
		rng.Shuffle(n, func(i, j int) { v.touched[i], v.touched[j] = v.touched[j], v.touched[i] })
		stay := float64(rng.IntN(6)-3) / 2
		first, second, at := stay, 0.0, -1
		for i, c := range v.touched {
			gain := float64(v.links[c]) - k*float64(v.masses[c])
			switch {
			case c == own:
			case gain > first:
				first, second, at = gain, max(second, first), i
			default:
				second = max(second, gain)
			}
		}
		if most, next, place := v.best(v.touched, own, k, stay); most != first || next != second || place != at {
			t.Fatalf("links %v, masses %v, touched %v, staying %v: %v, %v at %d, want %v, %v at %d",
				v.links, v.masses, v.touched, stay, most, next, place, first, second, at)
		}
	}
}

func TestOrder(t *testing.T) {
	numbers := []float64{-1e300, -2, -1e-310, 0, 1e-310, 1, 1.5, 1e300}
	for i, x := range numbers {
		if unordered(order(x)) != x {
			t.Errorf("%v comes back as %v", x, unordered(order(x)))
		}
		if i > 0 && order(numbers[i-1]) >= order(x) {
			t.Errorf("%v is not after %v", x, numbers[i-1])
		}
	}
}
