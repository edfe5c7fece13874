// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// Discordance compares two systems whose answers are right or wrong: the
// effect and its interval before the p-value.
type Discordance struct {
	// OnlyA and OnlyB count the questions that one system alone got right.
	OnlyA int `json:"only_a"`
	OnlyB int `json:"only_b"`
	// Effect is the share right under B minus that under A, with the
	// interval of Agresti and Min (2005).
	Effect Interval `json:"effect"`
	// Test is McNemar's, exact.
	Test Test `json:"test"`
}

// McNemar compares two systems on n independent questions, of which A alone
// got onlyA right and B alone onlyB. The p-value is exact: were the systems
// equally good, the questions they differ on would be heads and tails
// (McNemar 1947).
//
// The interval adds half a question to each of the four counts before it takes
// the normal approximation, which makes it hold with few questions (Agresti
// and Min, Statistics in Medicine 24, 2005).
func McNemar(onlyA, onlyB, n int, o Options) (Discordance, error) {
	o, err := o.resolve()
	switch {
	case err != nil:
		return Discordance{}, err
	case n < 1:
		return Discordance{}, fmt.Errorf("stats: mcnemar: %w: n = %d", ErrTooFew, n)
	case onlyA < 0 || onlyB < 0 || onlyA > n-onlyB:
		return Discordance{}, fmt.Errorf("stats: mcnemar: %d and %d of %d questions differ: want them in 0..n", onlyA, onlyB, n)
	}
	a, b, size := float64(onlyA)+.5, float64(onlyB)+.5, float64(n)+2
	center := (b - a) / size
	se := math.Sqrt(a+b-(b-a)*(b-a)/size) / size
	half := normalQuantile(1-o.tail()) * se
	return Discordance{OnlyA: onlyA, OnlyB: onlyB,
		Effect: Interval{Estimate: float64(onlyB-onlyA) / float64(n), Low: max(-1, center-half), High: min(1, center+half),
			Confidence: o.Confidence, SE: se, N: n, Method: "agresti-min"},
		Test: Test{P: signTest(onlyA, onlyB), Method: "mcnemar-exact"}}, nil
}

// signTest is the two-sided probability that a fair coin is as uneven.
func signTest(heads, tails int) float64 {
	if heads == tails {
		return 1
	}
	k, n := min(heads, tails), heads+tails
	// P(X <= k) for X of n fair tosses.
	return min(1, 2*mathext.RegIncBeta(float64(n-k), float64(k+1), .5))
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
