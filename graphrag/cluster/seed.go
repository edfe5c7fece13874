// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// plusPlus draws the centroids to start from as greedy k-means++ does (Arthur and
// Vassilvitskii, k-means++: The Advantages of Careful Seeding, SODA 2007, section
// 6): for each, a few vectors are drawn with a probability proportional to their
// squared distance from the nearest centroid drawn before, and the one is taken
// that leaves the least sum of such distances, the first of equal ones. Where all
// of the distances are 0 it is the first vector not drawn yet.
func (l *lloyd) plusPlus(ctx context.Context, rng *rand.Rand) ([]float32, error) {
	start := make([]float32, 0, l.k*l.dim)
	drawn := make([]bool, l.n)
	now, best, next := newNearest(l.n), newNearest(l.n), newNearest(l.n)
	for i := range now.distance {
		now.distance[i] = math.Inf(1)
	}
	trials := 2 + int(math.Log(float64(l.k))) // as scikit-learn
	for c := range l.k {
		chosen, least := -1, math.Inf(1)
		for range trials {
			i := rng.IntN(l.n)
			if c > 0 {
				i = draw(rng, now.distance, drawn)
			}
			if i == chosen {
				continue
			}
			sum, err := l.approach(ctx, next, now, start, l.row(i))
			if err != nil {
				return nil, err
			}
			if chosen < 0 || sum < least {
				chosen, least = i, sum
				best, next = next, best
			}
			if c == 0 {
				break
			}
		}
		drawn[chosen] = true
		start = append(start, l.row(chosen)...)
		now, best = best, now
	}
	return start, nil
}

// nearest tells of each vector its squared distance from the nearest centroid, and
// which one that is.
type nearest struct {
	distance []float64
	owner    []int32
}

func newNearest(n int) nearest { return nearest{make([]float64, n), make([]int32, n)} }

// approach sets to to what from becomes with one centroid more, and returns the sum
// of the distances.
func (l *lloyd) approach(ctx context.Context, to, from nearest, centroids, centroid []float32) (float64, error) {
	c := len(centroids) / l.dim
	near := make([]float64, c) // squared distances of the centroids from the new one
	for j := range near {
		near[j] = l.distance(centroids[j*l.dim:(j+1)*l.dim], centroid)
	}
	sums := make([]float64, (l.n+rowBlock-1)/rowBlock)
	err := par.Ranges(ctx, l.n, rowBlock, l.opts.Workers, func(_, lo, hi int) error {
		sum := 0.0
		for i := lo; i < hi; i++ {
			d, owner := from.distance[i], from.owner[i]
			// Beyond twice its distance from its own, no centroid is nearer.
			if c == 0 || near[owner] <= 4.0001*d {
				if e := l.distance(l.row(i), centroid); e < d {
					d, owner = e, int32(c)
				}
			}
			to.distance[i], to.owner[i] = d, owner
			sum += d
		}
		sums[lo/rowBlock] = sum
		return nil
	})
	total := 0.0
	for _, sum := range sums { // in the order of the vectors, whoever added them up
		total += sum
	}
	return total, err
}

// draw returns an index with a probability proportional to its weight.
func draw(rng *rand.Rand, weights []float64, drawn []bool) int {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	left, last := float64(rng.Float64()*total), -1 // rounded: not fused with the subtraction
	for i, w := range weights {
		if w > 0 {
			last = i
			if left -= w; left < 0 {
				return i
			}
		}
	}
	if last >= 0 {
		return last // rounding left a rest
	}
	for i := range drawn {
		if !drawn[i] {
			return i
		}
	}
	return 0
}
