// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

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
		centred := make([]float64, m.Dim)
		for i := lo; i < hi; i++ {
			row := p[i*m.K : (i+1)*m.K]
			for c := range row {
				for j, x := range vectors[i*m.Dim : (i+1)*m.Dim] {
					centred[j] = float64(x) - m.Means[c*m.Dim+j]
				}
				row[c] = m.constant[c] - m.mahalanobis(c, centred)/2
			}
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

// mahalanobis returns the squared distance of a centred vector from the mean in
// units of the deviations of the component.
func (m *Mixture) mahalanobis(c int, centred []float64) float64 {
	sum, d := 0.0, m.Dim
	whiten := m.whiten[c*d*d : (c+1)*d*d]
	for j := range d {
		z := 0.0
		for l, w := range whiten[j*d : j*d+j+1] {
			z += w * centred[l]
		}
		sum += z * z
	}
	return sum
}

// maximize is the M step: weights, means and covariances from probabilities.
func (m *Mixture) maximize(ctx context.Context, vectors []float32, p []float64, regularization float64) error {
	shape := m.Dim * m.Dim
	m.Weights, m.Means, m.Covariances = make([]float64, m.K), make([]float64, m.K*m.Dim), make([]float64, m.K*shape)
	err := par.Each(ctx, m.K, m.workers, func(c int) error {
		m.estimate(c, vectors, p, regularization, m.Covariances[c*shape:(c+1)*shape])
		return nil
	})
	if err != nil {
		return err
	}
	return m.factor()
}

// negligible is a probability that adds nothing to a covariance in the 16 digits of a
// float64. Most are below it.
const negligible = 1e-18

// estimate computes one component.
func (m *Mixture) estimate(c int, vectors []float32, p []float64, regularization float64, covariance []float64) {
	d := m.Dim
	// The least weight keeps a component that has lost all vectors defined.
	weight, mean := 10*0x1p-52, m.Means[c*d:(c+1)*d]
	for i := range m.N {
		r := p[i*m.K+c]
		weight += r
		for j, x := range vectors[i*d : (i+1)*d] {
			mean[j] += r * float64(x)
		}
	}
	for j := range mean {
		mean[j] /= weight
	}
	centred := make([]float64, d)
	for i := range m.N {
		r := p[i*m.K+c]
		if r < negligible {
			continue
		}
		for j, x := range vectors[i*d : (i+1)*d] {
			centred[j] = float64(x) - mean[j]
		}
		for j, z := range centred {
			row, rz := covariance[j*d:j*d+j+1], r*z
			for l := range row {
				row[l] += rz * centred[l]
			}
		}
	}
	for j := range covariance {
		covariance[j] /= weight
	}
	for j := range d {
		covariance[j*d+j] += regularization
		for l := range j {
			covariance[l*d+j] = covariance[j*d+l]
		}
	}
	m.Weights[c] = weight / float64(m.N)
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
	for c := range m.K {
		logs, ok := invertedCholesky(m.whiten[c*d*d:(c+1)*d*d], m.Covariances[c*d*d:(c+1)*d*d], d) // ln of the product of the deviations
		if !ok || math.IsInf(logs, 0) || math.IsNaN(logs) {
			return fmt.Errorf("cluster: component %d of %d: %w: use fewer components, fewer dimensions, or a larger Regularization",
				c, m.K, ErrSingular)
		}
		m.constant[c] = math.Log(m.Weights[c]) - float64(d)/2*math.Log(2*math.Pi) - logs
	}
	return nil
}

// invertedCholesky writes the inverse of the lower triangular L with L·Lᵀ = a to
// inverse and returns ln det L, or false if a is not positive definite.
func invertedCholesky(inverse, a []float64, d int) (float64, bool) {
	var cholesky mat.Cholesky
	if !cholesky.Factorize(mat.NewSymDense(d, a)) {
		return 0, false
	}
	var l mat.TriDense
	cholesky.LTo(&l)
	err := mat.NewTriDense(d, mat.Lower, inverse).InverseTri(&l)
	return cholesky.LogDet() / 2, err == nil
}
