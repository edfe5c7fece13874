// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// Points in a plane within 40 dimensions: two components keep all distances, up to one factor.
func TestPrincipalKeepsDistances(t *testing.T) {
	const n, dim = 50, 40
	rng := rand.New(rand.NewPCG(1, 7))
	var a, b [dim]float64
	for j := range dim {
		a[j], b[j] = rng.NormFloat64(), rng.NormFloat64()
	}
	vectors := make([]float32, 0, n*dim)
	for range n {
		x, y := 3*rng.NormFloat64(), rng.NormFloat64()
		for j := range dim {
			vectors = append(vectors, float32(7+x*a[j]+y*b[j]))
		}
	}
	distance := func(v []float32, dim, i, j int) float64 {
		sum := 0.0
		for d := range dim {
			x := float64(v[i*dim+d]) - float64(v[j*dim+d])
			sum += x * x
		}
		return math.Sqrt(sum)
	}
	for _, to := range []int{2, 5, 35} { // the last one takes no random subspace
		got, length, err := principal(t.Context(), vectors, dim, to)
		check.Must(t, err == nil && length == 2 && len(got) == n*length, "to %d: %d rows of %d, %v", to, len(got)/max(1, length), length, err)
		factor := distance(got, 2, 0, 1) / distance(vectors, dim, 0, 1)
		square := 0.0
		for i := range n {
			square += float64(got[2*i]) * float64(got[2*i])
			if d, want := distance(got, 2, i, n-1), factor*distance(vectors, dim, i, n-1); math.Abs(d-want) > 1e-3 {
				t.Fatalf("to %d: row %d is %v from the last, want %v", to, i, d, want)
			}
		}
		check.True(t, math.Abs(square/n-1) <= 1e-4, "to %d: the first component has variance %v", to, square/n)
	}
}
