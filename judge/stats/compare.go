// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Comparison is the difference of two systems on the same questions, with its interval and p-value.
type Comparison struct {
	MeanA float64 `json:"mean_a"`
	MeanB float64 `json:"mean_b"`
	// Effect is the mean of B minus A. Its Method is "paired-t".
	Effect Interval `json:"effect"`
	// P is the two-sided p-value of no difference: it is below 1 - Effect.Confidence exactly if the interval
	// excludes 0.
	P float64 `json:"p"`
	// freedom are the degrees of freedom of both.
	freedom float64
}

// Compare compares two systems by their scores on the same questions, in the same order. Scores are usually
// shares in 0..1; other ranges are valid.
//
// Interval and test are one: Student's t of the mean difference over its standard error, after adding half a
// cluster with the difference +s and half of one with the difference -s, where s is the root mean square of
// the nonzero differences. Bonett and Price (Journal of Educational and Behavioral Statistics 37, 2012) add
// one question each way; half of one keeps the coverage nominal at 24 to 100 questions. If no question
// differs, s is a whole question, so that the interval has a width.
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
		differences[i] = exact(b[i]-a[i], math.Abs(a[i])+math.Abs(b[i]))
		c.MeanA += a[i]
		c.MeanB += b[i]
	}
	g, err := group(differences, clusters)
	if err != nil {
		return Comparison{}, fmt.Errorf("stats: compare: differences: %w", err)
	}
	c.MeanA /= float64(len(a))
	c.MeanB /= float64(len(b))
	center, se := g.padded()
	c.freedom = float64(len(g.sums))
	t := studentQuantile(o.tail(), c.freedom)
	c.Effect = g.label(Interval{Estimate: g.mean(), Low: center - t*se, High: center + t*se, Confidence: o.Confidence, SE: se, Method: "paired-t"})
	c.P = studentTwoSided(center/se, c.freedom)
	return c, nil
}

// padded returns the mean and its standard error after adding half a cluster each way.
func (g groups) padded() (mean, se float64) {
	clusters, n := float64(len(g.sums)), float64(g.n)
	size := n / clusters
	differ, squares, total := 0.0, 0.0, 0.0
	for _, s := range g.sums {
		total += s
		if s != 0 {
			differ++
			squares += s * s
		}
	}
	scale := size
	if differ > 0 {
		scale = math.Sqrt(squares / differ)
	}
	n += size
	mean = total / n
	within := scale*scale + mean*size*mean*size // of two halves, ±scale around the mean
	for c, s := range g.sums {
		d := s - mean*float64(g.sizes[c])
		within += d * d
	}
	return mean, math.Sqrt(within*(clusters+1)/clusters) / n
}

// Detectable returns the least true difference, in the unit of the scores, that a test finds with probability
// .8 at level .05 after a correction for a number of tests (Miller, arXiv 2411.00640, section 5, with
// Bonferroni's level, which is the first of Holm's).
func (c Comparison) Detectable(tests int) float64 {
	return (studentQuantile(.025/float64(max(tests, 1)), c.freedom) + normalQuantile(.8)) * c.Effect.SE
}

// Holm corrects the p-values of one family of tests, so that the chance of any false finding among them stays
// below the level of the comparison (Holm 1979). The result is in the order of p.
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
