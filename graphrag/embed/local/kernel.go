// SPDX-License-Identifier: Apache-2.0

package local

import "math"

// Kernels write tiles of tileRows rows and panel columns, so that they need no code
// for the rest. The depth is any.
const (
	tileRows = 12
	panel    = 32
	strip    = panel / 2
)

// kernels are the inner loops of a forward pass. What they make of a row depends on
// nothing but that row and its length.
type kernels struct {
	// multiply writes a·b + bias to c: rows (a multiple of tileRows) of depth numbers,
	// lda apart, times one panel. A panel holds depth rows of its first strip, then
	// those of its second. Each element of c is summed up from the bias and the first
	// product to the last.
	multiply func(c, a, b, bias []float32, rows, depth, ldc, lda int)
	// gelu: x·Φ(x) for each number; their count is a multiple of strip.
	gelu func(x []float32)
	// softmax of a row whose length is a multiple of strip.
	softmax func(x []float32)
	// normalize brings x + base to mean 0 and variance 1, then to gain and bias (Ba and
	// others 2016). The length is a multiple of panel.
	normalize func(x, base, gain, bias []float32, eps float32)
}

// portable are the kernels in plain Go.
func portable() kernels {
	return kernels{multiply: multiply, gelu: gelu, softmax: softmax, normalize: normalize}
}

// multiply sums up four columns at a time: as many as a compiler keeps in registers
// with what they are made of.
func multiply(c, a, b, bias []float32, rows, depth, ldc, lda int) {
	for r := range rows {
		row := a[r*lda : r*lda+depth]
		for col := 0; col < panel; col += 4 {
			part := b[col/strip*depth*strip+col%strip:]
			out := c[r*ldc+col:][:4]
			s0, s1, s2, s3 := bias[col], bias[col+1], bias[col+2], bias[col+3]
			for l, x := range row {
				p := part[l*strip:][:4]
				s0 += x * p[0]
				s1 += x * p[1]
				s2 += x * p[2]
				s3 += x * p[3]
			}
			out[0], out[1], out[2], out[3] = s0, s1, s2, s3
		}
	}
}

// exp is e^x for x of at most 0, to two units in the last place: 2^n times the
// Taylor series of the rest, which lies within ±ln(2)/2.
func exp(x float32) float32 {
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

// gelu takes half the complementary error function from Abramowitz and Stegun,
// 7.1.26, whose error is below 1.5e-7: with q = erfc(|x|/√2)/2, xΦ(x) is x − xq
// above zero and −|x|q below.
func gelu(x []float32) {
	for i, v := range x {
		z := float32(math.Abs(float64(v))) * (1 / math.Sqrt2)
		t := 1 / (1 + erfP*z)
		q := ((((erf5*t+erf4)*t+erf3)*t+erf2)*t + erf1) * t * exp(-z*z)
		x[i] = max(v, 0) - float32(math.Abs(float64(v)))*q
	}
}

// The coefficients of 7.1.26, those of the polynomial halved.
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
		x[i] = exp(v - most)
		sum += x[i]
	}
	scale := 1 / sum
	for i := range x {
		x[i] *= scale
	}
}

func normalize(x, base, gain, bias []float32, eps float32) {
	add(x, base)
	mean := sum(x, func(v float32) float32 { return v }) / float32(len(x))
	variance := sum(x, func(v float32) float32 { return (v - mean) * (v - mean) }) / float32(len(x))
	scale := 1 / float32(math.Sqrt(float64(variance+eps)))
	for i, v := range x {
		x[i] = (v-mean)*scale*gain[i] + bias[i]
	}
}

// sum keeps eight sums: more round less.
func sum(x []float32, of func(float32) float32) float32 {
	var s [8]float32
	for ; len(x) >= len(s); x = x[len(s):] {
		for j := range s {
			s[j] += of(x[j])
		}
	}
	return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]))
}

// add adds the first numbers of from, as many as to has.
func add(to, from []float32) {
	for i, x := range from[:len(to)] {
		to[i] += x
	}
}
