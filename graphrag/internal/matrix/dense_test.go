// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
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
			check := func(name string, err error) {
				t.Helper()
				if err != nil || !slices.Equal(out, want) {
					t.Fatalf("%s of %d×%d by %d columns: %v, %v, want %v", name, rows, inner, cols, err, out, want)
				}
				clear(out)
			}
			check("Mul", Dense{a, inner}.Mul(t.Context(), out, b, cols))
			check("MulT", Dense{transposed(a, inner), rows}.MulT(t.Context(), out, b, cols))
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
			if err != nil || i/cols <= i%cols && x != want[i] {
				t.Fatalf("gram of %d×%d at %d, %d: %v, %v, want %v", rows, cols, i/cols, i%cols, err, x, want[i])
			}
		}
	}
}
