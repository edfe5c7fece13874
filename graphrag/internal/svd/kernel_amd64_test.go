// SPDX-License-Identifier: Apache-2.0

package svd

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// The kernels have the bits of plain Go.
func TestKernelsAgree(t *testing.T) {
	kernels := map[string]func(sums *tile, a, panel []float64, row, step int){}
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		kernels["AVX2"] = tileAVX2
	}
	if cpu.X86.HasAVX512F {
		kernels["AVX-512"] = tileAVX512
	}
	rng := rand.New(rand.NewPCG(1, 5))
	for inner := 1; inner < 40; inner++ {
		a, panel := make([]float64, height*inner), make([]float64, lanes*inner)
		for _, x := range [][]float64{a, panel} {
			for i := range x {
				x[i] = rng.NormFloat64()
			}
		}
		for _, strides := range [][2]int{{inner, 1}, {1, height}} {
			var want tile
			sumTile(&want, a, panel, height, strides[0], strides[1])
			for name, kernel := range kernels {
				var got tile
				if kernel(&got, a, panel, strides[0], strides[1]); got != want {
					t.Fatalf("%s, %d inner: %v, want %v", name, inner, got, want)
				}
			}
		}
	}
}
