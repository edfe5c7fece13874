// SPDX-License-Identifier: Apache-2.0

package embed

import "golang.org/x/sys/cpu"

// lanes is the number of components that the assembly sums at the same time.
const lanes = 8

// sumFirst computes as many of the first components of [sumRows] as the assembly can, and returns their number.
func sumFirst(out, x []float32, cols []int32, vals []float32) (done int) {
	if !cpu.X86.HasAVX2 || len(out) < lanes || len(cols) == 0 {
		return 0
	}
	sumRowsAVX2(&out[0], &x[0], &cols[0], &vals[0], len(cols), len(out))
	return len(out) / lanes * lanes
}

// sumRowsAVX2 computes the components of the first whole lanes of rows of width.
//
//go:noescape
func sumRowsAVX2(out, x *float32, cols *int32, vals *float32, n, width int)
