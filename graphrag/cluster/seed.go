// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// plusPlus draws the centroids to start from as k-means++ does: each is a
// vector, drawn with a probability proportional to its squared distance from
// the nearest one drawn before. Where all of those are 0 it is the first vector
// not drawn yet.
func (l *lloyd) plusPlus(ctx context.Context, rng *rand.Rand) ([]float32, error) {
	start := make([]float32, 0, l.k*l.dim)
	drawn := make([]bool, l.n)
	nearest := make([]float64, l.n) // squared distance from the nearest centroid drawn
	owner := make([]int32, l.n)     // which centroid that is
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	near := make([]float64, l.k) // squared distances of the centroids from the last one
	for c := range l.k {
		i := rng.IntN(l.n)
		if c > 0 {
			i = draw(rng, nearest, drawn)
		}
		drawn[i] = true
		start = append(start, l.row(i)...)
		centroid := start[c*l.dim:]
		for j := range c {
			near[j] = l.distance(start[j*l.dim:(j+1)*l.dim], centroid)
		}
		err := par.Ranges(ctx, l.n, rowBlock, l.opts.Workers, func(_, lo, hi int) error {
			for i := lo; i < hi; i++ {
				// Beyond twice its distance from its own, no centroid is nearer.
				if c > 0 && near[owner[i]] > 4.0001*nearest[i] {
					continue
				}
				if d := l.distance(l.row(i), centroid); d < nearest[i] {
					nearest[i], owner[i] = d, int32(c)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return start, nil
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
