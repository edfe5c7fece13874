// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

const (
	// signStep is the step of the best uniform quantizer of eight levels, in standard
	// deviations of a normal distribution (Max, "Quantizing for minimum distortion", IRE
	// Transactions on Information Theory 6(1), 1960, table II). Four levels lose three
	// times as much, sixteen gain little beside what is lost of the rows.
	signStep = .5860
	turnSeed = 1
)

// signs are a first look at rows: the signs of their components after a random
// rotation (Gao and Long, "RaBitQ: quantizing high-dimensional vectors with a
// theoretical error bound for approximate nearest neighbor search", SIGMOD 2024).
type signs struct {
	turn  rotation
	bits  []uint64 // signGroup rows after the other, word by word
	units []float32
}

// words are those of a row.
func (r rotation) words() int { return r.width / 64 }

// signRow writes the signs of a row to its lane of a group. The
// score of the row is estimated by unit · Σ sign·component of the turned query, which
// is right in the mean over rotations (section 3.2 of the paper: o/⟨ō,o⟩). turned is
// for use in between.
func (r rotation) signRow(group []uint64, lane int, row, turned []float32) (unit float32) {
	r.apply(turned, row)
	sum := 0.0
	for w := range r.words() {
		word := uint64(0)
		for j, c := range turned[64*w : 64*w+64] {
			sum += math.Abs(float64(c))
			word |= uint64(math.Float32bits(c)>>31) << j
		}
		group[w*signGroup+lane] = word
	}
	if sum == 0 {
		return 0
	}
	return float32(norm(row) * norm(turned) / sum)
}

// signQuery writes the planes of a query, word by word: magnitudes are 1, 3, 5 or 7
// steps, which differ from 1 by 2 for the one bit and 4 for the other. It returns the
// sum of the magnitudes.
func (r rotation) signQuery(planes []uint64, query, turned []float32) (most int32) {
	r.apply(turned, query)
	step := signStep * norm(turned) / math.Sqrt(float64(r.width))
	for w := range r.words() {
		var sign, two, four uint64
		for j, c := range turned[64*w : 64*w+64] {
			level := uint64(min(3, math.Abs(float64(c))/step))
			sign |= uint64(math.Float32bits(c)>>31) << j
			two |= level & 1 << j
			four |= level >> 1 << j
			most += int32(1 + 2*level)
		}
		planes[signPlanes*w], planes[signPlanes*w+1], planes[signPlanes*w+2] = sign, two, four
	}
	return most
}

// rotation turns vectors at random, in two rounds of random signs and a Walsh–Hadamard
// transform (Ailon and Chazelle, "The fast Johnson–Lindenstrauss transform", SIAM
// Journal on Computing 39(1), 2009). A width that is no power of two is transformed in
// blocks that are one, and the blocks are mirrored into each other (Householder). It
// makes vectors block times longer.
type rotation struct {
	width, block int
	flips        [2][]float32
}

func newRotation(dim int) rotation {
	width := roundUp(dim, 64)
	r := rotation{width: width, block: width & -width}
	rng := rand.New(rand.NewPCG(turnSeed, uint64(dim)))
	for i := range r.flips {
		r.flips[i] = make([]float32, r.width)
		for j := range r.flips[i] {
			r.flips[i][j] = float32(1 - 2*rng.IntN(2))
		}
	}
	return r
}

// apply writes a turned vector to dst.
func (r rotation) apply(dst, v []float32) {
	clear(dst[copy(dst, v):])
	for _, flip := range r.flips {
		for i, f := range flip {
			dst[i] *= f
		}
		for i := 0; i < r.width; i += r.block {
			hadamard(dst[i : i+r.block])
		}
		if r.block < r.width {
			r.mirror(dst)
		}
	}
}

// mirror mirrors the blocks at the plane between them: each loses twice their mean.
func (r rotation) mirror(v []float32) {
	twice := 2 * float32(r.block) / float32(r.width)
	for j := range r.block {
		sum := float32(0)
		for i := j; i < r.width; i += r.block {
			sum += v[i]
		}
		sum = float32(sum * twice) // rounded, on machines that would not
		for i := j; i < r.width; i += r.block {
			v[i] -= sum
		}
	}
}

// hadamard is the fast Walsh–Hadamard transform, two steps at a time.
func hadamard(v []float32) {
	h := 1
	if bits.Len(uint(len(v)))%2 == 0 { // an odd number of steps
		for i := 0; i < len(v); i += 2 {
			v[i], v[i+1] = v[i]+v[i+1], v[i]-v[i+1]
		}
		h = 2
	}
	for ; h < len(v); h *= 4 {
		for i := 0; i < len(v); i += 4 * h {
			a, b, c, d := v[i:][:h], v[i+h:][:h], v[i+2*h:][:h], v[i+3*h:][:h]
			for j, x := range a {
				p, m, q, n := x+b[j], x-b[j], c[j]+d[j], c[j]-d[j]
				a[j], b[j], c[j], d[j] = p+q, m+n, p-q, m-n
			}
		}
	}
}
