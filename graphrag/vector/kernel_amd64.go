// SPDX-License-Identifier: Apache-2.0

package vector

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	k := portable()
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = kernels{dot: dotAVX2, dotCodes: dotCodesAVX2, codesPay: true}
	}
	return k
}

func dotAVX2(out, rows, query []float32) {
	if len(out) > 0 {
		dot4AVX2(&out[0], &rows[:len(out)*len(query)][0], &query[0], len(out), len(query))
	}
}

func dotCodesAVX2(out []int32, codes []int8, query *queryCode) {
	if dim := len(query.words); len(out) > 0 {
		codes4AVX2(&out[0], &codes[:len(out)*dim][0], &query.words[0], len(out), dim)
	}
}

// The assembly expects n to be a multiple of rowGroup and dim one of
// laneWidth, both positive.

//go:noescape
func dot4AVX2(out, rows, query *float32, n, dim int)

//go:noescape
func codes4AVX2(out *int32, codes *int8, query *int16, n, dim int)
