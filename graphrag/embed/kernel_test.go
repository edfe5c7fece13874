// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every way to add up rows has the same bits, at all widths around those of the kernels.
func TestSumRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, width := range []int{1, 7, 8, 9, 63, 64, 65, 72, 127, 136, 394} {
		for _, n := range []int{0, 1, 2, 50} {
			const rows = 20
			x, want, got := make([]float32, rows*width), make([]float32, width), make([]float32, width)
			for i := range x {
				x[i] = float32(rng.NormFloat64())
			}
			cols, vals := make([]int32, n), make([]float32, n)
			for k := range cols {
				cols[k], vals[k] = rng.Int32N(rows), float32(rng.NormFloat64())
			}
			for i := range got {
				got[i], want[i] = float32(math.NaN()), float32(math.NaN()) // whatever was there is gone
			}
			sumRows(got, x, cols, vals)
			sumRest(want, 0, x, cols, vals)
			for i := range want {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("width %d, %d rows: component %d is %v, want %v", width, n, i, got[i], want[i])
				}
			}
		}
	}
}

func TestSumRowsBeyond(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a row behind the end of the matrix was read")
		}
	}()
	sumRows(make([]float32, 8), make([]float32, 16), []int32{2}, []float32{1})
}
