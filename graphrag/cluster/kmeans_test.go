// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/internal/check"
)

// blobs returns n vectors around centres, the first n/centres around the first
// centre and so on.
func blobs(rng *rand.Rand, n, dim, centres int, spread float64) []float32 {
	centre := make([]float64, centres*dim)
	for i := range centre {
		centre[i] = rng.NormFloat64()
	}
	v := make([]float32, 0, n*dim)
	for i := range n {
		c := i * centres / n
		for j := range dim {
			v = append(v, float32(centre[c*dim+j]+spread*rng.NormFloat64()))
		}
	}
	return v
}

func TestKMeansSameAtAnyWorkers(t *testing.T) {
	vectors := blobs(rand.New(rand.NewPCG(7, 2)), 5000, 24, 12, .4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	run := func(workers int) *Clustering {
		runtime.GOMAXPROCS(workers)
		c := check.Of(KMeans(t.Context(), vectors, 24, 15, KMeansOptions{Seed: 3, Inits: 2})).OK(t)
		return c
	}
	want := run(1)
	for _, w := range []int{2, 3, 16} {
		check.Equal(t, cmp.Diff(want, run(w)), "", "%d workers", w)
	}
}

func TestKMeansDuplicates(t *testing.T) {
	vectors := []float32{5, 5, 5, 5, 5, 5, 1, 1}
	c := check.Of(KMeans(t.Context(), vectors, 2, 3, KMeansOptions{})).OK(t)
	check.True(t, c.K == 3 && c.Inertia == 0 && c.Labels[0] == c.Labels[1] && c.Labels[0] != c.Labels[3], "%+v", c)
}

func TestKMeansMoreClustersThanVectors(t *testing.T) {
	c := check.Of(KMeans(t.Context(), []float32{1, 2, 3}, 1, 10, KMeansOptions{})).OK(t)
	labels := slices.Sorted(slices.Values(c.Labels))
	check.True(t, c.K == 3 && c.Inertia == 0 && slices.Equal(labels, []int32{0, 1, 2}), "%+v", c)
}

// Vectors of very different and very small sizes: float32 products overflow
// their precision or vanish, the labels are still the plain ones.
func TestKMeansHostileScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	for _, scale := range []float64{1e-44, 1e-30, 1e-15, 1e10} {
		for _, shift := range []float64{0, 1, 1e4} {
			vectors := blobs(rng, 200, 5, 4, 1)
			for i, v := range vectors {
				vectors[i] = float32((float64(v) + shift) * scale)
				if i%97 == 0 {
					vectors[i] *= 1e3
				}
			}
			samePlain(t, fmt.Sprintf("scale %g shift %g", scale, shift), vectors, 5, 6, 20, vectors[:6*5])
		}
	}
}

func TestKMeansRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		vectors []float32
		dim, k  int
		opts    KMeansOptions
		want    string
	}{
		{nil, 2, 1, KMeansOptions{}, "no vectors"},
		{[]float32{1, 2, 3}, 2, 1, KMeansOptions{}, "no whole rows"},
		{[]float32{1}, 0, 1, KMeansOptions{}, "dimension 0"},
		{[]float32{1}, 1, 0, KMeansOptions{}, "0 clusters"},
		{[]float32{1, 2, 3, nan}, 2, 1, KMeansOptions{}, "row 1: unusable vector: component 1 is NaN"},
		{[]float32{1, inf}, 1, 1, KMeansOptions{}, "row 1: unusable vector: component 0 is +Inf"},
		{[]float32{2e18}, 1, 1, KMeansOptions{}, "row 0: unusable vector: length 2e+18"},
		{[]float32{1}, 1, 1, KMeansOptions{Inits: -1}, "Inits is -1"},
	} {
		check.Fails(t, check.Err(KMeans(t.Context(), c.vectors, c.dim, c.k, c.opts)), c.want, "%v", c.vectors)
	}
}

// From 0 and 1, the second of these vectors changes sides after the first update,
// which moves a centroid by 2.5; the variance is 3.92. The second update moves
// them by 0.75 and 1, after which nothing changes.
func TestKMeansTolerance(t *testing.T) {
	vectors := []float32{0, 1.5, 4, 5}
	for tolerance, want := range map[float64]int{2: 1, 1: 2, -1: 2} {
		l := newLloyd(vectors, 1, 2)
		l.tolerance = tolerance
		c, err := l.run(t.Context(), []float32{0, 1})
		check.True(t, err == nil && c.Iterations == want, "tolerance %v: %+v %v", tolerance, c, err)
	}
}

func TestKMeansCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(KMeans(ctx, blobs(rand.New(rand.NewPCG(7, 5)), 5000, 8, 3, 1), 8, 3, KMeansOptions{})), context.Canceled)
}

func ExampleKMeans() {
	vectors := []float32{
		0, 0,
		0, 1,
		9, 0,
		9, 1,
	}
	c, err := KMeans(context.Background(), vectors, 2, 2, KMeansOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Labels, c.Centroids, c.Inertia)
	// Output: [1 1 0 0] [9 0.5 0 0.5] 1
}
