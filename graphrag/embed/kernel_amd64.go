// SPDX-License-Identifier: Apache-2.0

package embed

import "golang.org/x/sys/cpu"

// lanes and lanes64 are the components that a kernel adds up at a time.
const lanes, lanes64 = 8, 4

// sumFirst computes as many of the first components of [sumRows] as it can, and returns how many.
func sumFirst(out, x []float32, cols []int32, vals []float32) (done int) {
	if !cpu.X86.HasAVX2 || len(out) < lanes || len(cols) == 0 {
		return 0
	}
	sumRowsAVX2(&out[0], &x[0], &cols[0], &vals[0], len(cols), len(out))
	return len(out) / lanes * lanes
}

// sumFirst64 is sumFirst for doubles.
func sumFirst64(out, x []float64, cols []int32, vals []float32) (done int) {
	if !cpu.X86.HasAVX2 || len(out) < lanes64 || len(cols) == 0 {
		return 0
	}
	sumRows64AVX2(&out[0], &x[0], &cols[0], &vals[0], len(cols), len(out))
	return len(out) / lanes64 * lanes64
}

// sumRowsAVX2 computes the components of the first whole lanes of rows of width.
//
//go:noescape
func sumRowsAVX2(out, x *float32, cols *int32, vals *float32, n, width int)

// sumRows64AVX2 is sumRowsAVX2 for doubles.
//
//go:noescape
func sumRows64AVX2(out, x *float64, cols *int32, vals *float32, n, width int)
