// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// plainKMeans is Lloyd's algorithm as one reads it, from given centroids,
// without any shortcut: the oracle for labels, centroids and iterations.
func plainKMeans(vectors []float32, dim, k, maxIterations int, start []float32) ([]int32, []float32, int) {
	p := plain{vectors: vectors, dim: dim, k: k, centroids: slices.Clone(start), labels: make([]int32, len(vectors)/dim)}
	for i := range p.labels {
		p.labels[i] = -1
	}
	for step := range maxIterations {
		if !p.assign() {
			return p.labels, p.centroids, step
		}
		p.refill()
		p.update()
	}
	p.assign()
	return p.labels, p.centroids, maxIterations
}

type plain struct {
	vectors   []float32
	dim, k    int
	centroids []float32
	labels    []int32
}

func (p *plain) distance(i, c int) float64 {
	return distance(p.vectors[i*p.dim:(i+1)*p.dim], p.centroids[c*p.dim:(c+1)*p.dim])
}

func (p *plain) assign() bool {
	changed := false
	for i := range p.labels {
		best, at := math.Inf(1), int32(0)
		for c := range p.k {
			if d := p.distance(i, c); d < best {
				best, at = d, int32(c)
			}
		}
		changed = changed || p.labels[i] != at
		p.labels[i] = at
	}
	return changed
}

func (p *plain) counts() []int {
	counts := make([]int, p.k)
	for _, c := range p.labels {
		counts[c]++
	}
	return counts
}

func (p *plain) refill() {
	distances := make([]float64, len(p.labels))
	for i, c := range p.labels {
		distances[i] = p.distance(i, int(c))
	}
	for c, size := range p.counts() {
		if size > 0 {
			continue
		}
		farthest, counts := -1, p.counts()
		for i, d := range distances {
			if counts[p.labels[i]] > 1 && d > 0 && (farthest < 0 || d > distances[farthest]) {
				farthest = i
			}
		}
		if farthest < 0 {
			return
		}
		p.labels[farthest], distances[farthest] = int32(c), 0
	}
}

func (p *plain) update() {
	sums, counts := make([]float64, p.k*p.dim), p.counts()
	for i, c := range p.labels {
		for j := range p.dim {
			sums[int(c)*p.dim+j] += float64(p.vectors[i*p.dim+j])
		}
	}
	for i, s := range sums {
		if n := counts[i/p.dim]; n > 0 {
			p.centroids[i] = float32(s / float64(n))
		}
	}
}

// samePlain compares with plain Lloyd, from one start after the other as [KMeans] tries them,
// and returns the most iterations.
func samePlain(t *testing.T, what string, vectors []float32, dim, k, limit int, starts ...[]float32) int {
	t.Helper()
	l, most := newLloyd(vectors, dim, k), 0
	l.limit, l.tolerance = limit, -1
	for s, start := range starts {
		labels, centroids, steps := plainKMeans(vectors, dim, k, limit, start)
		got := check.Of(l.run(t.Context(), start)).OK(t)
		if !slices.Equal(got.Labels, labels) || !slices.Equal(got.Centroids, centroids) || got.Iterations != steps {
			t.Errorf("%s: n=%d dim=%d k=%d, start %d, at most %d iterations: differs from plain Lloyd (%d iterations, plain %d)",
				what, len(vectors)/dim, dim, k, s, limit, got.Iterations, steps)
		}
		most = max(most, steps)
	}
	return most
}

// drawn returns k of the vectors.
func drawn(rng *rand.Rand, vectors []float32, dim, k int) []float32 {
	var start []float32
	for _, i := range rng.Perm(len(vectors) / dim)[:k] {
		start = append(start, vectors[i*dim:(i+1)*dim]...)
	}
	return start
}

func TestKMeansIsPlainLloyd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, c := range []struct {
		n, dim, k, centres int
		spread             float64
	}{{1, 1, 1, 1, 1}, {50, 1, 7, 3, 1}, {300, 2, 5, 5, .1}, {700, 17, 13, 20, .5}, {500, 64, 40, 10, 1}, {2500, 9, 33, 30, .3}, {1500, 24, 150, 90, .6}} {
		vectors := blobs(rng, c.n, c.dim, c.centres, c.spread)
		for _, limit := range []int{1, 3, 300} {
			samePlain(t, "blobs", vectors, c.dim, c.k, limit, vectors[:c.k*c.dim], drawn(rng, vectors, c.dim, c.k), drawn(rng, vectors, c.dim, c.k))
		}
	}
}

// Vectors on a small grid: many are equal, many as far from one centroid as from another,
// starts hold some centroids several times, and clusters become empty.
func TestTiesArePlainLloyd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for range 120 {
		dim, n, side := 1+rng.IntN(4), 1+rng.IntN(200), 2+rng.IntN(4)
		vectors := make([]float32, n*dim)
		for i := range vectors {
			vectors[i] = float32(rng.IntN(side))
		}
		k := 1 + rng.IntN(n)
		samePlain(t, "grid", vectors, dim, k, 50, drawn(rng, vectors, dim, k), drawn(rng, vectors, dim, k))
	}
}

// plainPlusPlus is greedy k-means++ as one reads it, with the sums of blocks of rows.
func plainPlusPlus(vectors []float32, dim, k int, rng *rand.Rand) (start []float32) {
	n := len(vectors) / dim
	row := func(i int) []float32 { return vectors[i*dim : (i+1)*dim] }
	now, drawn := make([]float64, n), make([]bool, n)
	for i := range now {
		now[i] = math.Inf(1)
	}
	for c := range k {
		var best []float64
		chosen, least := -1, 0.0
		for range 2 + int(math.Log(float64(k))) {
			i := rng.IntN(n)
			if c > 0 {
				i = draw(rng, now, drawn)
			}
			next, sum, part := make([]float64, n), 0.0, 0.0
			for j := range next {
				next[j] = min(now[j], distance(row(j), row(i)))
				if j%rowBlock == 0 {
					sum, part = sum+part, 0
				}
				part += next[j]
			}
			if sum += part; chosen < 0 || sum < least {
				chosen, least, best = i, sum, next
			}
			if c == 0 {
				break
			}
		}
		now, drawn[chosen] = best, true
		start = append(start, row(chosen)...)
	}
	return start
}

// The centroids are those of plain k-means++, of vectors of any size, apart and close,
// equal ones among them.
func TestPlusPlusIsPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, c := range []struct {
		n, dim, k   int
		size, shift float32
	}{
		{1, 3, 1, 1, 0}, {40, 7, 40, 1, 0}, {1500, 40, 60, 1, 0}, {2500, 61, 33, 1e-3, 10},
		{300, 33, 50, 1e-22, 0}, {300, 33, 50, 1e15, 0}, {200, 64, 150, 1, 1e6},
	} {
		vectors := randomRows(rng, c.n*c.dim, 1)
		for i := range vectors {
			vectors[i] = vectors[i]*c.size + c.shift
		}
		copy(vectors[c.n/2*c.dim:], vectors[:c.n/4*c.dim])
		want := plainPlusPlus(vectors, c.dim, c.k, rand.New(rand.NewPCG(4, 4)))
		got, err := newLloyd(vectors, c.dim, c.k).plusPlus(t.Context(), rand.New(rand.NewPCG(4, 4)))
		check.True(t, err == nil && slices.Equal(got, want), "%+v: other centroids, error %v", c, err)
	}
}

func randomRows(rng *rand.Rand, n int, size float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(size * rng.NormFloat64())
	}
	return v
}
