// SPDX-License-Identifier: Apache-2.0

package svd

import "golang.org/x/sys/cpu"

// fastTile is sumTile for a whole tile.
func fastTile(sums *tile, a, panel []float64, row, step int) {
	switch inner := len(panel) / lanes; {
	case inner == 0 || !cpu.X86.HasAVX2 || !cpu.X86.HasFMA:
		sumTile(sums, a, panel, height, row, step)
	case cpu.X86.HasAVX512F:
		tileAVX512(sums, a, panel, row, step)
	default:
		tileAVX2(sums, a, panel, row, step)
	}
}

func tileAVX512(sums *tile, a, panel []float64, row, step int) {
	inner := len(panel) / lanes
	_ = a[(height-1)*row+(inner-1)*step] // the kernels do not look
	sum8x24AVX512(&sums[0], &a[0], &panel[0], inner, row, step)
}

func tileAVX2(sums *tile, a, panel []float64, row, step int) {
	const h, w = 4, 12
	inner := len(panel) / lanes
	_ = a[(height-1)*row+(inner-1)*step]
	for r := 0; r < height; r += h {
		for c := 0; c < lanes; c += w {
			sum4x12AVX2(&sums[r*lanes+c], &a[r*row], &panel[c], inner, row, step)
		}
	}
}

//go:noescape
func sum8x24AVX512(sums, a, panel *float64, inner, row, step int)

//go:noescape
func sum4x12AVX2(sums, a, panel *float64, inner, row, step int)
