// SPDX-License-Identifier: Apache-2.0

package cluster

import "math"

// abreast is how many rows are measured at once: the sums of one wait for each other,
// those of several do not.
const abreast = 16

// lanes has a number for each row.
type lanes [abreast]float64

// lowest returns lanes that are below all numbers.
func lowest() (l lanes) {
	for r := range l {
		l[r] = math.Inf(-1)
	}
	return l
}

// score computes the logarithms of the densities of a component times its weight, and
// raises top to them.
func (b *block) score(m *Mixture, c int, top *lanes) {
	d := m.Dim
	mean, whiten := m.Means[c*d:(c+1)*d], m.whiten[c*d*d:(c+1)*d*d]
	if !fastScore(&b.scores[c], top, b.rows, b.centred, mean, whiten, m.constant[c]) {
		b.plainScore(&b.scores[c], top, mean, whiten, m.constant[c])
	}
}

func (b *block) plainScore(scores, top *lanes, mean, whiten []float64, constant float64) {
	for j, mean := range mean {
		x, z := &b.rows[j], &b.centred[j]
		for r := range x {
			z[r] = x[r] - mean
		}
	}
	for half := 0; half < abreast; half += abreast / 2 {
		for r, sum := range mahalanobis(whiten, b.centred, half) {
			score := constant - sum/2
			scores[half+r] = score
			if score > top[half+r] {
				top[half+r] = score
			}
		}
	}
}

// mahalanobis returns the squared distances of half of the centred rows from the mean in
// units of the deviations of the component.
func mahalanobis(whiten []float64, centred []lanes, half int) (sums [abreast / 2]float64) {
	d := len(centred)
	for j := range d {
		row := whiten[j*d : j*d+j+1]
		centred := centred[:len(row)]
		var z0, z1, z2, z3, z4, z5, z6, z7 float64
		for l, w := range row {
			x := (*[abreast / 2]float64)(centred[l][half:])
			z0 += float64(w * x[0])
			z1 += float64(w * x[1])
			z2 += float64(w * x[2])
			z3 += float64(w * x[3])
			z4 += float64(w * x[4])
			z5 += float64(w * x[5])
			z6 += float64(w * x[6])
			z7 += float64(w * x[7])
		}
		for r, z := range [abreast / 2]float64{z0, z1, z2, z3, z4, z5, z6, z7} {
			sums[r] += float64(z * z)
		}
	}
	return sums
}

// findNear writes for each component the rows, as bits, whose score is not much below the
// top.
func findNear(near []uint16, scores []lanes, top *lanes) {
	if !fastNear(near, scores, top) {
		plainNear(near, scores, top)
	}
}

func plainNear(near []uint16, scores []lanes, top *lanes) {
	for c := range near {
		near[c] = 0
		for r, score := range scores[c] {
			if score-top[r] > leastLog {
				near[c] |= 1 << r
			}
		}
	}
}

// add adds the rows times their shares to sums.
func (s *members) add(sums []float64) {
	if !s.fastAdd(sums) {
		s.plainAdd(sums)
	}
}

func (s *members) plainAdd(sums []float64) {
	for i, row := range s.rows {
		share := s.shares[i]
		for j, x := range s.vectors[int(row)*s.dim:][:len(sums)] {
			sums[j] += float64(share * float64(x))
		}
	}
}

// spread adds up the lower triangle of the sum of the shares times z·zᵀ, where z is a row
// less the mean.
func (s *members) spread(covariance, mean []float64) {
	if !s.fastSpread(covariance, mean) {
		s.plainSpread(covariance, mean)
	}
}

func (s *members) plainSpread(covariance, mean []float64) {
	centred := make([]float64, s.dim)
	for i, row := range s.rows {
		for j, x := range s.vectors[int(row)*s.dim:][:s.dim] {
			centred[j] = float64(x) - mean[j]
		}
		addSquare(covariance, centred, s.shares[i])
	}
}

// addSquare adds r·z·zᵀ to the lower triangle of a matrix, two rows at a time.
func addSquare(matrix, z []float64, r float64) {
	d, j := len(z), 0
	for ; j+1 < d; j += 2 {
		first, second := matrix[j*d:][:j+1], matrix[(j+1)*d:][:j+2]
		rz0, rz1 := r*z[j], r*z[j+1]
		for l, y := range z[:j+1] {
			first[l] += float64(rz0 * y)
			second[l] += float64(rz1 * y)
		}
		second[j+1] += float64(rz1 * z[j+1])
	}
	if j < d {
		row, rz := matrix[j*d:][:j+1], r*z[j]
		for l, y := range z[:j+1] {
			row[l] += float64(rz * y)
		}
	}
}
