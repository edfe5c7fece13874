// SPDX-License-Identifier: Apache-2.0

package stats

import "math"

// The search for a unit of which all sums are multiples: the smallest sum divided
// by up to so many, and the distribution over the multiples with up to so many steps.
const (
	mostDivisions = 60
	mostSteps     = 20_000_000
)

// lattice is the p-value where the sums are multiples of one unit: the distribution
// of the sum of those with a plus is computed, one sum after the other, without
// subtraction, so that tiny tails keep their digits.
func lattice(sums []float64, bound float64) (p float64, ok bool) {
	unit, total := unitOf(sums)
	if unit == 0 || float64(len(sums))*total > mostSteps {
		return 0, false
	}
	probability := make([]float64, int(total)+1)
	probability[0] = 1
	reached := 0
	for _, s := range sums {
		step := int(math.Round(math.Abs(s) / unit))
		reached += step
		for t := reached; t >= 0; t-- {
			half := probability[t] / 2
			if t >= step {
				half += probability[t-step] / 2
			}
			probability[t] = half
		}
	}
	for t := reached; t >= 0 && unit*float64(2*t-reached) >= bound; t-- {
		p += probability[t]
	}
	return min(1, 2*p), true // the other tail is as heavy
}

// unitOf finds the unit, and how many there are in all sums; 0 if there is none.
func unitOf(sums []float64) (unit, total float64) {
	least, size := math.Inf(1), 0.0
	for _, s := range sums {
		least, size = min(least, math.Abs(s)), size+math.Abs(s)
	}
	for k := 1; k <= mostDivisions; k++ {
		unit := least / float64(k)
		multiples := true
		for _, s := range sums {
			m := math.Abs(s) / unit
			multiples = multiples && m < mostSteps && math.Abs(m-math.Round(m)) < 1e-6
		}
		if multiples {
			return unit, math.Round(size / unit)
		}
	}
	return 0, 0
}

// saddlepoint is the two-sided tail of the sum of ±sums beyond x > 0, by Lugannani
// and Rice: the cumulant function of the sum is Σ log cosh(t·s).
func saddlepoint(sums []float64, x float64) float64 {
	size, largest := 0.0, 0.0
	for _, s := range sums {
		size, largest = size+math.Abs(s), max(largest, math.Abs(s))
	}
	if x >= size*(1-1e-9) { // one pattern and its opposite
		return math.Ldexp(1, 1-len(sums))
	}
	// Everything in units of the largest sum; then t grows until the slope is x.
	x /= largest
	slope := func(t float64) (first, second float64) {
		for _, s := range sums {
			s = math.Abs(s) / largest
			h := math.Tanh(t * s)
			first, second = first+s*h, second+s*s*(1-h*h)
		}
		return first, second
	}
	low, high := 0.0, 1.0
	for {
		if first, _ := slope(high); first >= x || high > 1e6 {
			break
		}
		low, high = high, 2*high
	}
	for range 200 { // halves the bracket to the last bit
		if first, _ := slope((low + high) / 2); first < x {
			low = (low + high) / 2
		} else {
			high = (low + high) / 2
		}
	}
	t := (low + high) / 2
	_, second := slope(t)
	cumulant := 0.0
	for _, s := range sums {
		s = t * math.Abs(s) / largest
		cumulant += s + math.Log1p(math.Exp(-2*s)) - math.Ln2 // log cosh without overflow
	}
	w, u := math.Sqrt(2*max(0, t*x-cumulant)), t*math.Sqrt(second)
	if w < 1e-6 { // the middle, where the formula is 0/0
		return 1
	}
	tail := normalCDF(-w) + math.Exp(-w*w/2)/math.Sqrt(2*math.Pi)*(1/u-1/w)
	return min(1, 2*tail)
}
