// SPDX-License-Identifier: Apache-2.0

package vector

import "golang.org/x/sys/cpu"

// fastest returns the best kernels this processor can run.
func fastest() kernels {
	k := portable()
	if cpu.X86.HasAVX2 && cpu.X86.HasFMA {
		k = kernels{dot: dotAVX2, dotGroup: dotGroupAVX2, dotCodes: dotCodesAVX2, reach: reachRows, near: nearRowsAVX2, fetch: fetchBytes, differ: differRows, codesPay: true}
		if cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ {
			k.dotGroup = dotGroupAVX512
		}
		if cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VNNI {
			k.dotCodes, k.reach, k.near = dotCodesVNNI, reachRowsAVX512, nearRowsVNNI
			k.pack, k.tile = packAVX512, tileGroupsVNNI
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

func packAVX512(tile []uint8, codes []int8, dim int) {
	tile = tile[:tileRows*dim]
	for i := 0; i < tileRows; i += 16 {
		pack16AVX512(&tile[4*i], &codes[i*dim:][:16*dim][0], dim)
	}
}

func tileGroupsVNNI(masks []uint64, tile []uint8, bounds *tileBounds, queries []int8, probes []probe, dim int) {
	if n := len(probes); n > 0 {
		tileVNNI(&masks[:n][0], &tile[:tileRows*dim][0], &bounds[0], &queries[:n*dim][0], &probes[0], n/tileQueries, dim)
	}
}

func nearRowsAVX2(out []float32, codes []*int8, bounds []*bound, query []int8) {
	if n := len(out); n > 0 {
		nearAVX2(&out[0], &codes[:n][0], &bounds[:n][0], &query[0], n, len(query))
	}
}

func nearRowsVNNI(out []float32, codes []*int8, bounds []*bound, query []int8) {
	if n := len(out); n > 0 {
		nearVNNI(&out[0], &codes[:n][0], &bounds[:n][0], &query[0], n, len(query))
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
func codes4VNNI(out *int32, codes, planes *int8, offset int32, n, dim int)

//go:noescape
func differ8VPOPCNT(out *int32, rows, planes *uint64, n, words int)

//go:noescape
func reachAVX512(masks *uint16, sums *int32, bounds *bound, n int, step, slack, cut float32)

//go:noescape
func pack16AVX512(tile *uint8, codes *int8, dim int)

//go:noescape
func tileVNNI(masks *uint64, tile *uint8, bounds *float32, queries *int8, probes *probe, groups, dim int)

//go:noescape
func nearAVX2(out *float32, codes **int8, bounds **bound, query *int8, n, dim int)

//go:noescape
func nearVNNI(out *float32, codes **int8, bounds **bound, query *int8, n, dim int)

// fetchBytes lets the processor fetch bytes that will be read.
//
//go:noescape
func fetchBytes(first *byte, n int)
