// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// Comparison is the difference of two systems on the same questions: the
// effect and its interval before the p-value.
type Comparison struct {
	MeanA float64 `json:"mean_a"`
	MeanB float64 `json:"mean_b"`
	// Effect is the mean of B minus A, with the interval of the paired
	// bootstrap.
	Effect Interval `json:"effect"`
	// SD is the standard deviation of the differences, Correlation that of
	// the scores: the higher it is, the more pairing gains. Correlation is 0
	// when the scores of one system are all equal.
	SD          float64 `json:"sd"`
	Correlation float64 `json:"correlation"`
	// SE is the standard error of the effect by formula, clustered if the
	// questions are.
	SE float64 `json:"se"`
	// Detectable is the least difference that this many questions show: the least
	// true difference that a test at level .05 finds with probability .8.
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
		if _, err := group(scores, clusters, 2); err != nil {
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
	g, err := group(differences, clusters, 2)
	if err != nil {
		return Comparison{}, fmt.Errorf("stats: compare: differences: %w", err)
	}
	c.MeanA /= float64(len(a))
	c.MeanB /= float64(len(b))
	c.Effect = g.bootstrap(o)
	c.SD = deviation(differences)
	if r := stat.Correlation(over(a, cmp.Or(largest(a), 1)), over(b, cmp.Or(largest(b), 1)), nil); !math.IsNaN(r) {
		c.Correlation = r
	}
	c.SE = g.standardError(differences)
	c.Detectable = detectable(c.SE)
	c.Test = g.permutation(o)
	return c, nil
}

// String is a line for a report on scores in 0..1, in points of 0..100.
func (c Comparison) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "B - A = %+.1f points, %.4g %% interval [%+.1f, %+.1f], p = %.3g; with %d questions",
		100*c.Effect.Estimate, 100*c.Effect.Confidence, 100*c.Effect.Low, 100*c.Effect.High, c.Test.P, c.Effect.N)
	if c.Effect.Clusters > 0 {
		fmt.Fprintf(&b, " in %d clusters", c.Effect.Clusters)
	}
	fmt.Fprintf(&b, " you cannot see less than %.1f points", 100*c.Detectable)
	return b.String()
}

// detectable is the least true difference that a test at level .05 finds with
// probability .8, given the standard error of the paired difference, in the unit of
// the scores (Miller, arXiv 2411.00640, section 5).
func detectable(se float64) float64 { return (normalQuantile(1-.05/2) + normalQuantile(.8)) * se }
