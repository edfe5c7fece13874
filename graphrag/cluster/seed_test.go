// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

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
				next[j] = min(now[j], distance8(row(j), row(i)))
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

// All kernels draw the centroids of plain k-means++, of vectors of any size, apart and close,
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
		for name, kernels := range kernelSets() {
			opts, _ := KMeansOptions{Workers: 3}.resolve()
			l := newLloyd(vectors, c.dim, c.k, opts)
			l.kernels = kernels
			got, err := l.plusPlus(t.Context(), rand.New(rand.NewPCG(4, 4)))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: %+v: other centroids", name, c)
			}
		}
	}
}
