// SPDX-License-Identifier: Apache-2.0

//go:build !amd64

package matrix

// fastTile computes all rows of a tile, as sumTile does.
func fastTile(sums *tile, a, panel []float64, row, step int) {
	sumTile(sums, a, panel, height, row, step)
}

func wideKernels() []kernel { return nil }

func wideCodes() []codeKernel { return nil }
