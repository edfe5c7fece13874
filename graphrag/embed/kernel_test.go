// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every way to add up rows has the same bits, at all widths around those of the kernels.
func TestSumRows(t *testing.T) {
	t.Run("float32", func(t *testing.T) { sameSums(t, sumFirst) })
	t.Run("float64", func(t *testing.T) { sameSums(t, sumFirst64) })
}

func sameSums[F float](t *testing.T, first func(out, x []F, cols []int32, vals []float32) int) {
	rng := rand.New(rand.NewPCG(5, 1))
	for _, width := range []int{1, 3, 4, 7, 8, 9, 31, 32, 33, 63, 64, 65, 72, 127, 136, 394} {
		for _, n := range []int{0, 1, 2, 50} {
			const rows = 20
			x, want, got := make([]F, rows*width), make([]F, width), make([]F, width)
			for i := range x {
				x[i] = F(rng.NormFloat64())
			}
			cols, vals := make([]int32, n), make([]float32, n)
			for k := range cols {
				cols[k], vals[k] = rng.Int32N(rows), float32(rng.NormFloat64())
			}
			for i := range got {
				got[i], want[i] = F(math.NaN()), F(math.NaN()) // whatever was there is gone
			}
			sumRows(got, x, cols, vals, first)
			sumRest(want, 0, x, cols, vals)
			for i := range want {
				if math.Float64bits(float64(got[i])) != math.Float64bits(float64(want[i])) {
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
	sumRows(make([]float32, 8), make([]float32, 16), []int32{2}, []float32{1}, sumFirst)
}
