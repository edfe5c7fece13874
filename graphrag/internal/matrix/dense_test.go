// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

func random(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// transposed returns a matrix with rows of length cols the other way.
func transposed(a []float64, cols int) []float64 {
	rows := len(a) / cols
	t := make([]float64, len(a))
	for i, x := range a {
		t[i%cols*rows+i/cols] = x
	}
	return t
}

// plain is a·b entry by entry.
func plain(a, b []float64, inner, cols int) []float64 {
	out := make([]float64, len(a)/inner*cols)
	for i := range out {
		for k := range inner {
			out[i] = math.FMA(a[i/cols*inner+k], b[k*cols+i%cols], out[i])
		}
	}
	return out
}

// All products are those of plain sums, to the bit, at any number of goroutines.
func TestProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, workers := range []int{1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers))
		for range 25 {
			rows, inner, cols := 1+rng.IntN(150), 1+rng.IntN(40), 1+rng.IntN(60)
			a, b := random(rng, rows*inner), random(rng, inner*cols)
			want, out := plain(a, b, inner, cols), make([]float64, rows*cols)
			fails := func(name string, err error) {
				t.Helper()
				check.Must(t, err == nil && slices.Equal(out, want),
					"%s of %d×%d by %d columns: %v, %v, want %v", name, rows, inner, cols, err, out, want)
				clear(out)
			}
			fails("Mul", Dense{a, inner}.Mul(t.Context(), out, b, cols))
			fails("MulT", Dense{transposed(a, inner), rows}.MulT(t.Context(), out, b, cols))
		}
	}
}

func TestTriangles(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for range 25 {
		rows, cols := 1+rng.IntN(90), 1+rng.IntN(120)
		a, b, upper := random(rng, rows*cols), random(rng, rows*cols), random(rng, cols*cols)
		for i := range upper {
			if i/cols > i%cols {
				upper[i] = 0
			}
		}
		out := make([]float64, rows*cols)
		if err := (Dense{a, cols}).mulUpper(t.Context(), out, upper); err != nil || !slices.Equal(out, plain(a, upper, cols, cols)) {
			t.Fatalf("mulUpper of %d×%d: %v", rows, cols, err)
		}
		out, want := make([]float64, cols*cols), plain(transposed(a, cols), b, rows, cols)
		err := Dense{a, cols}.gram(t.Context(), out, b)
		for i, x := range out {
			check.Must(t, err == nil && (i/cols > i%cols || x == want[i]),
				"gram of %d×%d at %d, %d: %v, %v, want %v", rows, cols, i/cols, i%cols, err, x, want[i])
		}
	}
}

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
		check.OK(t, errors.Join(basis(t.Context(), once, y, cols), basis(t.Context(), q, once, cols)))
		for j := range cols {
			for l := range j + 1 {
				want := 0.0
				if l == j {
					want = 1
				}
				got := dot(q, q, j, l, cols)
				check.True(t, math.Abs(got-want) <= 1e-13, "noise %g: columns %d and %d: %v", noise, j, l, got)
			}
			length, kept := dot(y, y, j, j, cols), 0.0
			for l := range cols {
				part := dot(y, q, j, l, cols)
				kept += part * part
			}
			check.True(t, math.Abs(kept-length) <= 1e-12*length,
				"noise %g: of column %d, %v long, %v is left", noise, j, length, kept)
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
		got := invertCholesky(a, 2)
		check.True(t, got == want, "%v: %t, want %t", small, got, want)
		want := []float64{1, 0, 0, 1 / math.Sqrt(small)}
		check.True(t, small < 1e-10 || slices.Equal(a, want), "%v: %v, want %v", small, a, want)
	}
}
