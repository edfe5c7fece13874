// SPDX-License-Identifier: Apache-2.0

package embed

// float is a component of a row.
type float interface{ float32 | float64 }

// sumRows computes out = Σ vals[k]·row cols[k] of x, whose rows are as long as out, in the
// order of k; first is the kernel for as many components as it can. Products and sums are
// rounded one by one, so that all processors have the same bits.
func sumRows[F float](out, x []F, cols []int32, vals []float32, first func(out, x []F, cols []int32, vals []float32) (done int)) {
	width := len(out)
	for _, c := range cols {
		_ = x[int(c)*width : (int(c)+1)*width] // the kernels do not look
	}
	done := first(out, x, cols, vals[:len(cols)])
	sumRest(out, done, x, cols, vals)
}

// sumRest computes the components of out from one on.
func sumRest[F float](out []F, from int, x []F, cols []int32, vals []float32) {
	width := len(out)
	out = out[from:]
	clear(out)
	for k, c := range cols {
		row, val := x[int(c)*width+from:][:len(out)], F(vals[k])
		for i, f := range row {
			out[i] += F(val * f)
		}
	}
}
