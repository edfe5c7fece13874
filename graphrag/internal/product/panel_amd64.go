// SPDX-License-Identifier: Apache-2.0

package product

import "golang.org/x/sys/cpu"

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

// wide returns the kernels in assembly, the fastest first.
func wide() (kernels []kernel) {
	if hasAVX2 && cpu.X86.HasAVX512F {
		kernels = append(kernels, kernel{"AVX-512", func(c, a, b, bias []float32, rows, depth, ldc, lda int) {
			tiles12x32(&c[0], &a[0], &b[0], &bias[0], rows, depth, ldc, lda)
		}})
	}
	if hasAVX2 {
		kernels = append(kernels, kernel{"AVX2", func(c, a, b, bias []float32, rows, depth, ldc, lda int) {
			tiles6x16(&c[0], &a[0], &b[0], &bias[0], rows, depth, ldc, lda)
		}})
	}
	return kernels
}

// The assembly expects rows to be a multiple of Rows, and rows and depth to be positive.

//go:noescape
func tiles6x16(c, a, b, bias *float32, rows, depth, ldc, lda int)

//go:noescape
func tiles12x32(c, a, b, bias *float32, rows, depth, ldc, lda int)
