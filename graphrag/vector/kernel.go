// SPDX-License-Identifier: Apache-2.0

package vector

import "math/bits"

// Kernels read vectors whose length is a multiple of laneWidth, and rows in
// groups of rowGroup, so that they need no code for the rest.
const (
	laneWidth = 32
	rowGroup  = 4
	// signGroup rows are stored together, word by word, so that they can be compared side by side.
	signGroup = 8
	// signPlanes is the number of words of a query for one word of a row: the signs,
	// and two bits of the magnitudes.
	signPlanes = 3
)

// kernels are the inner loops of a scan. All slices are flat and of matching lengths: rows has len(out)
// vectors as long as query, len(out) is a multiple of rowGroup.
//
// They are exact.
type kernels struct {
	// dotCodes: out[i] = codes[i] · query.
	dotCodes func(out []int32, codes []int8, query *queryCode)
	// codesPay reports whether dotCodes is faster than [dotRows]. In plain Go it is
	// not: there are fewer multipliers for integers.
	codesPay bool
}

// portable are the kernels in plain Go.
func portable() kernels {
	return kernels{dotCodes: dotCodeRows}
}

// dotRows: out[i] = rows[i] · query, but for rounding, see [floatError].
func dotRows(out, rows, query []float32) {
	for i := range out {
		out[i] = dot32(rows[i*len(query):(i+1)*len(query)], query)
	}
}

// dot32 keeps eight sums: fewer wait for the adder.
func dot32(x, y []float32) float32 {
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(x) >= 8 && len(y) >= 8 {
		s0 += x[0] * y[0]
		s1 += x[1] * y[1]
		s2 += x[2] * y[2]
		s3 += x[3] * y[3]
		s4 += x[4] * y[4]
		s5 += x[5] * y[5]
		s6 += x[6] * y[6]
		s7 += x[7] * y[7]
		x, y = x[8:], y[8:]
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}

// dotCodeRows takes rows in groups, to load each part of the query once.
func dotCodeRows(out []int32, codes []int8, query *queryCode) {
	dim := len(query.words)
	for ; len(out) >= rowGroup; out, codes = out[rowGroup:], codes[rowGroup*dim:] {
		a, b, c, d := codes[:dim], codes[dim:][:dim], codes[2*dim:][:dim], codes[3*dim:][:dim]
		var s0, s1, s2, s3 int32
		for i, q := range query.words {
			s0 += int32(a[i]) * int32(q)
			s1 += int32(b[i]) * int32(q)
			s2 += int32(c[i]) * int32(q)
			s3 += int32(d[i]) * int32(q)
		}
		out[0], out[1], out[2], out[3] = s0, s1, s2, s3
	}
}

// differRows: out[i] is the sum of the magnitudes of the query where its sign
// differs from row i. bits contains len(out) rows, whole groups.
func differRows(out []int32, rows, planes []uint64) {
	for ; len(out) >= signGroup; out = out[signGroup:] {
		var sums [signGroup]int
		for p := planes; len(p) >= signPlanes; p = p[signPlanes:] {
			group := rows[:signGroup]
			rows = rows[signGroup:]
			for i, word := range group {
				word ^= p[0]
				sums[i] += bits.OnesCount64(word) + 2*bits.OnesCount64(word&p[1]) + 4*bits.OnesCount64(word&p[2])
			}
		}
		for i, sum := range sums {
			out[i] = int32(sum)
		}
	}
}

// exactDot is the definition of the score: float64, four sums in a fixed order. The compiler may fuse
// multiplication and addition or not, because the products are exact.
func exactDot(x, y []float32) float64 {
	var s0, s1, s2, s3 float64
	for len(x) >= 4 && len(y) >= 4 {
		s0 += float64(x[0]) * float64(y[0])
		s1 += float64(x[1]) * float64(y[1])
		s2 += float64(x[2]) * float64(y[2])
		s3 += float64(x[3]) * float64(y[3])
		x, y = x[4:], y[4:]
	}
	return (s0 + s1) + (s2 + s3)
}
