// SPDX-License-Identifier: Apache-2.0

package vector

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	k := portable()
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = kernels{dot: dotAVX2, dotGroup: dotGroupAVX2, dotCodes: dotCodesAVX2, differ: differRows, codesPay: true}
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
			k.dotGroup = dotGroupAVX512
		}
		if cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI {
			k.dotCodes = dotCodesVNNI
		}
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPOPCNTDQ {
			k.differ = differVPOPCNT
		}
	}
	return k
}

func dotAVX2(out, rows, query []float32) {
	if len(out) > 0 {
		dot4AVX2(&out[0], &rows[:len(out)*len(query)][0], &query[0], len(out), len(query))
	}
}

func dotGroupAVX2(out, rows, queries []float32) {
	if n, dim := len(out)/queryGroup, len(queries)/queryGroup; n > 0 {
		dot2x4AVX2(&out[0], &rows[:n*dim][0], &queries[0], n, dim)
	}
}

func dotGroupAVX512(out, rows, queries []float32) {
	if n, dim := len(out)/queryGroup, len(queries)/queryGroup; n > 0 {
		dot4x4AVX512(&out[0], &rows[:n*dim][0], &queries[0], n, dim)
	}
}

func dotCodesAVX2(out []int32, codes []int8, query []int16) {
	if len(out) > 0 {
		codes4AVX2(&out[0], &codes[:len(out)*len(query)][0], &query[0], len(out), len(query))
	}
}

func dotCodesVNNI(out []int32, codes []int8, query []int16) {
	if len(out) > 0 {
		codes4VNNI(&out[0], &codes[:len(out)*len(query)][0], &query[0], len(out), len(query))
	}
}

func differVPOPCNT(out []int32, rows, planes []uint64) {
	if n, words := len(out), len(planes)/signPlanes; n > 0 {
		differ8VPOPCNT(&out[0], &rows[:n*words][0], &planes[0], n, words)
	}
}

// The assembly expects n to be a multiple of rowGroup and dim one of
// laneWidth, both positive; for signs, n one of signGroup.

//go:noescape
func dot4AVX2(out, rows, query *float32, n, dim int)

//go:noescape
func dot2x4AVX2(out, rows, queries *float32, n, dim int)

//go:noescape
func dot4x4AVX512(out, rows, queries *float32, n, dim int)

//go:noescape
func codes4AVX2(out *int32, codes *int8, query *int16, n, dim int)

//go:noescape
func codes4VNNI(out *int32, codes *int8, query *int16, n, dim int)

//go:noescape
func differ8VPOPCNT(out *int32, rows, planes *uint64, n, words int)
