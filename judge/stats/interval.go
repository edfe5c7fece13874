// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// Sentinels for what data cannot give.
var (
	// ErrTooFew means that there are fewer values, or clusters, than the
	// method needs.
	ErrTooFew = errors.New("too few values")
	// ErrUndefined means that a statistic has no value on this data.
	ErrUndefined = errors.New("statistic undefined")
)

// Defaults of Options.
const (
	DefaultConfidence = 0.95
	DefaultResamples  = 10000
)

// Options are the settings of intervals and tests. The zero value is 95 %
// confidence and 10,000 resamples by BCa.
type Options struct {
	// Confidence is the share of such intervals that hold the true value,
	// between 0 and 1; 0 means DefaultConfidence.
	Confidence float64
	// Resamples is how many times the bootstrap and the permutation test
	// draw; 0 means DefaultResamples.
	Resamples int
	// Method is how the bootstrap makes an interval.
	Method Method
	// Seed makes another draw of the same kind.
	Seed uint64
	// Workers is how many goroutines draw; 0 means GOMAXPROCS. It does not
	// change any result.
	Workers int
}

// resolve fills in the defaults and checks.
func (o Options) resolve() (Options, error) {
	o.Confidence = cmp.Or(o.Confidence, DefaultConfidence)
	o.Resamples = cmp.Or(o.Resamples, DefaultResamples)
	var errs []error
	if !(o.Confidence > 0 && o.Confidence < 1) {
		errs = append(errs, fmt.Errorf("stats: Options.Confidence is %v: want it between 0 and 1", o.Confidence))
	}
	if o.Resamples < 0 || o.Resamples > math.MaxInt32 {
		errs = append(errs, fmt.Errorf("stats: Options.Resamples is %d: want it in 1..%d", o.Resamples, math.MaxInt32))
	}
	if o.Method > Percentile {
		errs = append(errs, fmt.Errorf("stats: Options.Method is %d: want BCa or Percentile", o.Method))
	}
	if o.Workers < 0 {
		errs = append(errs, fmt.Errorf("stats: Options.Workers is %d: want 0 or more", o.Workers))
	}
	return o, errors.Join(errs...)
}

// tail is the probability beyond each end of an interval.
func (o Options) tail() float64 { return (1 - o.Confidence) / 2 }

// Interval is an estimate with a confidence interval.
type Interval struct {
	Estimate   float64 `json:"estimate"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	Confidence float64 `json:"confidence"`
	// SE is the standard error: by formula for Wilson (of the plain share),
	// StudentT, the deviation over resamples for the bootstrap.
	SE float64 `json:"se"`
	// N is the number of values, Clusters that of their clusters, or 0 if
	// they have none.
	N        int `json:"n"`
	Clusters int `json:"clusters,omitempty"`
	// Method names the way the interval was made: "wilson", "student-t",
	// "bca", "percentile" and others; "clustered-" before it if it was.
	Method string `json:"method"`
	// Undefined is the number of resamples on which the statistic had no
	// value. They are left out; if they are many the interval means little.
	Undefined int `json:"undefined,omitempty"`
}

// Contains reports whether v lies in the interval, its ends included.
func (i Interval) Contains(v float64) bool { return i.Low <= v && v <= i.High }

// String shows estimate, interval and size: "0.700 [0.481, 0.855] (95 %, n = 20)".
func (i Interval) String() string {
	return fmt.Sprintf("%.3f [%.3f, %.3f] (%.4g %%, n = %d)", i.Estimate, i.Low, i.High, 100*i.Confidence, i.N)
}

// Wilson is the score interval of a share: successes out of n independent
// trials (Wilson 1927). It stays within 0..1 and has a width also where the
// share is 0 or 1.
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

// StudentT is the interval of a mean by its standard error and Student's t
// with n-1 degrees of freedom. With clusters the standard error is the
// clustered one (see the package comment) and the degrees of freedom are those
// of the clusters.
func StudentT(values []float64, clusters []int32, o Options) (Interval, error) {
	o, err := o.resolve()
	if err != nil {
		return Interval{}, err
	}
	g, err := group(values, clusters, 2)
	if err != nil {
		return Interval{}, fmt.Errorf("stats: student-t: %w", err)
	}
	mean, se := g.mean(), g.standardError(values)
	t := studentQuantile(o.tail(), float64(len(g.sums)-1))
	return g.label(Interval{Estimate: mean, Low: mean - t*se, High: mean + t*se, Confidence: o.Confidence, SE: se, Method: "student-t"}), nil
}

// studentQuantile is what Student's t with so many degrees of freedom exceeds
// with probability tail, below one half.
func studentQuantile(tail, freedom float64) float64 {
	y := mathext.InvRegIncBeta(freedom/2, .5, 2*tail)
	return math.Sqrt(freedom * (1 - y) / y)
}

func normalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

func normalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
