// SPDX-License-Identifier: Apache-2.0

package cluster

import "math"

// norm returns the Euclidean length: squares of float32 are exact in float64
// and cannot overflow there.
func norm(v []float32) float64 {
	var s0, s1, s2, s3 float64
	for ; len(v) >= 4; v = v[4:] {
		s0 += float64(v[0]) * float64(v[0])
		s1 += float64(v[1]) * float64(v[1])
		s2 += float64(v[2]) * float64(v[2])
		s3 += float64(v[3]) * float64(v[3])
	}
	for _, c := range v {
		s0 += float64(c) * float64(c)
	}
	return math.Sqrt((s0 + s1) + (s2 + s3))
}

// largest returns the greatest magnitude.
func largest(v []float32) float32 {
	done, bits := largestFirst(v) // magnitudes of floats are in the order of their bits
	for _, c := range v[done:] {
		bits = max(bits, math.Float32bits(c)&^(1<<31))
	}
	return math.Float32frombits(bits)
}

// ceil32 rounds up.
func ceil32(x float64) float32 {
	f := float32(x)
	if float64(f) < x {
		f = math.Nextafter32(f, float32(math.Inf(1)))
	}
	return f
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
