// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// MixtureOptions are the options of [SelectMixture].
type MixtureOptions struct {
	// Seed is the seed of the k-means from which each fit starts.
	Seed uint64
	// Regularization is added to all variances, so that a component on a single point or line has a density; 0
	// means 1e-6. Its unit is the square of the vectors' unit.
	Regularization float64

	inits, maxIterations int     // number of starts, and most rounds of EM per start
	tolerance            float64 // EM ends if the mean log-likelihood per vector rises by less
}

// resolve returns the options with the defaults of scikit-learn 1.2, which RAPTOR uses.
func (o MixtureOptions) resolve() (MixtureOptions, error) {
	c := opt.Checks{Of: "cluster"}
	opt.Min(&c, "Regularization", o.Regularization, 0)
	o.Regularization = cmp.Or(o.Regularization, 1e-6)
	o.inits, o.maxIterations, o.tolerance = cmp.Or(o.inits, 1), cmp.Or(o.maxIterations, 100), cmp.Or(o.tolerance, 1e-3)
	return o, c.Err()
}

// ErrSingular is wrapped by errors about vectors to which no mixture can be fitted in float64: a covariance has
// no inverse despite the regularization.
var ErrSingular = errors.New("singular covariance")

// Mixture is a weighted sum of Gaussian densities. It is immutable and safe for concurrent use.
type Mixture struct {
	// K is the number of components, Dim the length of a vector.
	K, Dim int
	// Weights are the components' weights, whose sum is 1.
	Weights []float64
	// Means has K rows of Dim numbers.
	Means []float64
	// Covariances has K matrices of Dim rows of Dim numbers.
	Covariances []float64
	// N is the number of vectors to which the mixture was fitted, LogLikelihood the sum of the logarithms of
	// their densities.
	N             int
	LogLikelihood float64
	// Iterations is the number of rounds of EM; Converged is true if they ended at a small gain.
	Iterations int
	Converged  bool

	whiten   []float64 // by component: the inverse of the Cholesky factor of its covariance
	constant []float64 // by component: ln weight - Dim/2·ln 2π - ½ ln |covariance|
}

// Parameters returns the number of free parameters: K-1 weights, K·Dim means and K·Dim·(Dim+1)/2 covariances.
func (m *Mixture) Parameters() int { return m.K - 1 + m.K*m.Dim + m.K*m.Dim*(m.Dim+1)/2 }

// BIC returns the Bayesian information criterion, Parameters·ln N - 2·LogLikelihood: of several mixtures for
// the same vectors, the one with the lowest is best.
func (m *Mixture) BIC() float64 {
	return float64(m.Parameters())*math.Log(float64(m.N)) - 2*m.LogLikelihood
}

// Probabilities returns, for each of the vectors (rows of Dim numbers), the probabilities that it comes from
// each of the K components.
func (m *Mixture) Probabilities(ctx context.Context, vectors []float32) ([]float64, error) {
	if err := checkRows(vectors, m.Dim); err != nil {
		return nil, err
	}
	n := len(vectors) / m.Dim
	columns := make([]float64, m.K*n)
	if _, err := m.expect(ctx, vectors, columns); err != nil {
		return nil, err
	}
	p := make([]float64, n*m.K)
	for i := range p {
		p[i] = columns[i%m.K*n+i/m.K]
	}
	return p, nil
}

// Memberships returns, for each row of K probabilities, the components with a probability above threshold, in
// ascending order, or the most probable one if there is none. RAPTOR's threshold is 0.1, [DefaultMembership].
func (m *Mixture) Memberships(probabilities []float64, threshold float64) [][]int32 {
	groups := make([][]int32, len(probabilities)/m.K)
	for i := range groups {
		best, at := math.Inf(-1), int32(0)
		for c, p := range probabilities[i*m.K : (i+1)*m.K] {
			if p > best {
				best, at = p, int32(c)
			}
			if p > threshold {
				groups[i] = append(groups[i], int32(c))
			}
		}
		if groups[i] == nil {
			groups[i] = []int32{at}
		}
	}
	return groups
}

// DefaultMembership is the probability above which RAPTOR assigns a vector to a component
// (parthsarthi03/raptor, cluster_utils.py).
const DefaultMembership = 0.1

// patience is the number of successive mixtures without an improvement after which the search ends;
// exactComponents is the number of components up to which every number is tried.
const (
	patience        = 4
	exactComponents = 8
)

