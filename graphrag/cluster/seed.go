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
	trials := 2 + int(math.Log(float64(l.k))) // as scikit-learn
	a := approach{lloyd: l, now: make([]float64, l.n)}
	for range trials {
		a.next = append(a.next, make([]float64, l.n))
	}
	for i := range a.now {
		a.now[i] = math.Inf(1)
	}
	for c := range l.k {
		a.to = a.to[:0]
		for range trials {
			i := rng.IntN(l.n)
			if c > 0 {
				i = draw(rng, a.now, drawn)
			}
			if a.to = append(a.to, int32(i)); c == 0 {
				break
			}
		}
		sums, err := a.try(ctx)
		if err != nil {
			return nil, err
		}
		best := 0
		for t, sum := range sums {
			if sum < sums[best] {
				best = t
			}
		}
		a.now, a.next[best] = a.next[best], a.now
		drawn[a.to[best]] = true
		start = append(start, l.row(int(a.to[best]))...)
	}
	return start, nil
}

// approach computes the distances with each of some candidates as another centroid.
type approach struct {
	*lloyd
	now    []float64   // squared distance of each vector from the nearest centroid
	to     []int32     // candidates
	next   [][]float64 // now with each of them
	panels panels      // of them
}

// try fills next, and returns the sums of its distances.
func (a *approach) try(ctx context.Context) ([]float64, error) {
	rows := make([]float32, 0, len(a.to)*a.dim)
	for _, i := range a.to {
		rows = append(rows, a.row(int(i))...)
	}
	a.panels.pack(rows, a.dim)
	sums := make([]float64, (a.n+rowBlock-1)/rowBlock*len(a.to))
	err := par.Ranges(ctx, a.n, rowBlock, len(a.scratch), func(worker, lo, hi int) error {
		a.block(&a.scratch[worker], lo, hi, sums[lo/rowBlock*len(a.to):])
		return nil
	})
	for at := len(a.to); at < len(sums); at += len(a.to) { // in the order of the vectors, for any number of workers
		for t := range a.to {
			sums[t] += sums[at+t]
		}
	}
	return sums[:len(a.to)], err
}

// block fills next from lo to hi, and sums.
func (a *approach) block(s *scratch, lo, hi int, sums []float64) {
	s.rows = s.rows[:0]
	for i := lo; i < hi; i++ {
		s.rows = append(s.rows, int32(i))
	}
	for t := range a.to {
		copy(a.next[t][lo:hi], a.now[lo:hi])
	}
	a.score(s, &a.panels, func(at int, scores []float32, e float64) {
		i := lo + at
		for t, to := range a.to {
			if a.beyond(i, scores[t], e) < a.now[i] {
				a.next[t][i] = min(a.now[i], distance(a.row(i), a.row(int(to))))
			}
		}
	})
	for t := range a.to {
		sum := 0.0
		for _, d := range a.next[t][lo:hi] {
			sum += d
		}
		sums[t] = sum
	}
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
