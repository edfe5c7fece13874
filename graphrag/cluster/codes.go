// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// codes are vectors in bytes: vector ≈ step · code. Kernels take
// four products of them for one of floats, and what is lost is measured, so
// that the error of a score is known.
type codes struct {
	dim    int    // bytes of a row, a multiple of laneWidth
	rows   []int8 // of the vectors
	bounds []coded
	rests  []float32 // lengths of what the codes miss of the vectors
}

// panels are centroids as the kernels want them. The score of a vector x with a centroid c is
// x·c - ½|c|²: the larger, the nearer.
type panels struct {
	floats []float32
	bytes  []uint8   // or codes, lifted by 128: four bytes of each of a panel in turn
	steps  []float32 // of the codes
	// offsets are -½|c|², and -Inf for the rest of the last panel.
	offsets []float32
	reach   float64 // norm of the longest centroid
	missed  float64 // what the codes miss of a centroid at most
}

// coded is what turns the sums of a row's products into scores.
type coded struct {
	step float32
	lift int32 // -128 times the sum of the bytes
}

// maxCode is the greatest code.
const maxCode = 127

// encode makes the codes of vectors of dim components.
func encode(ctx context.Context, vectors []float32, dim, workers int) (*codes, error) {
	n := len(vectors) / dim
	k := &codes{dim: roundUp(dim, laneWidth), bounds: make([]coded, n), rests: make([]float32, n)}
	k.rows = make([]int8, n*k.dim)
	err := par.Ranges(ctx, n, 1024, workers, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			var rest float64
			k.bounds[i], rest = codeRow(k.row(i), vectors[i*dim:(i+1)*dim])
			k.rests[i] = ceil32(rest)
		}
		return nil
	})
	return k, err
}

func (k *codes) row(i int) []int8 { return k.rows[i*k.dim : (i+1)*k.dim] }

// pack encodes centroids for panels of width.
func (k *codes) pack(p *panels, centroids []float32, dim, width int) {
	n := len(centroids) / dim
	padded := roundUp(n, width)
	p.bytes = slices.Grow(p.bytes[:0], padded*k.dim)[:padded*k.dim]
	p.steps = slices.Grow(p.steps[:0], padded)[:padded]
	p.missed = 0
	code := make([]int8, k.dim)
	for c := range n {
		bound, rest := codeRow(code, centroids[c*dim:(c+1)*dim])
		p.steps[c] = bound.step
		p.missed = max(p.missed, rest)
		panel := p.bytes[c/width*width*k.dim:]
		for j, b := range code {
			panel[j/4*4*width+c%width*4+j%4] = uint8(b) ^ 0x80
		}
	}
}

// gather fills a tile with rows.
func (k *codes) gather(tile []int8, bounds []coded, rows []int32) {
	for r, i := range rows {
		copy(tile[r*k.dim:], k.row(int(i)))
		bounds[r] = k.bounds[i]
	}
}

// scoreError bounds how far the estimate of the score of vector i, which is as long as
// length, is from the true one, with any of the centroids: what the codes miss, by
// Cauchy and Schwarz, and five roundings of no more than the magnitudes. The last
// term is for products of steps that are too small.
func (k *codes) scoreError(i int, length float64, p *panels) float64 {
	rest := float64(k.rests[i])
	missed := rest*p.reach + (length+rest)*p.missed
	magnitude := (length+rest)*(p.reach+p.missed) + p.reach*p.reach/2
	return missed + float64(8*0x1p-24+float64(k.dim)*0x1p-50)*(magnitude+length*length) + 0x1p-110
}

// codeRow writes the code of a row and returns with its bound how long what it misses
// is, a little more than measured.
func codeRow(code []int8, row []float32) (coded, float64) {
	step := largest(row) / maxCode
	if step < 0x1p-100 {
		clear(code)
		return coded{}, norm(row) * (1 + 0x1p-20)
	}
	var squares [8]float64
	done, sum := codeFirst(code, row, step, &squares)
	sum += codeRest(code, row, step, &squares, done)
	clear(code[len(row):])
	rest := 0.0
	for _, s := range squares {
		rest += s
	}
	return coded{step: step, lift: -128 * sum}, math.Sqrt(rest) * (1 + 0x1p-20)
}

// codeRest writes the codes from one on, adds the squares of what they miss to every eighth
// sum, and returns the sum of the codes.
func codeRest(code []int8, row []float32, step float32, squares *[8]float64, from int) int32 {
	sum, inverse := int32(0), 1/step
	for j := from; j < len(row); j++ {
		q := float32(float32(row[j]*inverse)+roundBy) - roundBy
		code[j] = int8(q)
		sum += int32(code[j])
		rest := float64(row[j]) - float64(float64(q)*float64(step))
		squares[j%8] += float64(rest * rest)
	}
	return sum
}

// roundBy rounds a small number to a whole one when it is added.
const roundBy = 3 << 22

// codeScores12x32 is in plain Go what kernels.codeScores is of tiles of 12 rows and panels of 32
// centroids.
func codeScores12x32(out []float32, tile []int8, rows []coded, panels []uint8, steps, offsets []float32) {
	const width = 32
	dim := len(tile) / len(rows)
	for r, row := range rows {
		for c := range offsets {
			sum, panel := row.lift, panels[c/width*width*dim:]
			for j, x := range tile[r*dim : (r+1)*dim] {
				sum += int32(x) * int32(panel[j/4*4*width+c%width*4+j%4])
			}
			out[r*len(offsets)+c] = float32(float32(sum)*float32(row.step*steps[c])) + offsets[c]
		}
	}
}
