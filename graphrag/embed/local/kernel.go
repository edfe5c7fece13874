// SPDX-License-Identifier: Apache-2.0

package local

import "math"

// kernels are the inner loops of a forward pass beside the products. Their lengths are multiples of matrix.Strip.
type kernels struct {
	// gelu: x·Φ(x) for each number.
	gelu func(x []float32)
	// softmax of a row.
	softmax func(x []float32)
	// normalize brings x + base to mean 0 and variance 1, then to gain and bias (Ba and others 2016).
	normalize func(x, base, gain, bias []float32, eps float32)
}

// portable are the kernels in plain Go.
func portable() kernels { return kernels{gelu: gelu, softmax: softmax, normalize: normalize} }

// exp32 is e^x for x of at most 0, to two units in the last place: 2^n times the
// Taylor series of the rest, which is within ±ln(2)/2.
func exp32(x float32) float32 {
	x = max(x, expLeast)
	n := float32(math.RoundToEven(float64(x * log2e)))
	r := x - n*ln2High - n*ln2Low
	p := float32(1. / 5040)
	for _, c := range [...]float32{1. / 720, 1. / 120, 1. / 24, 1. / 6, 1. / 2, 1, 1} {
		p = p*r + c
	}
	return p * math.Float32frombits(uint32(127+int32(n))<<23)
}

const (
	expLeast = -80 // far below what counts, far above the numbers that processors are slow with
	log2e    = 1.44269504
	ln2High  = 0.693359375 // few digits: its products with whole numbers are exact
	ln2Low   = -2.12194440e-4
)

// gelu takes half the complementary error function from Abramowitz and Stegun, 7.1.26, whose error is below
// 1.5e-7: with q = erfc(|x|/√2)/2, xΦ(x) is x − xq above zero and −|x|q below.
func gelu(x []float32) {
	for i, v := range x {
		z := float32(math.Abs(float64(v))) * (1 / math.Sqrt2)
		t := 1 / (1 + erfP*z)
		q := ((((erf5*t+erf4)*t+erf3)*t+erf2)*t + erf1) * t * exp32(-z*z)
		x[i] = max(v, 0) - float32(math.Abs(float64(v)))*q
	}
}

// The coefficients of 7.1.26, for the polynomial halved.
const (
	erfP = 0.3275911
	erf1 = 0.254829592 / 2
	erf2 = -0.284496736 / 2
	erf3 = 1.421413741 / 2
	erf4 = -1.453152027 / 2
	erf5 = 1.061405429 / 2
)

func softmax(x []float32) {
	most := x[0]
	for _, v := range x {
		most = max(most, v)
	}
	sum := float32(0)
	for i, v := range x {
		x[i] = exp32(v - most)
		sum += x[i]
	}
	scale := 1 / sum
	for i := range x {
		x[i] *= scale
	}
}

func normalize(x, base, gain, bias []float32, eps float32) {
	add(x, base)
	mean := total(x) / float32(len(x))
	var s [8]float32
	for at := 0; at < len(x); at += len(s) {
		for j, v := range x[at : at+len(s)] {
			s[j] += (v - mean) * (v - mean)
		}
	}
	scale := 1 / float32(math.Sqrt(float64(eight(s)/float32(len(x))+eps)))
	gain, bias = gain[:len(x)], bias[:len(x)]
	for i, v := range x {
		x[i] = (v-mean)*scale*gain[i] + bias[i]
	}
}

// total adds up in eight sums, which lose fewer digits than one.
func total(x []float32) float32 {
	var s [8]float32
	for at := 0; at < len(x); at += len(s) {
		for j, v := range x[at : at+len(s)] {
			s[j] += v
		}
	}
	return eight(s)
}

func eight(s [8]float32) float32 {
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// add adds the first numbers of from, as many as to has.
func add(to, from []float32) {
	for i, x := range from[:len(to)] {
		to[i] += x
	}
}
