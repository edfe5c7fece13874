// SPDX-License-Identifier: Apache-2.0

package svd

import "golang.org/x/sys/cpu"

// fastTile is sumTile for a whole tile.
func fastTile(sums *tile, a, panel []float64, row, step int) {
	inner := len(panel) / lanes
	if inner == 0 || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		sumTile(sums, a, panel, height, row, step)
		return
	}
	const h, w = 4, 12                   // of the kernel
	_ = a[(height-1)*row+(inner-1)*step] // the kernel does not check its bounds
	for r := 0; r < height; r += h {
		for c := 0; c < lanes; c += w {
			sum4x12AVX2(&sums[r*lanes+c], &a[r*row], &panel[c], inner, row, step)
		}
	}
}

//go:noescape
func sum4x12AVX2(sums, a, panel *float64, inner, row, step int)
