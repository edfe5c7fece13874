// SPDX-License-Identifier: Apache-2.0

package local

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// near tells whether got is want but for what n roundings of numbers of the given
// size can make.
func near(got float32, want, size float64, n int) bool {
	return math.Abs(float64(got)-want) <= float64(n+2)*size*0x1p-24
}

// Every kernel writes the product, within the error of a sum in float32, and touches
// nothing else.
func TestMultiply(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, k := range kernelSets() {
		for _, depth := range []int{1, 2, 3, 32, 77, 384} {
			rows, lda, ldc := tileRows*(1+rng.IntN(3)), depth+rng.IntN(5), panel+rng.IntN(40)
			a, b, bias, c := random(rng, rows*lda), random(rng, depth*panel), random(rng, panel), random(rng, rows*ldc)
			got := slices.Clone(c)
			k.multiply(got, a, b, bias, rows, depth, ldc, lda)
			for i := range got {
				row, col := i/ldc, i%ldc
				if col >= panel {
					if got[i] != c[i] {
						t.Fatalf("%s: depth %d: wrote beside the panel", name, depth)
					}
					continue
				}
				want, size := float64(bias[col]), math.Abs(float64(bias[col]))
				for l := range depth {
					p := float64(a[row*lda+l]) * float64(b[col/strip*depth*strip+l*strip+col%strip])
					want, size = want+p, size+math.Abs(p)
				}
				if !near(got[i], want, size, depth) {
					t.Fatalf("%s: depth %d: row %d column %d is %v, want %v", name, depth, row, col, got[i], want)
				}
			}
		}
	}
}

// A row's product is the same wherever it stands.
func TestMultiplyIsBlindToPlace(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const depth, rows = 96, 3 * tileRows
	b, row := random(rng, depth*panel), random(rng, depth)
	for name, k := range kernelSets() {
		c := make([]float32, rows*panel)
		k.multiply(c, slices.Repeat(row, rows), b, make([]float32, panel), rows, depth, panel, depth)
		for r := range rows {
			if !slices.Equal(c[r*panel:(r+1)*panel], c[:panel]) {
				t.Errorf("%s: row %d differs from row 0", name, r)
			}
		}
	}
}

func TestGELU(t *testing.T) {
	for name, k := range kernelSets() {
		x := []float32{0, -0x1p-140, 1e-30, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32, -12.5}
		for v := float32(-14); len(x)%strip != 0 || v < 14; v += .00731 {
			x = append(x, v)
		}
		got := slices.Clone(x)
		k.gelu(got)
		for i, v := range x {
			want := float64(v) * math.Erfc(-float64(v)/math.Sqrt2) / 2
			if math.Abs(float64(got[i])-want) > 2e-7*math.Abs(float64(v))+1e-38 {
				t.Errorf("%s: gelu(%v) is %v, want %v", name, v, got[i], want)
			}
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for name, k := range kernelSets() {
		for _, n := range []int{strip, 2 * strip, 256} {
			x := random(rng, n)
			for i := range x {
				x[i] *= 5
			}
			x[n-1], x[n-2] = -math.MaxFloat32, -200
			got := slices.Clone(x)
			k.softmax(got)
			sum := 0.
			for _, v := range x {
				sum += math.Exp(float64(v))
			}
			for i, v := range x {
				want := math.Exp(float64(v)) / sum
				if math.Abs(float64(got[i])-want) > 2e-6*want+1e-34 {
					t.Errorf("%s: softmax(%v) is %v, want %v", name, v, got[i], want)
				}
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for name, k := range kernelSets() {
		for _, n := range []int{panel, 3 * panel, 384} {
			x, base, gain, bias := random(rng, n), random(rng, n), random(rng, n), random(rng, n)
			got := slices.Clone(x)
			k.normalize(got, base, gain, bias, .25)
			mean, variance := 0., 0.
			for i := range x {
				mean += float64(x[i]+base[i]) / float64(n)
			}
			for i := range x {
				d := float64(x[i]+base[i]) - mean
				variance += d * d / float64(n)
			}
			for i := range x {
				want := (float64(x[i]+base[i])-mean)/math.Sqrt(variance+.25)*float64(gain[i]) + float64(bias[i])
				if math.Abs(float64(got[i])-want) > 3e-6 {
					t.Errorf("%s: length %d: %v, want %v", name, n, got[i], want)
				}
			}
		}
	}
}
