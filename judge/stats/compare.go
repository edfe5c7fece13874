// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
)

// Comparison is the difference of two systems on the same questions: the
// effect and its interval before the p-value.
type Comparison struct {
	MeanA float64 `json:"mean_a"`
	MeanB float64 `json:"mean_b"`
	// Effect is the mean of B minus A, with the interval of the paired
	// bootstrap.
	Effect Interval `json:"effect"`
	// SE is the standard error of the effect by formula, clustered if the
	// questions are.
	SE float64 `json:"se"`
	// Detectable is the smallest true difference that a test at level .05 over so many
	// questions detects with probability .8.
	Detectable float64 `json:"detectable"`
	// Test is the permutation test of no difference.
	Test Test `json:"test"`
}

// Compare compares two systems by their scores on the same questions, in the
// same order.
func Compare(a, b []float64, clusters []int32, o Options) (Comparison, error) {
	o, err := o.resolve()
	if err != nil {
		return Comparison{}, err
	}
	if len(a) != len(b) {
		return Comparison{}, fmt.Errorf("stats: compare: %d scores of A, %d of B: want the same questions", len(a), len(b))
	}
	for _, scores := range [][]float64{a, b} {
		if _, err := group(scores, clusters); err != nil {
			return Comparison{}, fmt.Errorf("stats: compare: %w", err)
		}
	}
	differences := make([]float64, len(a))
	var c Comparison
	for i := range a {
		differences[i] = b[i] - a[i]
		c.MeanA += a[i]
		c.MeanB += b[i]
	}
	g, err := group(differences, clusters)
	if err != nil {
		return Comparison{}, fmt.Errorf("stats: compare: differences: %w", err)
	}
	c.MeanA /= float64(len(a))
	c.MeanB /= float64(len(b))
	c.Effect = g.bootstrap(o)
	c.SE = g.standardError(differences)
	c.Detectable = detectable(c.SE)
	c.Test = g.permutation(o)
	return c, nil
}

// detectable is the least true difference that a test at level .05 finds with
// probability .8, given the standard error of the paired difference, in the unit of
// the scores (Miller, arXiv 2411.00640, section 5).
func detectable(se float64) float64 { return (normalQuantile(1-.05/2) + normalQuantile(.8)) * se }

// Kappa is the agreement of two raters beyond chance (Cohen, Educational and
// Psychological Measurement 20, 1960), such as a judge and a person: 1 when they agree, 0
// when they agree as often as by chance, below 0 when less often. The ratings of item i
// are first[i] and second[i]; any two different ratings are as bad. The interval is by
// Cohen's standard error, for independent items. If all ratings are equal the error wraps
// [ErrUndefined].
func Kappa(first, second []int, o Options) (Interval, error) {
	o, err := o.resolve()
	n := float64(len(first))
	switch {
	case err != nil:
		return Interval{}, err
	case len(first) != len(second):
		return Interval{}, fmt.Errorf("stats: kappa: %d and %d ratings: want one of each rater for every item", len(first), len(second))
	case n == 0:
		return Interval{}, fmt.Errorf("stats: kappa: %w: no ratings", ErrTooFew)
	}
	rows, columns := make(map[int]int), make(map[int]int)
	same := 0
	for i, a := range first {
		rows[a]++
		columns[second[i]]++
		if a == second[i] {
			same++
		}
	}
	products := 0 // whole numbers, so that the order of a map does not matter
	for rating, count := range rows {
		products += count * columns[rating]
	}
	observed, chance := float64(same)/n, float64(products)/(n*n)
	if chance == 1 {
		return Interval{}, fmt.Errorf("stats: kappa: %w: all ratings are equal", ErrUndefined)
	}
	kappa := (observed - chance) / (1 - chance)
	se := math.Sqrt(observed*(1-observed)/n) / (1 - chance)
	half := normalQuantile(1-o.tail()) * se
	return Interval{Estimate: kappa, Low: max(-1, kappa-half), High: min(1, kappa+half), Confidence: o.Confidence, SE: se, N: len(first), Method: "cohen"}, nil
}
