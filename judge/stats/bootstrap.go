// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat"
)

// bootstrap is the interval of a mean by resampling values, or whole clusters, with
// replacement, corrected for bias and skewness (BCa).
func (g groups) bootstrap(o Options) Interval {
	resamples := g.resample(o)
	return g.label(intervalOf(g.mean(), resamples, g.jackknife(), o))
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

// intervalOf sorts the resamples and takes the ends of the interval from them, at
// quantiles that BCa corrects for bias and skewness (Efron and Tibshirani 1993, chapter
// 14).
func intervalOf(estimate float64, resamples, jackknife []float64, o Options) Interval {
	se := stat.StdDev(resamples, nil)
	slices.Sort(resamples)
	z0, a := bias(estimate, resamples), acceleration(jackknife)
	low, high := corrected(o.tail(), z0, a), corrected(1-o.tail(), z0, a)
	return Interval{Estimate: estimate, Low: quantile(resamples, low), High: quantile(resamples, high),
		Confidence: o.Confidence, SE: se, Method: "bca"}
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
	mean := stat.Mean(jackknife, nil)
	squares, cubes := 0.0, 0.0
	for _, v := range jackknife {
		d := mean - v
		squares += d * d
		cubes += d * d * d
	}
	// Below this the deviations are rounding errors of equal values.
	if squares == 0 || math.Sqrt(squares) <= 1e-14*math.Abs(mean)*float64(len(jackknife)) {
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

// parallel splits the resamples among the processors.
func (o Options) parallel(do func(from, to int)) {
	workers := min(runtime.GOMAXPROCS(0), o.Resamples)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { do(o.Resamples*w/workers, o.Resamples*(w+1)/workers) })
	}
	wg.Wait()
}
