// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Columns become orthonormal and span what they did, also those that are far apart in
// length, near to dependent or dependent.
func TestOrthonormal(t *testing.T) {
	const rows, cols = 60, 11
	for _, noise := range []float64{1, 1e-3, 1e-5, 1e-8, 0} {
		rng := rand.New(rand.NewPCG(1, 2))
		y := make([]float64, rows*cols)
		for i := 0; i < len(y); i += cols {
			common := rng.NormFloat64()
			for j := range cols {
				y[i+j] = common + noise*rng.NormFloat64()
			}
		}
		once, q := make([]float64, len(y)), make([]float64, len(y))
		if err := errors.Join(basis(t.Context(), once, y, cols), basis(t.Context(), q, once, cols)); err != nil {
			t.Fatal(err)
		}
		for j := range cols {
			for l := range j + 1 {
				want := 0.0
				if l == j {
					want = 1
				}
				if got := dot(q, q, j, l, cols); math.Abs(got-want) > 1e-13 {
					t.Errorf("noise %g: columns %d and %d: %v", noise, j, l, got)
				}
			}
			length, kept := dot(y, y, j, j, cols), 0.0
			for l := range cols {
				part := dot(y, q, j, l, cols)
				kept += part * part
			}
			if math.Abs(kept-length) > 1e-12*length {
				t.Errorf("noise %g: of column %d, %v long, %v is left", noise, j, length, kept)
			}
		}
	}
}

// dot is that of column j of a and column l of b.
func dot(a, b []float64, j, l, cols int) (sum float64) {
	for i := 0; i < len(a); i += cols {
		sum += a[i+j] * b[i+l]
	}
	return sum
}

// The factor of the Gram matrix is good for columns that are well apart, and is refused
// for others.
func TestInvertCholesky(t *testing.T) {
	for small, want := range map[float64]bool{1: true, 1e-10: true, 1e-13: false, 0: false} {
		a := []float64{1, 0, 7, small} // what is below the diagonal is not read
		if got := invertCholesky(a, 2); got != want {
			t.Errorf("%v: %t, want %t", small, got, want)
		}
		if want := []float64{1, 0, 0, 1 / math.Sqrt(small)}; small >= 1e-10 && !slices.Equal(a, want) {
			t.Errorf("%v: %v, want %v", small, a, want)
		}
	}
}
