// SPDX-License-Identifier: Apache-2.0

package svd

import "math"

// sumTile computes the first rows of a tile: the sums over k of a[r*row+k*step] times
// row k of the panel.
func sumTile(sums *tile, a, panel []float64, rows, row, step int) {
	for r := range rows {
		out := sums[r*lanes:][:lanes]
		clear(out)
		for k := 0; k*lanes < len(panel); k++ {
			x := a[r*row+k*step]
			for c, y := range panel[k*lanes:][:len(out)] {
				out[c] = math.FMA(x, y, out[c])
			}
		}
	}
}
