// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
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
					if got[i] != c[i] {
						t.Fatalf("%s: depth %d: wrote beside the panel", k.name, depth)
					}
					continue
				}
				want, size := float64(bias[col]), math.Abs(float64(bias[col]))
				for l := range depth {
					p := float64(a[row*lda+l]) * float64(columns[col*depth+l])
					want, size = want+p, size+math.Abs(p)
				}
				if math.Abs(float64(got[i])-want) > float64(depth+2)*size*0x1p-24 {
					t.Fatalf("%s: depth %d: row %d column %d is %v, want %v", k.name, depth, row, col, got[i], want)
				}
			}
			if !slices.Equal(got[:Panel], got[(rows-1)*ldc:][:Panel]) {
				t.Errorf("%s: depth %d: equal rows differ", k.name, depth)
			}
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
			if got := panels[c/Strip*Strip*depth+l*Strip+c%Strip]; got != want {
				t.Fatalf("column %d, row %d: %v, want %v", c, l, got, want)
			}
		}
	}
}
