// SPDX-License-Identifier: Apache-2.0

package local

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portable()
	}
	k := kernels{multiply: multiplyAVX2, gelu: geluWide, softmax: softmaxWide, normalize: normalizeWide}
	if cpu.X86.HasAVX512F {
		k.multiply = multiplyAVX512
	}
	return k
}

// reach makes sure that all a kernel reads and writes is there.
func reach(c, a, b, bias []float32, rows, depth, ldc, lda int) bool {
	if rows == 0 || depth == 0 {
		return false
	}
	_, _, _, _ = c[(rows-1)*ldc+panel-1], a[(rows-1)*lda+depth-1], b[panel*depth-1], bias[panel-1]
	return true
}

func multiplyAVX2(c, a, b, bias []float32, rows, depth, ldc, lda int) {
	if reach(c, a, b, bias, rows, depth, ldc, lda) {
		tiles6x16(&c[0], &a[0], &b[0], &bias[0], rows, depth, ldc, lda)
	}
}

func multiplyAVX512(c, a, b, bias []float32, rows, depth, ldc, lda int) {
	if reach(c, a, b, bias, rows, depth, ldc, lda) {
		tiles12x32(&c[0], &a[0], &b[0], &bias[0], rows, depth, ldc, lda)
	}
}

func geluWide(x []float32) {
	if len(x) > 0 {
		geluAVX2(&x[0], len(x))
	}
}

func softmaxWide(x []float32) {
	if len(x) > 0 {
		softmaxAVX2(&x[0], len(x))
	}
}

func normalizeWide(x, base, gain, bias []float32, eps float32) {
	if n := len(x); n > 0 {
		normalizeAVX2(&x[0], &base[:n][0], &gain[:n][0], &bias[:n][0], n, eps)
	}
}

// The assembly expects rows to be a multiple of tileRows, n one of strip, and all
// to be positive.

//go:noescape
func tiles6x16(c, a, b, bias *float32, rows, depth, ldc, lda int)

//go:noescape
func tiles12x32(c, a, b, bias *float32, rows, depth, ldc, lda int)

//go:noescape
func geluAVX2(x *float32, n int)

//go:noescape
func softmaxAVX2(x *float32, n int)

//go:noescape
func normalizeAVX2(x, base, gain, bias *float32, n int, eps float32)
