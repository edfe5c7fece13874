// SPDX-License-Identifier: Apache-2.0

package local

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasFMA {
		return portable()
	}
	return kernels{
		gelu:    func(x []float32) { geluAVX2(&x[0], len(x)) },
		softmax: func(x []float32) { softmaxAVX2(&x[0], len(x)) },
		normalize: func(x, base, gain, bias []float32, eps float32) {
			_, _, _ = base[len(x)-1], gain[len(x)-1], bias[len(x)-1]
			normalizeAVX2(&x[0], &base[0], &gain[0], &bias[0], len(x), eps)
		},
	}
}

// The assembly needs n to be positive and a multiple of matrix.Strip.

//go:noescape
func geluAVX2(x *float32, n int)

//go:noescape
func softmaxAVX2(x *float32, n int)

//go:noescape
func normalizeAVX2(x, base, gain, bias *float32, n int, eps float32)
