// SPDX-License-Identifier: Apache-2.0

package embed

// sumRows computes out = Σ vals[k]·row cols[k] of x, whose rows are as long as out, in the
// order of k. Products and sums are rounded one by one, so that all processors have
// the same bits.
func sumRows(out, x []float32, cols []int32, vals []float32) {
	width := len(out)
	for _, c := range cols {
		_ = x[int(c)*width : (int(c)+1)*width] // the kernels do not look
	}
	done := sumFirst(out, x, cols, vals[:len(cols)])
	sumRest(out, done, x, cols, vals)
}

// sumRest computes the components of out from one on.
func sumRest(out []float32, from int, x []float32, cols []int32, vals []float32) {
	width := len(out)
	out = out[from:]
	clear(out)
	for k, c := range cols {
		row, val := x[int(c)*width+from:][:len(out)], vals[k]
		for i, f := range row {
			out[i] += float32(val * f)
		}
	}
}
