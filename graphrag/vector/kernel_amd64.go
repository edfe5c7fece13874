// SPDX-License-Identifier: Apache-2.0

package vector

import "golang.org/x/sys/cpu"

// fastest returns the fastest kernels that the processor can run.
func fastest() kernels {
	k := portable()
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = kernels{dotCodes: dotCodesAVX2, codesPay: true}
	}
	return k
}

func dotCodesAVX2(out []int32, codes []int8, query *queryCode) {
	if dim := len(query.words); len(out) > 0 {
		codes4AVX2(&out[0], &codes[:len(out)*dim][0], &query.words[0], len(out), dim)
	}
}

// The assembly expects n to be a multiple of rowGroup and dim one of laneWidth, both positive.

//go:noescape
func codes4AVX2(out *int32, codes *int8, query *int16, n, dim int)
