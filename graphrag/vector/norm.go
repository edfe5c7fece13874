// SPDX-License-Identifier: Apache-2.0

package vector

import "math"

// norm returns the Euclidean length: squares of float32 are exact in float64
// and cannot overflow there.
func norm(v []float32) float64 {
	sum := 0.0
	for _, c := range v {
		sum += float64(c) * float64(c)
	}
	return math.Sqrt(sum)
}

// Cosine is the cosine of the angle between two vectors, the same bits on every
// machine. It is 0 if one of them has no length or they have not
// as many components.
func Cosine(a, b []float32) float64 {
	if len(a) != len(b) {
		return 0
	}
	dot, aa, bb := 0.0, 0.0, 0.0
	for i, x := range a {
		x, y := float64(x), float64(b[i])
		dot, aa, bb = dot+x*y, aa+x*x, bb+y*y
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return dot / math.Sqrt(aa*bb)
}

// scale divides v by length, unless that is 0.
func scale(v []float32, length float64) {
	if length == 0 {
		return
	}
	for i, c := range v {
		v[i] = float32(float64(c) / length)
	}
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
