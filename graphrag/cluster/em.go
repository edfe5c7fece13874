// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// mixtureBlock is how many rows a goroutine takes at a time.
const mixtureBlock = 64

// FitMixture fits a mixture of k Gaussians to vectors, rows of length dim, by
// expectation maximization (Dempster, Laird and Rubin 1977) from the clusters
// [KMeans] finds. A k above the number of vectors means that number. Sums are in
// float64; vectors far from the origin for their spread lose digits, so centre
// them first.
func FitMixture(ctx context.Context, vectors []float32, dim, k int, opts MixtureOptions) (*Mixture, error) {
	opts, err := opts.resolve()
	if err := errors.Join(err, checkShape(vectors, dim, k)); err != nil {
		return nil, err
	}
	var best *Mixture
	for i := range opts.Inits {
		start, err := KMeans(ctx, vectors, dim, k, KMeansOptions{Seed: opts.Seed + uint64(i), Inits: 1, Workers: opts.Workers})
		if err != nil {
			return nil, err
		}
		m, err := fitFrom(ctx, vectors, start, opts)
		if err != nil {
			return nil, err
		}
		if best == nil || m.LogLikelihood > best.LogLikelihood {
			best = m
		}
	}
	return best, nil
}

// fitFrom runs EM from clusters, of which it reads K, Dim and Labels.
func fitFrom(ctx context.Context, vectors []float32, start *Clustering, opts MixtureOptions) (*Mixture, error) {
	m := &Mixture{K: start.K, Dim: start.Dim, N: len(start.Labels), workers: opts.Workers}
	p := make([]float64, m.N*m.K)
	for i, c := range start.Labels {
		p[i*m.K+int(c)] = 1
	}
	err := m.maximize(ctx, vectors, p, opts.Regularization)
	if err != nil {
		return nil, err
	}
	before := math.Inf(-1)
	for m.Iterations < opts.MaxIterations && !m.Converged {
		p, now, err := m.expect(ctx, vectors)
		if err != nil {
			return nil, err
		}
		if err := m.maximize(ctx, vectors, p, opts.Regularization); err != nil {
			return nil, err
		}
		m.Iterations++
		m.Converged = math.Abs(now-before) < opts.Tolerance*float64(m.N)
		before = now
	}
	_, m.LogLikelihood, err = m.expect(ctx, vectors)
	return m, err
}

// expect is the E step: it returns the probabilities of the components for each
// row and the log-likelihood of all rows.
func (m *Mixture) expect(ctx context.Context, vectors []float32) ([]float64, float64, error) {
	n := len(vectors) / m.Dim
	p, evidence := make([]float64, n*m.K), make([]float64, n)
	err := par.Ranges(ctx, n, mixtureBlock, m.workers, func(_, lo, hi int) error {
		wide, centred := make([][abreast]float64, m.Dim), make([][abreast]float64, m.Dim)
		for i := lo; i < hi; i += abreast {
			n := min(abreast, hi-i)
			for r := range n {
				for j, x := range vectors[(i+r)*m.Dim : (i+r+1)*m.Dim] {
					wide[j][r] = float64(x)
				}
			}
			m.densities(p[i*m.K:(i+n)*m.K], wide, centred)
		}
		for i := lo; i < hi; i++ {
			row := p[i*m.K : (i+1)*m.K]
			evidence[i] = floats.LogSumExp(row)
			for c := range row {
				row[c] = math.Exp(row[c] - evidence[i])
			}
		}
		return nil
	})
	sum := 0.0
	for _, e := range evidence {
		sum += e
	}
	return p, sum, err
}

// abreast is how many rows are measured at once: the sums of one wait for each other,
// those of several do not.
const abreast = 8

// densities writes the logarithms of the weighted densities of a few rows, at most
// abreast, to p. Of the rows it has the first components, then the second ones, and so
// on; centred is scratch.
func (m *Mixture) densities(p []float64, rows, centred [][abreast]float64) {
	for c := range m.K {
		for j, mean := range m.Means[c*m.Dim : (c+1)*m.Dim] {
			x, z := &rows[j], &centred[j]
			for r := range x {
				z[r] = x[r] - mean
			}
		}
		sums := m.mahalanobis(c, centred)
		for r := 0; r*m.K < len(p); r++ {
			p[r*m.K+c] = m.constant[c] - sums[r]/2
		}
	}
}

// mahalanobis returns the squared distances of centred rows from the mean in units of
// the deviations of the component.
func (m *Mixture) mahalanobis(c int, centred [][abreast]float64) (sums [abreast]float64) {
	d := m.Dim
	whiten := m.whiten[c*d*d : (c+1)*d*d]
	for j := range d {
		row := whiten[j*d : j*d+j+1]
		centred := centred[:len(row)]
		var z0, z1, z2, z3, z4, z5, z6, z7 float64
		for l, w := range row {
			x := &centred[l]
			z0 += w * x[0]
			z1 += w * x[1]
			z2 += w * x[2]
			z3 += w * x[3]
			z4 += w * x[4]
			z5 += w * x[5]
			z6 += w * x[6]
			z7 += w * x[7]
		}
		sums[0] += z0 * z0
		sums[1] += z1 * z1
		sums[2] += z2 * z2
		sums[3] += z3 * z3
		sums[4] += z4 * z4
		sums[5] += z5 * z5
		sums[6] += z6 * z6
		sums[7] += z7 * z7
	}
	return sums
}

