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

func random32(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// Every kernel writes the product, within the error of a sum in float32, and no other memory; a row has the
// same bits at any index.
func TestMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, k := range kernels {
		for _, depth := range []int{1, 2, 3, 32, 77, 384} {
			rows, lda, ldc := TileRows*(1+rng.IntN(3)), depth+rng.IntN(5), Panel+rng.IntN(40)
			a, columns, bias, c := random32(rng, rows*lda), random32(rng, depth*Panel), random32(rng, Panel), random32(rng, rows*ldc)
			copy(a[(rows-1)*lda:], a[:depth]) // the last row equals the first
			got := slices.Clone(c)
			k.multiply(got, a, Pack(nil, columns, depth), bias, rows, depth, ldc, lda)
			for i := range got {
				row, col := i/ldc, i%ldc
				if col >= Panel {
					check.Must(t, got[i] == c[i], "%s: depth %d: wrote beside the panel", k.name, depth)
					continue
				}
				want, size := float64(bias[col]), math.Abs(float64(bias[col]))
				for l := range depth {
					p := float64(a[row*lda+l]) * float64(columns[col*depth+l])
					want, size = want+p, size+math.Abs(p)
				}
				check.Must(t, math.Abs(float64(got[i])-want) <= float64(depth+2)*size*0x1p-24,
					"%s: depth %d: row %d column %d is %v, want %v", k.name, depth, row, col, got[i], want)
			}
			check.True(t, slices.Equal(got[:Panel], got[(rows-1)*ldc:][:Panel]),
				"%s: depth %d: equal rows differ", k.name, depth)
		}
	}
}

// Panels are filled up with zeros, whatever was in memory.
func TestPack(t *testing.T) {
	const depth = 3
	columns := random32(rand.New(rand.NewPCG(1, 2)), (Panel+Strip+1)*depth)
	panels := Pack(slices.Repeat([]float32{9}, 2*Panel*depth), columns, depth)
	for c := range 2 * Panel {
		for l := range depth {
			want := float32(0)
			if at := c*depth + l; at < len(columns) {
				want = columns[at]
			}
			got := panels[c/Strip*Strip*depth+l*Strip+c%Strip]
			check.Must(t, got == want, "column %d, row %d: %v, want %v", c, l, got, want)
		}
	}
}

// Every kernel writes the product within the rounding of the codes, and no other memory; the kernels in
// assembly give the same bits.
func TestMultiplyCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, depth := range []int{Panel, 3 * Panel, 1536} {
		rows, columns := 2*TileRows, 3*Panel
		ldc := columns + 5
		a, b, bias := random32(rng, rows*depth), random32(rng, columns*depth), random32(rng, columns)
		clear(a[depth : 2*depth]) // a row of zeros
		clear(b[depth : 2*depth])
		for i := range depth { // a row with the largest possible sums
			a[i], b[i] = 3, 5
		}
		codes := Quantize(Pack(nil, b, depth), depth, nil)
		blank := random32(rng, rows*ldc)
		var first []float32
		for _, k := range codeKernels {
			var r Rows
			defer func(old []codeKernel) { codeKernels = old }(codeKernels)
			codeKernels = []codeKernel{k}
			got := slices.Clone(blank)
			r.Multiply(got, a, codes, bias, rows, ldc)
			for i := range got {
				row, col := i/ldc, i%ldc
				if col >= columns {
					check.Must(t, got[i] == blank[i], "%s: depth %d: wrote beside the columns", k.name, depth)
					continue
				}
				want, sure := float64(bias[col]), 0.
				for l := range depth {
					x, y := float64(a[row*depth+l]), float64(b[col*depth+l])
					want += x * y
					sure += math.Abs(x)*float64(codes.scales[col])/2 + math.Abs(y)*float64(r.scales[row])/2
				}
				check.Must(t, math.Abs(float64(got[i])-want) <= 1.01*sure+1e-4,
					"%s: depth %d: row %d column %d is %v, want %v within %v", k.name, depth, row, col, got[i], want, sure)
			}
			switch {
			case first == nil:
				first = got
			case k.name == "plain": // this kernel rounds once more
				for i := range got {
					check.Must(t, math.Abs(float64(got[i]-first[i])) <= 1e-5*math.Abs(float64(first[i]))+1e-4,
						"plain: depth %d: %v at %d, want %v", depth, got[i], i, first[i])
				}
			case !slices.Equal(got, first):
				t.Errorf("%s: depth %d: other bits than the first kernel", k.name, depth)
			}
		}
	}
}

