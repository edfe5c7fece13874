// SPDX-License-Identifier: Apache-2.0

package vector

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	k := portable()
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = kernels{dot: dotAVX2, dotCodes: dotCodesAVX2, reach: reachRows, differ: differRows, codesPay: true}
		if cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI {
			k.dotCodes, k.reach = dotCodesVNNI, reachRowsAVX512
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

func dotCodesAVX2(out []int32, codes []int8, query *queryCode) {
	if dim := len(query.words); len(out) > 0 {
		codes4AVX2(&out[0], &codes[:len(out)*dim][0], &query.words[0], len(out), dim)
	}
}

func dotCodesVNNI(out []int32, codes []int8, query *queryCode) {
	if dim := len(query.words); len(out) > 0 {
		codes4VNNI(&out[0], &codes[:len(out)*dim][0], &query.planes[0], query.offset, len(out), dim)
	}
}

func reachRowsAVX512(masks []uint16, sums []int32, bounds []bound, step, slack, cut float32) {
	n := len(bounds) / 16 * 16
	if n > 0 {
		reachAVX512(&masks[:n/16][0], &sums[:n][0], &bounds[0], n, step, slack, cut)
	}
	reachRows(masks[n/16:], sums[n:], bounds[n:], step, slack, cut)
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
func codes4AVX2(out *int32, codes *int8, query *int16, n, dim int)

//go:noescape
func codes4VNNI(out *int32, codes, planes *int8, offset int32, n, dim int)

//go:noescape
func differ8VPOPCNT(out *int32, rows, planes *uint64, n, words int)

//go:noescape
func reachAVX512(masks *uint16, sums *int32, bounds *bound, n int, step, slack, cut float32)
