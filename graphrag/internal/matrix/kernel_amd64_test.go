// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"math/rand/v2"
	"testing"

	"golang.org/x/sys/cpu"
)

// The assembly kernel gives the same bits as the one in Go.
func TestKernelAgrees(t *testing.T) {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		t.Skip("this processor has no AVX2")
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
			var got, want tile
			sumTile(&want, a, panel, height, strides[0], strides[1])
			if fastTile(&got, a, panel, strides[0], strides[1]); got != want {
				t.Fatalf("%d inner: %v, want %v", inner, got, want)
			}
		}
	}
}
