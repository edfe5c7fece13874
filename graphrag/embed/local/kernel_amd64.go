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
	}
}

// The assembly expects n to be a multiple of matrix.Strip, and positive.

//go:noescape
func geluAVX2(x *float32, n int)

//go:noescape
func softmaxAVX2(x *float32, n int)
