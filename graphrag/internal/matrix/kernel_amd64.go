// SPDX-License-Identifier: Apache-2.0

package matrix

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// wideKernels returns the assembly kernels that this processor can run, the fastest first.
func wideKernels() (list []kernel) {
	if hasAVX2 && cpu.X86.HasAVX512F {
		list = append(list, kernel{"AVX-512", func(c, a, b, bias []float32, rows, depth, ldc, lda int) {
			tiles12x32(&c[0], &a[0], &b[0], &bias[0], rows, depth, ldc, lda)
		}})
	}
	if hasAVX2 {
		list = append(list, kernel{"AVX2", func(c, a, b, bias []float32, rows, depth, ldc, lda int) {
			tiles6x16(&c[0], &a[0], &b[0], &bias[0], rows, depth, ldc, lda)
		}})
	}
	return list
}

// wideCodes returns the assembly kernels for 8-bit codes that this processor can run, the fastest first.
func wideCodes() (list []codeKernel) {
	if !hasAVX2 {
		return nil
	}
	quantize := func(out []uint8, x, even []float32) (scale float32, zero int32) {
		scale, zero = steps(boundsAVX2(&x[0], &even[0], len(x)))
		codesAVX2(&out[0], &x[0], &even[0], len(x), 1/scale, zero)
		return scale, zero
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI {
		list = append(list, codeKernel{"AVX-512 VNNI", quantize, func(c []float32, a *Rows, b *Codes, bias []float32, p, ldc int) {
			codes12x32(&c[0], &a.codes[0], &b.panels[p*b.depth], &b.sums[p], &b.scales[p], &bias[p], &a.scales[0], &a.zeros[0], len(a.scales), b.depth/codeStep, ldc, b.depth/codeStep)
		}})
	}
	return append(list, codeKernel{"AVX2", quantize, func(c []float32, a *Rows, b *Codes, bias []float32, p, ldc int) {
		codes6x16(&c[0], &a.codes[0], &b.panels[p*b.depth], &b.sums[p], &b.scales[p], &bias[p], &a.scales[0], &a.zeros[0], len(a.scales), b.depth/codeStep, ldc, b.depth/codeStep)
	}})
}

// The assembly requires rows to be a multiple of TileRows, and rows and depth to be positive.

//go:noescape
func tiles6x16(c, a, b, bias *float32, rows, depth, ldc, lda int)

//go:noescape
func tiles12x32(c, a, b, bias *float32, rows, depth, ldc, lda int)

//go:noescape
func codesAVX2(out *uint8, x, even *float32, n int, scale float32, zero int32)

//go:noescape
func boundsAVX2(x, even *float32, n int) (least, most float32)

//go:noescape
func codes6x16(c *float32, a *uint8, b *int8, sums *int32, scales, bias, rowScales *float32, zeros *int32, rows, depth, ldc, lda int)

//go:noescape
func codes12x32(c *float32, a *uint8, b *int8, sums *int32, scales, bias, rowScales *float32, zeros *int32, rows, depth, ldc, lda int)

// fastTile computes all rows of a tile, as sumTile does.
func fastTile(sums *tile, a, panel []float64, row, step int) {
	inner := len(panel) / lanes
	if inner == 0 || !hasAVX2 {
		sumTile(sums, a, panel, height, row, step)
		return
	}
	const h, w = 4, 12                   // rows and columns per call of the assembly
	_ = a[(height-1)*row+(inner-1)*step] // bounds check, which the assembly does not make
	for r := 0; r < height; r += h {
		for c := 0; c < lanes; c += w {
			sum4x12AVX2(&sums[r*lanes+c], &a[r*row], &panel[c], inner, row, step)
		}
	}
}

//go:noescape
func sum4x12AVX2(sums, a, panel *float64, inner, row, step int)