// SelectMixture fits mixtures of increasing numbers of components, at most 49 and fewer than the vectors, as
// RAPTOR does, and returns the one with the lowest BIC, the smaller of two equal ones.
//
// Up to 8 components every number is tried; after that the number grows by an eighth, and the search ends after
// four without an improvement. Fitting all numbers, as RAPTOR's code does, spends most of its time on numbers
// that are far too large.
func SelectMixture(ctx context.Context, vectors []float32, dim int, opts MixtureOptions) (*Mixture, error) {
	opts, err := opts.resolve()
	if err := errors.Join(err, checkRows(vectors, dim)); err != nil {
		return nil, err
	}
	limit := max(1, min(50, len(vectors)/dim)-1)
	var best *Mixture
	for k, worse := 1, 0; k <= limit && worse < patience; k += max(1, k/exactComponents) {
		m, err := fitMixture(ctx, vectors, dim, k, opts)
		if err != nil {
			return nil, err
		}
		if worse++; best == nil || m.BIC() < best.BIC() {
			best, worse = m, 0
		}
	}
	return best, nil
}

// mixtureBlock is the number of rows that a worker takes at a time.
const mixtureBlock = 128

// fitMixture fits a mixture of k Gaussians to vectors (rows of dim numbers) by expectation maximization
// (Dempster, Laird and Rubin 1977), starting from the clusters of [KMeans]. k is reduced to the number of
// vectors. Sums are in float64; vectors whose distance from the origin is large compared with their spread lose
// digits, so centre them first.
func fitMixture(ctx context.Context, vectors []float32, dim, k int, opts MixtureOptions) (*Mixture, error) {
	var best *Mixture
	for i := range opts.inits {
		start, err := KMeans(ctx, vectors, dim, k, KMeansOptions{Seed: opts.Seed + uint64(i), Inits: 1})
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

// fitFrom runs EM from a clustering, of which it reads K, Dim and Labels.
func fitFrom(ctx context.Context, vectors []float32, start *Clustering, opts MixtureOptions) (*Mixture, error) {
	m := &Mixture{K: start.K, Dim: start.Dim, N: len(start.Labels)}
	p := make([]float64, m.K*m.N)
	for i, c := range start.Labels {
		p[int(c)*m.N+i] = 1
	}
	err := m.maximize(ctx, vectors, p, opts.Regularization)
	if err != nil {
		return nil, err
	}
	before := math.Inf(-1)
	for m.Iterations < opts.maxIterations && !m.Converged {
		now, err := m.expect(ctx, vectors, p)
		if err != nil {
			return nil, err
		}
		if err := m.maximize(ctx, vectors, p, opts.Regularization); err != nil {
			return nil, err
		}
		m.Iterations++
		m.Converged = math.Abs(now-before) < opts.tolerance*float64(m.N)
		before = now
	}
	m.LogLikelihood, err = m.expect(ctx, vectors, p)
	return m, err
}

// leastLog is the logarithm of 1e-18, a probability too small to change a sum in float64. Smaller ones, which
// are most, become 0.
const leastLog = -41.44653167389282

// expect is the E step: it writes the probabilities to p, for each component the values of all rows, and
// returns the log-likelihood of all rows.
func (m *Mixture) expect(ctx context.Context, vectors []float32, p []float64) (float64, error) {
	n := len(vectors) / m.Dim
	evidence := make([]float64, n)
	err := par.Ranges(ctx, n, mixtureBlock, 0, func(_, lo, hi int) error {
		centred, row := make([]float64, m.Dim), make([]float64, m.K)
		for i := lo; i < hi; i++ {
			evidence[i] = m.probabilities(row, vectors[i*m.Dim:(i+1)*m.Dim], centred)
			for c, share := range row {
				p[c*n+i] = share
			}
		}
		return nil
	})
	sum := 0.0
	for _, e := range evidence {
		sum += e
	}
	return sum, err
}

// probabilities writes the probabilities that a vector comes from each component, and returns the logarithm of
// its density. centred is a buffer.
func (m *Mixture) probabilities(row []float64, x []float32, centred []float64) float64 {
	d := m.Dim
	for c := range row {
		for j, mean := range m.Means[c*d : (c+1)*d] {
			centred[j] = float64(x[j]) - mean
		}
		row[c] = m.constant[c] - mahalanobis(m.whiten[c*d*d:(c+1)*d*d], centred)/2
	}
	top, sum := slices.Max(row), 0.0
	for c, score := range row {
		if row[c] = 0; score-top > leastLog {
			row[c] = math.Exp(score - top)
			sum += row[c]
		}
	}
	for c := range row {
		row[c] /= sum
	}
	return top + math.Log(sum)
}

// mahalanobis returns the squared Mahalanobis distance of a centred vector from the mean of a component.
func mahalanobis(whiten, centred []float64) (sum float64) {
	d := len(centred)
	for j := range d {
		z := 0.0
		for l, w := range whiten[j*d:][:j+1] {
			z += float64(w * centred[l])
		}
		sum += float64(z * z)
	}
	return sum
}

// maximize is the M step: it computes weights, means and covariances from the probabilities p.
func (m *Mixture) maximize(ctx context.Context, vectors []float32, p []float64, regularization float64) error {
	m.Weights, m.Means, m.Covariances = make([]float64, m.K), make([]float64, m.K*m.Dim), make([]float64, m.K*m.Dim*m.Dim)
	err := par.Ranges(ctx, m.K, mixtureComponents, 0, func(_, lo, hi int) error {
		part := members{vectors: vectors, dim: m.Dim}
		for c := lo; c < hi; c++ {
			part.rows, part.shares = part.rows[:0], part.shares[:0]
			for i, share := range p[c*m.N : (c+1)*m.N] {
				if share != 0 {
					part.rows, part.shares = append(part.rows, int32(i)), append(part.shares, share)
				}
			}
			m.Weights[c] = part.mean(m.Means[c*m.Dim : (c+1)*m.Dim])
			part.spread(m.Covariances[c*m.Dim*m.Dim:(c+1)*m.Dim*m.Dim], m.Means[c*m.Dim:(c+1)*m.Dim])
			m.finish(c, regularization)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return m.factor()
}

// mixtureComponents is the number of components that a worker takes at a time.
const mixtureComponents = 8

// members are the rows with a probability above 0 of coming from a component.
type members struct {
	vectors []float32
	dim     int
	rows    []int32
	shares  []float64 // probabilities of these rows
}

// mean computes the weighted mean and returns the sum of the weights.
func (s *members) mean(mean []float64) float64 {
	sum := 10 * 0x1p-52 // not 0, so that a component without vectors has a mean
	for _, share := range s.shares {
		sum += share
	}
	for i, row := range s.rows {
		share := s.shares[i]
		for j, x := range s.vectors[int(row)*s.dim:][:len(mean)] {
			mean[j] += float64(share * float64(x))
		}
	}
	for j := range mean {
		mean[j] /= sum
	}
	return sum
}

// finish turns the sums of a component into its covariance and weight.
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

// factor computes the fields whiten and constant, from which densities are computed.
func (m *Mixture) factor() error {
	d, total := m.Dim, 0.0
	for _, w := range m.Weights {
		total += w
	}
	for c := range m.Weights {
		m.Weights[c] /= total
	}
	m.whiten, m.constant = make([]float64, len(m.Covariances)), make([]float64, m.K)
	buffer := make([]float64, d*d)
	for c := range m.K {
		logs, ok := invertedCholesky(m.whiten[c*d*d:(c+1)*d*d], m.Covariances[c*d*d:(c+1)*d*d], buffer, d) // logs is half the logarithm of the determinant
		if !ok || math.IsInf(logs, 0) || math.IsNaN(logs) {
			return fmt.Errorf("cluster: component %d of %d: %w: use fewer components, fewer dimensions, or a larger Regularization",
				c, m.K, ErrSingular)
		}
		m.constant[c] = math.Log(m.Weights[c]) - float64(d)/2*math.Log(2*math.Pi) - logs
	}
	return nil
}

// invertedCholesky writes the inverse of the lower triangular L with L·Lᵀ = a to inverse, which must contain
// zeros, and returns ln det L, or false if a is not positive definite. factor is a buffer of the same size.
func invertedCholesky(inverse, a, factor []float64, d int) (logs float64, ok bool) {
	for j := range d {
		row, inverted := factor[j*d:][:j+1], inverse[j*d:][:j+1]
		for l := range row {
			other, rest := factor[l*d:][:l+1], a[j*d+l]
			for k, x := range other[:l] {
				rest -= float64(x * row[k])
			}
			if l < j {
				row[l] = rest * inverse[l*d+l]
				continue
			}
			if !(rest > 0) {
				return 0, false
			}
			row[j] = math.Sqrt(rest)
		}
		for k, x := range row[:j] {
			for l, y := range inverse[k*d:][:k+1] {
				inverted[l] -= float64(x * y)
			}
		}
		scale := 1 / row[j]
		for l := range inverted[:j] {
			inverted[l] *= scale
		}
		inverted[j] = scale
		logs += math.Log(row[j])
	}
	return logs, true
}

// spread adds the lower triangle of share·z·zᵀ to covariance for each row, where z is the row less the mean.
func (s *members) spread(covariance, mean []float64) {
	centred := make([]float64, s.dim)
	for i, row := range s.rows {
		for j, x := range s.vectors[int(row)*s.dim:][:s.dim] {
			centred[j] = float64(x) - mean[j]
		}
		for j, x := range centred {
			to, scaled := covariance[j*len(centred):][:j+1], s.shares[i]*x
			for l, y := range centred[:j+1] {
				to[l] += float64(scaled * y)
			}
		}
	}
}
