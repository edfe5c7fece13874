// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
)

// Method is how the bootstrap makes an interval from its resamples.
type Method uint8

// The methods of the bootstrap (Efron and Tibshirani 1993, chapters 13, 14).
const (
	// BCa corrects the quantiles for bias and skewness.
	BCa Method = iota
	// Percentile takes the quantiles of the resamples as they are.
	Percentile
)

// String is "bca" or "percentile".
func (m Method) String() string {
	if m == Percentile {
		return "percentile"
	}
	return "bca"
}

// Bootstrap is the interval of a mean by resampling values, or whole clusters,
// with replacement.
func Bootstrap(values []float64, clusters []int32, o Options) (Interval, error) {
	o, err := o.resolve()
	if err != nil {
		return Interval{}, err
	}
	g, err := group(values, clusters, 2)
	if err != nil {
		return Interval{}, fmt.Errorf("stats: bootstrap: %w", err)
	}
	return g.bootstrap(o), nil
}

func (g groups) bootstrap(o Options) Interval {
	resamples := g.resample(o)
	return g.label(intervalOf(g.mean(), resamples, g.jackknife, o))
}

// resample draws means.
func (g groups) resample(o Options) []float64 {
	means := make([]float64, o.Resamples)
	o.parallel(func(from, to int) {
		drawn := make([]int32, len(g.sums))
		for r := from; r < to; r++ {
			draw(drawn, len(g.sums), stream(o.Seed, r))
			means[r] = g.meanOf(drawn)
		}
	})
	return means
}

func (g groups) meanOf(drawn []int32) float64 {
	sum := 0.0
	if g.single {
		for _, c := range drawn {
			sum += g.sums[c]
		}
		return sum / float64(len(drawn))
	}
	n := 0
	for _, c := range drawn {
		sum += g.sums[c]
		n += int(g.sizes[c])
	}
	return sum / float64(n)
}

// jackknife is the mean without each cluster in turn.
func (g groups) jackknife() []float64 {
	total := 0.0
	for _, s := range g.sums {
		total += s
	}
	means := make([]float64, len(g.sums))
	for c, s := range g.sums {
		means[c] = (total - s) / float64(g.n-int(g.sizes[c]))
	}
	return means
}

// BootstrapStatistic is the interval of any statistic of n items by resampling
// items, or whole clusters, with replacement.
//
// newStatistic is called once per worker, and again for the estimate and for
// BCa; what it returns gets the numbers of the drawn items, in 0..n-1, some of them
// several times, and may keep working memory between calls but not the slice.
// NaN says that the statistic is undefined on these items. The error wraps
// [ErrUndefined] if it is so on all items, or on all resamples.
func BootstrapStatistic(n int, clusters []int32, newStatistic func() func(items []int32) float64, o Options) (Interval, error) {
	o, err := o.resolve()
	if err != nil {
		return Interval{}, err
	}
	g, err := group(make([]float64, max(0, n)), clusters, 2)
	if err != nil {
		return Interval{}, fmt.Errorf("stats: bootstrap: %w", err)
	}
	starts, items := members(n, clusters)
	estimate := newStatistic()(slices.Clone(items))
	if math.IsNaN(estimate) {
		return Interval{}, fmt.Errorf("stats: bootstrap: %w", ErrUndefined)
	}
	values := make([]float64, o.Resamples)
	o.parallel(func(from, to int) {
		statistic := newStatistic()
		drawn := make([]int32, len(starts)-1)
		sample := make([]int32, 0, n)
		for r := from; r < to; r++ {
			draw(drawn, len(drawn), stream(o.Seed, r))
			sample = sample[:0]
			for _, c := range drawn {
				sample = append(sample, items[starts[c]:starts[c+1]]...)
			}
			values[r] = statistic(sample)
		}
	})
	defined := slices.DeleteFunc(values, math.IsNaN)
	if len(defined) == 0 {
		return Interval{}, fmt.Errorf("stats: bootstrap: %w on every resample", ErrUndefined)
	}
	jackknife := func() []float64 {
		statistic := newStatistic()
		var left []float64
		sample := make([]int32, 0, n)
		for c := range len(starts) - 1 {
			sample = append(append(sample[:0], items[:starts[c]]...), items[starts[c+1]:]...)
			if v := statistic(sample); !math.IsNaN(v) {
				left = append(left, v)
			}
		}
		return left
	}
	undefined := o.Resamples - len(defined)
	i := intervalOf(estimate, defined, jackknife, o)
	i.Undefined = undefined
	return g.label(i), nil
}

