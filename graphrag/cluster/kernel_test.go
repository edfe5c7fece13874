// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomRows(rng *rand.Rand, n int, size float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(size * rng.NormFloat64())
	}
	return v
}

// Scores stay within the bound the search relies on.
func TestScoresWithinErrorBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 1))
	for name, k := range kernelSets() {
		for _, size := range []float64{1e-30, 1e-20, 1, 1e15} {
			for dim := laneWidth; dim < 900; dim += laneWidth * (1 + rng.IntN(40)) {
				n := k.width * (1 + rng.IntN(3))
				tile, panels, offsets := randomRows(rng, k.height*dim, size), randomRows(rng, n*dim, size), make([]float32, n)
				centroids := make([]float32, 0, n*dim)
				l := lloyd{dim: dim, norms: make([]float64, k.height)}
				for c := range n {
					for j := range dim {
						centroids = append(centroids, panels[c/k.width*k.width*dim+j*k.width+c%k.width])
					}
					length := norm(centroids[c*dim:])
					l.panels.reach = max(l.panels.reach, length)
					offsets[c] = float32(-length * length / 2)
				}
				out := make([]float32, k.height*n)
				k.scores(out, tile, panels, offsets)
				for r := range k.height {
					row := tile[r*dim : (r+1)*dim]
					l.norms[r] = norm(row)
					for c := range n {
						centroid := centroids[c*dim : (c+1)*dim]
						dot := 0.0
						for j, x := range row {
							dot += float64(x) * float64(centroid[j])
						}
						want, bound := dot-norm(centroid)*norm(centroid)/2, l.scoreError(r, &l.panels)
						if got := float64(out[r*n+c]); !(math.Abs(got-want) <= bound) {
							t.Fatalf("%s: size %g dim %d row %d centroid %d: %v, want %v ± %v", name, size, dim, r, c, got, want, bound)
						}
					}
				}
			}
		}
	}
}

func TestBestAgrees(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 2))
	for name, k := range kernelSets() {
		for range 300 {
			n := k.width * (1 + rng.IntN(4))
			scores := make([]float32, k.height*n)
			for i := range scores {
				scores[i] = float32(rng.IntN(6)) // many ties
				if i%n > n-rng.IntN(k.width)-1 {
					scores[i] = float32(math.Inf(-1))
				}
			}
			got, want := make([]top, k.height), make([]top, k.height)
			k.best(got, scores)
			best2(want, scores)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %v, want %v\n%v", name, got, want, scores)
			}
		}
	}
}

func TestDistanceAndSumsAreTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 3))
	for name, k := range kernelSets() {
		for dim := 1; dim < 200; dim++ {
			x, y := randomRows(rng, dim, 1), randomRows(rng, dim, 1e3)
			if got, want := k.distance(x, y), distance8(x, y); math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%s: dim %d: distance %v, want %v", name, dim, got, want)
			}
			got, want := make([]float64, dim), make([]float64, dim)
			for j := range got {
				got[j] = rng.NormFloat64()
				want[j] = got[j] + float64(x[j])
			}
			k.add(got, x, y)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: dim %d: sums %v, want %v", name, dim, got, want)
			}
		}
	}
}