// All kernels round in the same way.
func TestQuantizeRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for _, x := range [][]float32{random32(rng, 3*Panel), make([]float32, Panel), slices.Repeat([]float32{-127, 126.5, 125.5, 0.5}, Panel/4)} {
		want := make([]uint8, len(x))
		even := slices.Repeat([]float32{1, 2, 1, .5}, len(x)/4)
		scale, zero := quantizePlain(want, x, even)
		for _, k := range codeKernels {
			got := make([]uint8, len(x))
			if s, z := k.quantize(got, x, even); s != scale || z != zero || !slices.Equal(got, want) {
				t.Errorf("%s: %v from %d by %v, want %v from %d by %v", k.name, got, z, s, want, zero, scale)
			}
		}
		for i, v := range x {
			v *= even[i]
			if back := scale * float32(int32(want[i])-zero); math.Abs(float64(back-v)) > .501*float64(scale) || want[i] > rowCode {
				t.Errorf("%v has the code %d, which is %v", v, want[i], back)
			}
		}
	}
}

// A column of large numbers does not lower the precision of the others if its maximum is known.
func TestEven(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	const depth = 4 * Panel
	a, columns := random32(rng, TileRows*depth), random32(rng, Panel*depth)
	peaks := slices.Repeat([]float32{3}, depth)
	peaks[7] = 3000
	for r := range TileRows {
		a[r*depth+7] *= 1000
	}
	for c := range Panel {
		columns[c*depth+7] /= 1000
	}
	off := func(peaks []float32) (sum float64) {
		var rows Rows
		got := make([]float32, TileRows*Panel)
		rows.Multiply(got, a, Quantize(Pack(nil, columns, depth), depth, peaks), make([]float32, Panel), TileRows, Panel)
		for i, x := range got {
			for l := range depth {
				x -= a[i/Panel*depth+l] * columns[i%Panel*depth+l]
			}
			sum += float64(x * x)
		}
		return math.Sqrt(sum)
	}
	with, without := off(peaks), off(nil)
	check.True(t, with <= without/10, "off by %v with peaks, by %v without", with, without)
}

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

// plain computes a·b entry by entry.
func plain(a, b []float64, inner, cols int) []float64 {
	out := make([]float64, len(a)/inner*cols)
	for i := range out {
		for k := range inner {
			out[i] = math.FMA(a[i/cols*inner+k], b[k*cols+i%cols], out[i])
		}
	}
	return out
}

// All products equal plain sums, bit for bit, with any number of goroutines.
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

// Columns become orthonormal and span the same space, even if their lengths differ widely or they are nearly or
// completely dependent.
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

// dot is the product of column j of a and column l of b.
func dot(a, b []float64, j, l, cols int) (sum float64) {
	for i := 0; i < len(a); i += cols {
		sum += a[i+j] * b[i+l]
	}
	return sum
}

// The factor of the Gram matrix is accurate if columns are far from dependent, and is refused otherwise.
func TestInvertCholesky(t *testing.T) {
	for small, want := range map[float64]bool{1: true, 1e-10: true, 1e-13: false, 0: false} {
		a := []float64{1, 0, 7, small} // entries below the diagonal are not read
		check.Equal(t, invertCholesky(a, 2), want, "%v", small)
		want := []float64{1, 0, 0, 1 / math.Sqrt(small)}
		check.True(t, small < 1e-10 || slices.Equal(a, want), "%v: %v, want %v", small, a, want)
	}
}
