// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Limits of the vectors. MaxNorm is so low that every product and sum is finite in float32.
const (
	MaxDim  = 1 << 16
	MaxNorm = 1e18
)

// The default of Inits is from Youtu-GraphRAG's communities (arXiv 2508.19855), the other values are from
// scikit-learn 1.2: a start ends after maxIterations, or when the sum of the centroids' squared moves is at
// most tolerance times the mean variance of the components.
const (
	defaultInits  = 5
	maxIterations = 300
	tolerance     = 1e-4
)

// ErrVector is wrapped by errors about vectors that cannot be clustered, because a component is not finite or
// the norm exceeds [MaxNorm].
var ErrVector = errors.New("unusable vector")

// KMeansOptions are the options of [KMeans].
type KMeansOptions struct {
	// Seed is the seed of the greedy k-means++ starts.
	Seed uint64
	// Inits is the number of starts; the result is the one with the lowest inertia. 0 means 5.
	Inits int
}

// Clustering is a partition of vectors by nearest centroid.
type Clustering struct {
	// K is the number of clusters. A cluster is empty only if there are fewer distinct vectors than clusters,
	// or if the last assignment removed all of its vectors.
	K int
	// Dim is the length of a centroid.
	Dim int
	// Labels contains the cluster of each vector, 0 to K-1.
	Labels []int32
	// Centroids has K rows of Dim numbers.
	Centroids []float32
	// Inertia is the sum of the vectors' squared distances from the centroids of their clusters.
	Inertia float64
	// Iterations is the number of times the centroids moved.
	Iterations int
}

// KMeans divides vectors (rows of dim numbers) into k clusters of small inertia by Lloyd's iterations from
// k-means++ starts (Arthur and Vassilvitskii 2007). If k exceeds the number of vectors, each vector is a
// cluster, and K is the number of clusters. Without vectors it returns an error.
//
// The nearest centroid of a vector is the one with the least sum of (x-c)², in float64 and fixed order, the
// lower one of two equal ones; a centroid is the mean of its vectors, summed in float64 in their order. An
// empty cluster takes over the vector farthest from its centroid, unless that distance is 0. Products in
// float32 only exclude centroids that are farther by more than the rounding error, so the result is the same on
// every processor.
func KMeans(ctx context.Context, vectors []float32, dim, k int, opts KMeansOptions) (*Clustering, error) {
	c := opt.Checks{Of: "cluster"}
	opt.Min(&c, "Inits", opts.Inits, 0)
	if err := errors.Join(c.Err(), checkShape(vectors, dim, k)); err != nil {
		return nil, err
	}
	l := newLloyd(vectors, dim, min(k, len(vectors)/dim))
	var best *Clustering
	for i := range cmp.Or(opts.Inits, defaultInits) {
		start, err := l.plusPlus(ctx, rand.New(rand.NewPCG(opts.Seed, uint64(i))))
		if err != nil {
			return nil, err
		}
		c, err := l.run(ctx, start)
		if err != nil {
			return nil, err
		}
		if best == nil || c.Inertia < best.Inertia {
			best = c
		}
	}
	return best, nil
}

func checkShape(vectors []float32, dim, k int) error {
	var errs []error
	if k < 1 {
		errs = append(errs, fmt.Errorf("cluster: %d clusters, want 1 or more", k))
	}
	return errors.Join(append(errs, checkRows(vectors, dim))...)
}

// checkRows returns an error if rows is not n > 0 rows of dim numbers, or for the first invalid row.
func checkRows(rows []float32, dim int) error {
	switch {
	case dim < 1 || dim > MaxDim:
		return fmt.Errorf("cluster: dimension %d, want 1 to %d", dim, MaxDim)
	case len(rows) == 0:
		return errors.New("cluster: no vectors: there must be at least one")
	case len(rows)%dim != 0:
		return fmt.Errorf("cluster: %d numbers cannot be divided into rows of %d", len(rows), dim)
	case len(rows)/dim > math.MaxInt32:
		return fmt.Errorf("cluster: %d rows, want at most %d", len(rows)/dim, math.MaxInt32)
	}
	for i := range len(rows) / dim {
		row := rows[i*dim : (i+1)*dim]
		length := norm(row)
		if length <= MaxNorm { // false for NaN
			continue
		}
		for j, c := range row {
			if c-c != 0 {
				return fmt.Errorf("cluster: row %d: %w: component %d is %v", i, ErrVector, j, c)
			}
		}
		return fmt.Errorf("cluster: row %d: %w: length %.3g is more than %.0g, scale it down", i, ErrVector, length, float64(MaxNorm))
	}
	return nil
}

// plusPlus draws the start centroids by greedy k-means++ (Arthur and Vassilvitskii, k-means++: The Advantages
// of Careful Seeding, SODA 2007, section 6): for each centroid it draws a few candidates with a probability
// proportional to their squared distance from the nearest earlier centroid, and takes the candidate that leaves
// the lowest sum of such distances, the first of equal ones. If all distances are 0, it takes the first vector
// not drawn yet.
func (l *lloyd) plusPlus(ctx context.Context, rng *rand.Rand) ([]float32, error) {
	start := make([]float32, 0, l.k*l.dim)
	drawn := make([]bool, l.n)
	trials := 2 + int(math.Log(float64(l.k))) // the number of trials in scikit-learn
	a := centroidTrial{lloyd: l, now: make([]float64, l.n)}
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

// centroidTrial computes how the distances change with each of some candidates as the next centroid.
type centroidTrial struct {
	*lloyd
	now    []float64   // by vector: squared distance from the nearest centroid so far
	to     []int32     // candidates, as indexes of vectors
	next   [][]float64 // by candidate: now with the candidate as another centroid
	panels panels      // the candidates, packed
}

// try sets next, and returns the sum of the distances for each candidate.
func (a *centroidTrial) try(ctx context.Context) ([]float64, error) {
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
	for at := len(a.to); at < len(sums); at += len(a.to) { // always in the same order, for any number of workers
		for t := range a.to {
			sums[t] += sums[at+t]
		}
	}
	return sums[:len(a.to)], err
}

// block sets next for the vectors from lo to hi, and the sums of these.
func (a *centroidTrial) block(s *scratch, lo, hi int, sums []float64) {
	for t := range a.to {
		copy(a.next[t][lo:hi], a.now[lo:hi])
	}
	a.score(s, &a.panels, lo, hi, func(i int, scores []float32, e float64) {
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
	left, last := float64(rng.Float64()*total), -1 // the conversion prevents fusing with the subtraction
	for i, w := range weights {
		if w > 0 {
			last = i
			if left -= w; left < 0 {
				return i
			}
		}
	}
	if last >= 0 {
		return last // reached only by rounding errors
	}
	for i := range drawn {
		if !drawn[i] {
			return i
		}
	}
	return 0
}
