// SPDX-License-Identifier: Apache-2.0

package cluster

import "golang.org/x/sys/cpu"

// kernelDim is up to how many components rows have a kernel for the M step. Trees have
// mixtures in ten.
const kernelDim = 16

// fastScore does what score does, if there is a kernel.
func fastScore(scores, top *lanes, rows, centred []lanes, mean, whiten []float64, constant float64) bool {
	d := len(mean)
	if !cpu.X86.HasAVX512F || d == 0 {
		return false
	}
	score16AVX512(scores, top, &rows[:d][0], &centred[:d][0], &mean[0], &whiten[:d*d][0], d, constant)
	return true
}

// fastNear does what findNear does, if there is a kernel.
func fastNear(near []uint16, scores []lanes, top *lanes) bool {
	if !cpu.X86.HasAVX512F || len(near) == 0 {
		return false
	}
	near16AVX512(&near[0], &scores[:len(near)][0], top, len(near), leastLog)
	return true
}

// fastAdd does what add does, if there is a kernel.
func (s *members) fastAdd(sums []float64) bool {
	if !s.fast() {
		return false
	}
	var wide lanes
	copy(wide[:], sums)
	add16AVX512(&wide, &s.vectors[0], &s.rows[0], &s.shares[0], len(s.rows), s.dim)
	copy(sums, wide[:])
	return true
}

// fastSpread does what spread does, if there is a kernel.
func (s *members) fastSpread(covariance, mean []float64) bool {
	if !s.fast() {
		return false
	}
	var wide lanes
	var square [kernelDim]lanes
	copy(wide[:], mean)
	spread16AVX512(&square, &wide, &s.vectors[0], &s.rows[0], &s.shares[0], len(s.rows), s.dim)
	for j := range s.dim {
		for l := range j + 1 {
			covariance[j*s.dim+l] += square[j][l]
		}
	}
	return true
}

// fast reports whether the kernels take the members.
func (s *members) fast() bool {
	return cpu.X86.HasAVX512F && s.dim <= kernelDim && len(s.rows) > 0
}

// The kernels take rows of d components, all one at least.

//go:noescape
func score16AVX512(scores, top, rows, centred *lanes, mean, whiten *float64, d int, constant float64)

//go:noescape
func near16AVX512(near *uint16, scores, top *lanes, k int, least float64)

//go:noescape
func add16AVX512(sums *lanes, vectors *float32, rows *int32, shares *float64, n, d int)

//go:noescape
func spread16AVX512(square *[kernelDim]lanes, mean *lanes, vectors *float32, rows *int32, shares *float64, n, d int)
