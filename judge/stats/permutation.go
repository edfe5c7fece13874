// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"
)

// MaxExact is the largest number of differing clusters for which the
// permutation test goes through all sign patterns instead of drawing some.
const MaxExact = 20

// Test is the result of a significance test.
type Test struct {
	// P is the two-sided p-value.
	P float64 `json:"p"`
	// Method is "permutation-exact" or "permutation-drawn".
	Method string `json:"method"`
	// Patterns is the number of sign patterns that the test went through.
	Patterns int `json:"patterns"`
}

// permutation tests whether paired differences could as well have had the
// other sign: it flips the signs of values, or of whole clusters, and counts
// how often the sum is at least as far from 0 as it is. Zero differences do
// not matter. Up to MaxExact others, all patterns are counted and p is exact. Else
// Options.Resamples patterns are drawn and p is (1 + count) ÷ (1 + patterns), which is
// never 0: with the default of 10,000 a correction for up to 500 comparisons still leaves
// clear differences below .05.
func (g groups) permutation(o Options) Test {
	var sums []float64
	observed, size := 0.0, 0.0
	for _, s := range g.sums {
		if s != 0 {
			sums = append(sums, s)
			observed += s
			size += math.Abs(s)
		}
	}
	// Sums that differ by rounding alone are equal.
	bound := math.Abs(observed) - 1e-9*size
	if len(sums) <= MaxExact {
		extreme, patterns := enumerate(sums, bound)
		return Test{float64(extreme) / float64(patterns), "permutation-exact", patterns}
	}
	var extreme atomic.Int64
	o.parallel(func(from, to int) {
		count := 0
		for r := from; r < to; r++ {
			if math.Abs(flipped(sums, o.Seed, r)) >= bound {
				count++
			}
		}
		extreme.Add(int64(count))
	})
	return Test{float64(1+extreme.Load()) / float64(1+o.Resamples), "permutation-drawn", o.Resamples}
}

// enumerate counts the sign patterns whose sum is at least bound away from 0,
// in Gray code: from one pattern to the next, one sign changes. A pattern and
// its opposite are as far from 0, so the last sign stays.
func enumerate(sums []float64, bound float64) (extreme, patterns int) {
	if len(sums) == 0 {
		return 1, 1
	}
	total := 0.0
	for _, s := range sums {
		total += s
	}
	half := 1 << (len(sums) - 1)
	signs := make([]float64, len(sums))
	for i := range signs {
		signs[i] = 1
	}
	for pattern := 1; ; pattern++ {
		if math.Abs(total) >= bound {
			extreme += 2
		}
		if pattern == half {
			return extreme, 2 * half
		}
		i := bits.TrailingZeros(uint(pattern))
		signs[i] = -signs[i]
		total += 2 * signs[i] * sums[i]
	}
}

// flipped is the sum with random signs; one call of the generator serves 64.
func flipped(sums []float64, seed uint64, r int) float64 {
	rng := stream(seed, r)
	total := 0.0
	for len(sums) > 0 {
		signs := rng.Uint64()
		n := min(64, len(sums))
		for _, s := range sums[:n] {
			total += math.Float64frombits(math.Float64bits(s) ^ signs<<63)
			signs >>= 1
		}
		sums = sums[n:]
	}
	return total
}

// Holm corrects the p-values of one family of tests, so that the chance of any
// false finding among them stays below the level one compares with (Holm
// 1979). The result is in the order of p.
func Holm(p []float64) ([]float64, error) {
	byP := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, fmt.Errorf("stats: holm: p-value %d is %v: want it in 0..1", i, v)
		}
		byP[i] = i
	}
	slices.SortStableFunc(byP, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	adjusted := make([]float64, len(p))
	largest := 0.0
	for rank, i := range byP {
		largest = max(largest, min(1, float64(len(p)-rank)*p[i]))
		adjusted[i] = largest
	}
	return adjusted, nil
}
