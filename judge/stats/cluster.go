// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
)

// Number gives equal names equal numbers, counting from 0 in the order the
// names first occur: the clusters of questions from the names of their pages.
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

// MaxValue is the size of the largest values: the sum of ten million of them is
// still a float64.
const MaxValue = 1e300

// groups are values added up by cluster, in the order clusters first occur.
type groups struct {
	sums  []float64
	sizes []int32
	// single is true when every cluster has one value.
	single bool
	// clustered is true when the caller gave clusters.
	clustered bool
	n         int
}

// group adds up values by cluster and wants at least so many clusters.
func group(values []float64, clusters []int32, atLeast int) (groups, error) {
	if clusters != nil && len(clusters) != len(values) {
		return groups{}, fmt.Errorf("%d values, %d clusters: want as many, or no clusters", len(values), len(clusters))
	}
	for i, v := range values {
		if math.IsNaN(v) || math.Abs(v) > MaxValue {
			return groups{}, fmt.Errorf("value %d is %v: want it finite, and not beyond ±%g", i, v, MaxValue)
		}
	}
	g := groups{clustered: clusters != nil, n: len(values)}
	starts, items := members(len(values), clusters)
	if len(starts)-1 < atLeast {
		what := "values"
		if g.clustered {
			what = "clusters"
		}
		return groups{}, fmt.Errorf("%w: %d %s, want %d at least", ErrTooFew, len(starts)-1, what, atLeast)
	}
	g.sums = make([]float64, len(starts)-1)
	g.sizes = make([]int32, len(starts)-1)
	for c := range g.sums {
		for _, i := range items[starts[c]:starts[c+1]] {
			g.sums[c] += values[i]
		}
		g.sizes[c] = starts[c+1] - starts[c]
	}
	g.single = len(g.sums) == g.n
	return g, nil
}

// members lists the items of each cluster: those of cluster c are
// items[starts[c]:starts[c+1]].
func members(n int, clusters []int32) (starts, items []int32) {
	items = make([]int32, n)
	if clusters == nil {
		starts = make([]int32, n+1)
		for i := range n {
			items[i] = int32(i)
			starts[i+1] = int32(i + 1)
		}
		return starts, items
	}
	dense := make([]int32, n)
	known := make(map[int32]int32)
	starts = []int32{0}
	for i, c := range clusters {
		d, ok := known[c]
		if !ok {
			d = int32(len(known))
			known[c] = d
			starts = append(starts, 0)
		}
		dense[i] = d
		starts[d+1]++
	}
	for c := 1; c < len(starts); c++ {
		starts[c] += starts[c-1]
	}
	next := append([]int32(nil), starts...)
	for i, d := range dense {
		items[next[d]] = int32(i)
		next[d]++
	}
	return starts, items
}

func (g groups) mean() float64 {
	sum := 0.0
	for _, s := range g.sums {
		sum += s
	}
	return sum / float64(g.n)
}

// standardError of the mean. Miller, equation 4: the square of the plain
// standard error plus the products of deviations within clusters over n². The
// sum of the latter is the squared sum of deviations of each cluster without
// the squares of the deviations themselves.
func (g groups) standardError(values []float64) float64 {
	unit := largest(values)
	if unit == 0 {
		return 0
	}
	mean, n := g.mean()/unit, float64(g.n)
	squares := 0.0
	for _, v := range values {
		d := v/unit - mean
		squares += d * d
	}
	variance := squares / (n - 1) / n
	if g.single {
		return unit * math.Sqrt(variance)
	}
	within := -squares
	for c, s := range g.sums {
		d := s/unit - mean*float64(g.sizes[c])
		within += d * d
	}
	return unit * math.Sqrt(max(0, variance+within/(n*n)))
}

// label fills in what the interval says about the data.
func (g groups) label(i Interval) Interval {
	i.N = g.n
	if g.clustered {
		i.Clusters = len(g.sums)
		i.Method = "clustered-" + i.Method
	}
	return i
}