// intervalOf sorts the resamples and takes the ends of the interval from them.
func intervalOf(estimate float64, resamples []float64, jackknife func() []float64, o Options) Interval {
	se := deviation(resamples)
	slices.Sort(resamples)
	low, high := o.tail(), 1-o.tail()
	if o.Method == BCa {
		z0, a := bias(estimate, resamples), acceleration(jackknife())
		low, high = corrected(low, z0, a), corrected(high, z0, a)
	}
	return Interval{Estimate: estimate, Low: quantile(resamples, low), High: quantile(resamples, high),
		Confidence: o.Confidence, SE: se, Method: o.Method.String()}
}

// bias is z0 of BCa: the normal quantile of the share of resamples below the
// estimate, equal ones counting half. Where all are on one side, the share is
// taken as half a resample away from 0 or 1.
func bias(estimate float64, sorted []float64) float64 {
	below, _ := slices.BinarySearch(sorted, estimate)
	notAbove := below
	for notAbove < len(sorted) && sorted[notAbove] == estimate {
		notAbove++
	}
	n := float64(len(sorted))
	share := float64(below+notAbove) / (2 * n)
	return normalQuantile(min(max(share, .5/n), 1-.5/n))
}

// acceleration is a of BCa, from the values of the statistic without each item
// in turn; 0 where these are all equal.
func acceleration(jackknife []float64) float64 {
	// In units of the largest: cubes of large values are beyond a float64.
	mean, unit := 0.0, largest(jackknife)
	if unit == 0 {
		return 0
	}
	for _, v := range jackknife {
		mean += v / unit
	}
	mean /= float64(len(jackknife))
	squares, cubes := 0.0, 0.0
	for _, v := range jackknife {
		d := mean - v/unit
		squares += d * d
		cubes += d * d * d
	}
	// Below this the deviations are rounding errors of equal values.
	if math.Sqrt(squares) <= 1e-14*math.Abs(mean)*float64(len(jackknife)) || squares == 0 {
		return 0
	}
	return cubes / (6 * math.Pow(squares, 1.5))
}

// corrected is the level that BCa takes in place of level.
func corrected(level, z0, a float64) float64 {
	z := z0 + normalQuantile(level)
	scale := 1 - a*z
	if scale <= 0 {
		// Beyond the pole of the correction: all or nothing.
		if z > 0 {
			return 1
		}
		return 0
	}
	return normalCDF(z0 + z/scale)
}

// quantile interpolates between order statistics, as NumPy does if not told
// otherwise (type 7 of Hyndman and Fan 1996).
func quantile(sorted []float64, level float64) float64 {
	at := level * float64(len(sorted)-1)
	i := int(at)
	if i >= len(sorted)-1 {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// deviation is the standard deviation, in units of the largest value so that squares
// stay within a float64.
func deviation(values []float64) float64 {
	unit := largest(values)
	if len(values) < 2 || unit == 0 {
		return 0
	}
	return unit * stat.StdDev(over(values, unit), nil)
}

// largest is the size of the largest value, as a power of two: dividing by it
// changes no digit. It is 1 where squares and cubes are harmless, 0 where all are 0.
func largest(values []float64) float64 {
	most := 0.0
	for _, v := range values {
		most = max(most, math.Abs(v))
	}
	switch {
	case most == 0:
		return 0
	case most > 1e-75 && most < 1e75:
		return 1
	}
	_, exponent := math.Frexp(most)
	return math.Ldexp(1, exponent-1)
}

func over(values []float64, unit float64) []float64 {
	if unit == 1 {
		return values
	}
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = v / unit
	}
	return out
}

// stream is the generator of resample r. Seed and number are mixed (the
// finaliser of splitmix64), so that neighbours have nothing in common.
func stream(seed uint64, r int) rand.PCG {
	high := mix(seed)
	return *rand.NewPCG(high, mix(high+uint64(r)))
}

func mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// draw fills drawn with numbers in 0..n-1, each as likely (Lemire 2019: a
// 32-bit draw times n, the few draws that would favour some numbers thrown
// away). One call of the generator serves two numbers.
func draw(drawn []int32, n int, rng rand.PCG) {
	size := uint64(n)
	unfair := uint32(-uint32(n)) % uint32(n)
	for i := 0; i < len(drawn); {
		x := rng.Uint64()
		if product := (x & 0xffffffff) * size; uint32(product) >= unfair {
			drawn[i] = int32(product >> 32)
			i++
		}
		if product := (x >> 32) * size; i < len(drawn) && uint32(product) >= unfair {
			drawn[i] = int32(product >> 32)
			i++
		}
	}
}

// parallel splits the resamples among the workers.
func (o Options) parallel(do func(from, to int)) {
	workers := min(cmp.Or(o.Workers, runtime.GOMAXPROCS(0)), o.Resamples)
	if workers == 1 {
		do(0, o.Resamples)
		return
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { do(o.Resamples*w/workers, o.Resamples*(w+1)/workers) })
	}
	wg.Wait()
}
