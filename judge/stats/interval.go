// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// ErrTooFew means that there are fewer values, or clusters, than the method needs.
var ErrTooFew = errors.New("too few values")

// DefaultConfidence is the confidence of zero Options.
const DefaultConfidence = 0.95

// Options are the settings of intervals and tests. The zero value is 95 % confidence.
type Options struct {
	// Confidence is the share of such intervals that contain the true value, between 0 and 1; 0 means
	// DefaultConfidence.
	Confidence float64
}

// resolve fills in the defaults and checks.
func (o Options) resolve() (Options, error) {
	o.Confidence = cmp.Or(o.Confidence, DefaultConfidence)
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return o, fmt.Errorf("stats: Options.Confidence is %v: want it between 0 and 1", o.Confidence)
	}
	return o, nil
}

// tail returns the probability beyond each end of an interval.
func (o Options) tail() float64 { return (1 - o.Confidence) / 2 }

// Interval is an estimate with a confidence interval.
type Interval struct {
	Estimate   float64 `json:"estimate"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	// SE is the standard error: of the plain share for Wilson.
	SE float64 `json:"se"`
	// N is the number of values, Clusters the number of their clusters, or 0 without any.
	N        int `json:"n"`
	Clusters int `json:"clusters,omitempty"`
	// Method is "wilson", "student-t" or "paired-t", with "clustered-" before it for clusters.
	Method string `json:"method"`
}

// String shows estimate, interval and size: "0.700 [0.481, 0.855] (95 %, n = 20)".
func (i Interval) String() string {
	return fmt.Sprintf("%.3f [%.3f, %.3f] (%.4g %%, n = %d)", i.Estimate, i.Low, i.High, 100*i.Confidence, i.N)
}

// Wilson returns the score interval of a share: successes out of n independent trials (Wilson 1927). It stays
// within 0..1 and has a width even if the share is 0 or 1.
func Wilson(successes, n int, o Options) (Interval, error) {
	o, err := o.resolve()
	switch {
	case err != nil:
		return Interval{}, err
	case n < 1:
		return Interval{}, fmt.Errorf("stats: wilson: %w: n = %d", ErrTooFew, n)
	case successes < 0 || successes > n:
		return Interval{}, fmt.Errorf("stats: wilson: %d successes of %d: want them in 0..n", successes, n)
	}
	size := float64(n)
	p := float64(successes) / size
	z := normalQuantile(1 - o.tail())
	center := (p + z*z/(2*size)) / (1 + z*z/size)
	half := z / (1 + z*z/size) * math.Sqrt(p*(1-p)/size+z*z/(4*size*size))
	i := Interval{Estimate: p, Low: max(0, center-half), High: min(1, center+half), Confidence: o.Confidence,
		SE: math.Sqrt(p * (1 - p) / size), N: n, Method: "wilson"}
	// The ends are exact there; rounding would leave the estimate outside.
	if successes == 0 {
		i.Low = 0
	}
	if successes == n {
		i.High = 1
	}
	return i, nil
}

// StudentT returns the interval of a mean by its standard error and Student's t with n-1 degrees of freedom.
// With clusters the standard error is the clustered one (see the package comment) and n is their number.
func StudentT(values []float64, clusters []int32, o Options) (Interval, error) {
	o, err := o.resolve()
	if err != nil {
		return Interval{}, err
	}
	g, err := group(values, clusters)
	if err != nil {
		return Interval{}, fmt.Errorf("stats: student-t: %w", err)
	}
	mean, se := g.mean(), g.standardError(values)
	t := studentQuantile(o.tail(), float64(len(g.sums)-1))
	return g.label(Interval{Estimate: mean, Low: mean - t*se, High: mean + t*se, Confidence: o.Confidence, SE: se, Method: "student-t"}), nil
}

// studentQuantile returns the value that Student's t with the given degrees of freedom exceeds with
// probability tail, below one half.
func studentQuantile(tail, freedom float64) float64 {
	y := mathext.InvRegIncBeta(freedom/2, .5, 2*tail)
	return math.Sqrt(freedom * (1 - y) / y)
}

func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// studentTwoSided returns the probability of a value as far from 0 as t, or farther, by Student's
// distribution.
func studentTwoSided(t, freedom float64) float64 {
	return mathext.RegIncBeta(freedom/2, .5, freedom/(freedom+t*t))
}

// Number gives equal names equal numbers, counting from 0 in the order of their first occurrence: the
// clusters of questions from the names of their pages.
func Number(names []string) []int32 {
	numbers := make([]int32, len(names))
	known := make(map[string]int32)
	for i, name := range names {
		n, ok := known[name]
		if !ok {
			n = int32(len(known))
			known[name] = n
		}
		numbers[i] = n
	}
	return numbers
}

// MaxValue limits the size of values: sums of their cubes are still float64.
const MaxValue = 1e60

// groups are sums of values by cluster, in the order of their first occurrence.
type groups struct {
	sums  []float64
	sizes []int32
	// clustered is true when the caller gave clusters.
	clustered bool
	n         int
}

// group adds up values by cluster and requires at least two clusters.
func group(values []float64, clusters []int32) (groups, error) {
	if clusters != nil && len(clusters) != len(values) {
		return groups{}, fmt.Errorf("%d values, %d clusters: want as many, or no clusters", len(values), len(clusters))
	}
	for i, v := range values {
		if math.IsNaN(v) || math.Abs(v) > MaxValue {
			return groups{}, fmt.Errorf("value %d is %v: want it finite, and not beyond ±%g", i, v, MaxValue)
		}
	}
	g := groups{clustered: clusters != nil, n: len(values)}
	known := make(map[int32]int)
	var sizes []float64 // of what is added up, without signs
	for i, v := range values {
		c := i
		if g.clustered {
			at, ok := known[clusters[i]]
			if !ok {
				at = len(known)
				known[clusters[i]] = at
			}
			c = at
		}
		if c == len(g.sums) {
			g.sums, g.sizes, sizes = append(g.sums, 0), append(g.sizes, 0), append(sizes, 0)
		}
		g.sums[c] += v
		sizes[c] += math.Abs(v)
		g.sizes[c]++
	}
	if len(g.sums) < 2 {
		what := "values"
		if g.clustered {
			what = "clusters"
		}
		return groups{}, fmt.Errorf("%w: %d %s, want 2 at least", ErrTooFew, len(g.sums), what)
	}
	for c, sum := range g.sums {
		g.sums[c] = exact(sum, sizes[c])
	}
	return g, nil
}

// exact returns a sum of terms of a size, and 0 if it is only a rounding error.
func exact(sum, size float64) float64 {
	if math.Abs(sum) <= 1e-12*size {
		return 0
	}
	return sum
}

func (g groups) mean() float64 {
	sum := 0.0
	for _, s := range g.sums {
		sum += s
	}
	return sum / float64(g.n)
}

// standardError of the mean. Miller, equation 4: the square of the plain standard error plus the products of
// deviations within clusters over n². The sum of the latter is the squared sum of deviations of each cluster
// without the squares of the deviations themselves.
func (g groups) standardError(values []float64) float64 {
	mean, n := g.mean(), float64(g.n)
	squares := 0.0
	for _, v := range values {
		d := v - mean
		squares += d * d
	}
	variance := squares / (n - 1) / n
	within := -squares
	for c, s := range g.sums {
		d := s - mean*float64(g.sizes[c])
		within += d * d
	}
	return math.Sqrt(max(0, variance+within/(n*n)))
}

// label sets the sizes and the method of an interval.
func (g groups) label(i Interval) Interval {
	i.N = g.n
	if g.clustered {
		i.Clusters = len(g.sums)
		i.Method = "clustered-" + i.Method
	}
	return i
}
