// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"
)

// ErrTooFew means that there are fewer values, or clusters, than the method needs.
var ErrTooFew = errors.New("too few values")

// DefaultConfidence is the confidence of the zero [Options].
const DefaultConfidence = 0.95

// Options are the settings of intervals and tests. The zero value is 95 % confidence.
type Options struct {
	// Confidence is the share of intervals that contain the true value, between 0 and 1; 0 means
	// DefaultConfidence.
	Confidence float64
}

// resolve fills in the defaults and returns an error for bad options.
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
	// SE is the standard error, for Wilson the one of the plain share.
	SE float64 `json:"se"`
	// N is the number of values, Clusters the number of their clusters, 0 if there are none.
	N        int `json:"n"`
	Clusters int `json:"clusters,omitempty"`
	// Method is "wilson", "student-t" or "paired-t", with "clustered-" before it for clusters.
	Method string `json:"method"`
}

// String returns estimate, interval and number of values: "0.700 [0.481, 0.855] (95 %, n = 20)".
func (i Interval) String() string {
	return fmt.Sprintf("%.3f [%.3f, %.3f] (%.4g %%, n = %d)", i.Estimate, i.Low, i.High, 100*i.Confidence, i.N)
}

// Wilson returns the score interval of a share: successes out of n independent trials (Wilson 1927). The
// interval is within 0..1, and has a width even if the share is 0 or 1.
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
	// The end is exactly 0 or 1; a rounding error would leave the estimate outside of the interval.
	if successes == 0 {
		i.Low = 0
	}
	if successes == n {
		i.High = 1
	}
	return i, nil
}

// StudentT returns the interval of a mean by its standard error and Student's t with n-1 degrees of freedom.
// With clusters it uses the clustered standard error (see the package comment), and n is their number.
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

// studentTwoSided returns the probability, by Student's distribution, of a value at least as far from 0 as t.
func studentTwoSided(t, freedom float64) float64 {
	return mathext.RegIncBeta(freedom/2, .5, freedom/(freedom+t*t))
}

// Number returns a number for each name, such as clusters from the names of pages: equal names get equal
// numbers, which count from 0 in the order of first occurrence.
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

// MaxValue limits the magnitude of values, so that sums of their cubes do not overflow a float64.
const MaxValue = 1e60

// groups has the sums and the numbers of values by cluster, in the order of the clusters' first occurrence.
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
		return groups{}, fmt.Errorf("%d values have %d clusters: want one for each value, or none", len(values), len(clusters))
	}
	for i, v := range values {
		if math.IsNaN(v) || math.Abs(v) > MaxValue {
			return groups{}, fmt.Errorf("value %d is %v: want a finite one within ±%g", i, v, MaxValue)
		}
	}
	g := groups{clustered: clusters != nil, n: len(values)}
	known := make(map[int32]int)
	var sizes []float64 // sums of absolute values by cluster
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
		return groups{}, fmt.Errorf("%w: %d %s, want at least 2", ErrTooFew, len(g.sums), what)
	}
	for c, sum := range g.sums {
		g.sums[c] = exact(sum, sizes[c])
	}
	return g, nil
}

// exact returns sum, or 0 if it is a rounding error; size is the sum of the terms' absolute values.
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

// standardError returns the standard error of the mean by Miller, equation 4: its square is the square of the
// plain standard error plus the products of two deviations within a cluster, divided by n². The sum of these
// products is the squared sum of a cluster's deviations minus the sum of their squares.
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

// label returns an interval with the number of values and clusters set, and "clustered-" before the method.
func (g groups) label(i Interval) Interval {
	i.N = g.n
	if g.clustered {
		i.Clusters = len(g.sums)
		i.Method = "clustered-" + i.Method
	}
	return i
}

// Comparison is the difference of two systems on the same questions, with its interval and p-value.
type Comparison struct {
	MeanA float64 `json:"mean_a"`
	MeanB float64 `json:"mean_b"`
	// Effect is the mean of B minus A. Its Method is "paired-t".
	Effect Interval `json:"effect"`
	// P is the two-sided p-value for no difference: it is below 1 - Effect.Confidence exactly if the interval
	// excludes 0.
	P float64 `json:"p"`
	// freedom is the number of degrees of freedom of interval and test.
	freedom float64
}

// Compare compares two systems by their scores on the same questions, in the same order. Scores are usually
// shares in 0..1; other ranges are valid.
//
// Interval and p-value come from one method: Student's t of the mean difference divided by its standard error,
// after adding half a cluster with the difference +s and half a cluster with -s, where s is the root mean
// square of the clusters' nonzero differences. Bonett and Price (Journal of Educational and Behavioral
// Statistics 37, 2012) add one question with each sign; half of one keeps the coverage nominal at 24 to 100
// questions. If no question differs, s is a difference of 1 in each question of a cluster, so that the interval
// has a width.
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

// padded returns the mean and its standard error after adding the two half clusters that [Compare] describes.
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
	within := scale*scale + mean*size*mean*size // squared deviations of the two added halves
	for c, s := range g.sums {
		d := s - mean*float64(g.sizes[c])
		within += d * d
	}
	return mean, math.Sqrt(within*(clusters+1)/clusters) / n
}

// Detectable returns the least true difference, in the unit of the scores, that a test finds with probability
// .8 at level .05 after a correction for a number of tests (Miller, arXiv 2411.00640, section 5, with
// Bonferroni's level, which is the lowest of [Holm]'s).
func (c Comparison) Detectable(tests int) float64 {
	return (studentQuantile(.025/float64(max(tests, 1)), c.freedom) + normalQuantile(.8)) * c.Effect.SE
}

// Holm corrects the p-values of one family of tests, so that the probability of any false finding among them is
// at most the level to which the results are compared (Holm 1979). The result is in the order of p.
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
