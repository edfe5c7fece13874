// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"testing"
)

func randomNumbers(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// The inverse of the factor makes the unit matrix of a matrix, and its determinant is
// that of the factor.
func TestInvertedCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	for d := 1; d < 20; d++ {
		a, inverse := make([]float64, d*d), make([]float64, d*d)
		for range 3 * d {
			z := randomNumbers(rng, d)
			for i := range a {
				a[i] += z[i/d] * z[i%d]
			}
		}
		logs, ok := invertedCholesky(inverse, a, make([]float64, d*d), d)
		if !ok {
			t.Fatalf("dim %d: not positive definite", d)
		}
		for i := range a {
			want, got := 0.0, 0.0
			if i/d == i%d {
				want, logs = 1, logs+math.Log(inverse[i])
			}
			for j := range a {
				got += inverse[i/d*d+j/d] * a[j] * inverse[i%d*d+j%d]
			}
			if math.Abs(got-want) > 1e-10 {
				t.Errorf("dim %d: entry %d of the unit matrix is %v", d, i, got)
			}
		}
		if math.Abs(logs) > 1e-10 {
			t.Errorf("dim %d: the determinants differ by the factor exp %v", d, logs)
		}
	}
	if _, ok := invertedCholesky(make([]float64, 4), []float64{1, 2, 2, 1}, make([]float64, 4), 2); ok {
		t.Error("a matrix with a negative eigenvalue has a factor")
	}
}