// maximize is the M step: weights, means and covariances from probabilities.
func (m *Mixture) maximize(ctx context.Context, vectors []float32, p []float64, regularization float64) error {
	m.Weights, m.Means, m.Covariances = make([]float64, m.K), make([]float64, m.K*m.Dim), make([]float64, m.K*m.Dim*m.Dim)
	err := par.Ranges(ctx, m.K, mixtureComponents, m.workers, func(_, lo, hi int) error {
		m.average(lo, hi, vectors, p)
		m.spread(lo, hi, vectors, p)
		for c := lo; c < hi; c++ {
			m.finish(c, regularization)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.factor()
}

// mixtureComponents is how many components a goroutine takes at a time.
const mixtureComponents = 8

// average computes the sums of probabilities and the means of components lo to hi. Most
// probabilities are 0 and add nothing.
func (m *Mixture) average(lo, hi int, vectors []float32, p []float64) {
	d, weights, wide := m.Dim, m.Weights[lo:hi], make([]float64, m.Dim)
	for c := range weights {
		weights[c] = 10 * 0x1p-52 // keeps a component that has lost all vectors defined
	}
	for i := range m.N {
		for j, x := range vectors[i*d : (i+1)*d] {
			wide[j] = float64(x)
		}
		for c, r := range p[i*m.K+lo : i*m.K+hi] {
			if r == 0 {
				continue
			}
			weights[c] += r
			mean := m.Means[(lo+c)*d : (lo+c+1)*d]
			for j, x := range wide[:len(mean)] {
				mean[j] += r * x
			}
		}
	}
	for c, weight := range weights {
		for j := (lo + c) * d; j < (lo+c+1)*d; j++ {
			m.Means[j] /= weight
		}
	}
}

// negligible is a probability that adds nothing to a covariance in the 16 digits of a
// float64. Most are below it.
const negligible = 1e-18

// spread adds up the lower triangles of the covariances of components lo to hi.
func (m *Mixture) spread(lo, hi int, vectors []float32, p []float64) {
	d, centred := m.Dim, make([]float64, m.Dim)
	for i := range m.N {
		x := vectors[i*d : (i+1)*d]
		for c, r := range p[i*m.K+lo : i*m.K+hi] {
			if r < negligible {
				continue
			}
			c += lo
			for j, mean := range m.Means[c*d : (c+1)*d] {
				centred[j] = float64(x[j]) - mean
			}
			addSquare(m.Covariances[c*d*d:(c+1)*d*d], centred, r)
		}
	}
}

// addSquare adds r·z·zᵀ to the lower triangle of a matrix, two rows at a time.
func addSquare(matrix, z []float64, r float64) {
	d, j := len(z), 0
	for ; j+1 < d; j += 2 {
		first, second := matrix[j*d:][:j+1], matrix[(j+1)*d:][:j+2]
		rz0, rz1 := r*z[j], r*z[j+1]
		for l, y := range z[:j+1] {
			first[l] += rz0 * y
			second[l] += rz1 * y
		}
		second[j+1] += rz1 * z[j+1]
	}
	if j < d {
		row, rz := matrix[j*d:][:j+1], r*z[j]
		for l, y := range z[:j+1] {
			row[l] += rz * y
		}
	}
}

// finish makes the covariance and the weight of a component of its sums.
func (m *Mixture) finish(c int, regularization float64) {
	d := m.Dim
	covariance := m.Covariances[c*d*d : (c+1)*d*d]
	for j := range covariance {
		covariance[j] /= m.Weights[c]
	}
	for j := range d {
		covariance[j*d+j] += regularization
		for l := range j {
			covariance[l*d+j] = covariance[j*d+l]
		}
	}
	m.Weights[c] /= float64(m.N)
}

// factor computes what densities are computed from.
func (m *Mixture) factor() error {
	d, total := m.Dim, 0.0
	for _, w := range m.Weights {
		total += w
	}
	for c := range m.Weights {
		m.Weights[c] /= total
	}
	m.whiten, m.constant = make([]float64, len(m.Covariances)), make([]float64, m.K)
	scratch := make([]float64, d*d)
	for c := range m.K {
		logs, ok := invertedCholesky(m.whiten[c*d*d:(c+1)*d*d], m.Covariances[c*d*d:(c+1)*d*d], scratch, d) // ln of the product of the deviations
		if !ok || math.IsInf(logs, 0) || math.IsNaN(logs) {
			return fmt.Errorf("cluster: component %d of %d: %w: use fewer components, fewer dimensions, or a larger Regularization",
				c, m.K, ErrSingular)
		}
		m.constant[c] = math.Log(m.Weights[c]) - float64(d)/2*math.Log(2*math.Pi) - logs
	}
	return nil
}

// invertedCholesky writes the inverse of the lower triangular L with L·Lᵀ = a to
// inverse and returns ln det L, or false if a is not positive definite. factor is
// scratch of the same size.
func invertedCholesky(inverse, a, factor []float64, d int) (float64, bool) {
	copy(factor, a)
	if _, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: d, Data: factor, Stride: d}); !ok {
		return 0, false
	}
	logs := 0.0
	for j := range d {
		logs += math.Log(factor[j*d+j])
		for l := range j + 1 {
			inverse[j*d+l] = factor[l*d+j]
		}
	}
	return logs, lapack64.Trtri(blas64.Triangular{Uplo: blas.Lower, Diag: blas.NonUnit, N: d, Data: inverse, Stride: d})
}
