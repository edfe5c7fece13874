// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"math"
	"math/rand/v2"
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

// Every kernel writes the product, within the error of a sum in float32, and touches nothing
// else; a row has the same bits wherever it stands.
func TestMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, k := range kernels {
		for _, depth := range []int{1, 2, 3, 32, 77, 384} {
			rows, lda, ldc := TileRows*(1+rng.IntN(3)), depth+rng.IntN(5), Panel+rng.IntN(40)
			a, columns, bias, c := random32(rng, rows*lda), random32(rng, depth*Panel), random32(rng, Panel), random32(rng, rows*ldc)
			copy(a[(rows-1)*lda:], a[:depth]) // the last row is the first
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

// Panels are filled up with zeros, whatever was there.
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

// Every kernel writes the product within the steps of the codes, those in assembly the same bits,
// and touches nothing else.
func TestMultiplyCodes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, depth := range []int{Panel, 3 * Panel, 1536} {
		rows, columns := 2*TileRows, 3*Panel
		ldc := columns + 5
		a, b, bias := random32(rng, rows*depth), random32(rng, columns*depth), random32(rng, columns)
		clear(a[depth : 2*depth]) // a row of zeros
		clear(b[depth : 2*depth])
		for i := range depth { // the largest sums that there are
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
			case k.name == "plain": // rounds once more
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

// All kernels round alike.
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

// A column of large numbers costs the others no precision if its peak is known.
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
