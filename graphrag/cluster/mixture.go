// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// MixtureOptions of [SelectMixture].
type MixtureOptions struct {
	// Seed of the k-means the fits start from.
	Seed uint64
	// Regularization is added to all variances, so that a component on a single
	// point or line has a density; 0 means 1e-6. It is in the
	// square of the unit of the vectors.
	Regularization float64

	inits, maxIterations int     // starts, and rounds of EM of each
	tolerance            float64 // EM ends when the mean log-likelihood of a vector rises by less
}

// resolve fills in the defaults of scikit-learn 1.2, which RAPTOR uses.
func (o MixtureOptions) resolve() (MixtureOptions, error) {
	c := opt.Checks{Of: "cluster"}
	opt.Min(&c, "Regularization", o.Regularization, 0)
	o.Regularization = cmp.Or(o.Regularization, 1e-6)
	o.inits, o.maxIterations, o.tolerance = cmp.Or(o.inits, 1), cmp.Or(o.maxIterations, 100), cmp.Or(o.tolerance, 1e-3)
	return o, c.Err()
}

// ErrSingular is wrapped by the errors for vectors no mixture can be fitted to
// in float64: a covariance has no inverse in spite of the regularization.
var ErrSingular = errors.New("singular covariance")

// Mixture is a density that is a weighted sum of Gaussians. It does not change
// once it is fitted and is safe for concurrent use.
type Mixture struct {
	// K is the number of components, Dim the length of a vector.
	K, Dim int
	// Weights of the components; they add up to 1.
	Weights []float64
	// Means has K rows of Dim.
	Means []float64
	// Covariances has K matrices of Dim rows of Dim.
	Covariances []float64
	// N is the number of vectors the mixture was fitted to, LogLikelihood the
	// sum of the logarithms of their densities.
	N             int
	LogLikelihood float64
	// Iterations of EM, and whether they ended because there was little to gain.
	Iterations int
	Converged  bool

	whiten   []float64 // per component the inverse of the Cholesky factor of its covariance
	constant []float64 // per component ln weight - Dim/2·ln 2π - ½ ln |covariance|
}

// Parameters returns the number of free parameters: K-1 weights, K·Dim means and
// K·Dim·(Dim+1)/2 covariances.
func (m *Mixture) Parameters() int { return m.K - 1 + m.K*m.Dim + m.K*m.Dim*(m.Dim+1)/2 }

// BIC returns the Bayesian information criterion, Parameters·ln N - 2·LogLikelihood:
// of several mixtures for the same vectors the one with the least is preferred.
func (m *Mixture) BIC() float64 {
	return float64(m.Parameters())*math.Log(float64(m.N)) - 2*m.LogLikelihood
}

// Probabilities returns for each of the vectors, rows of length Dim, the
// probabilities that it comes from each of the K components.
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

// Memberships returns, for probabilities in rows of K, the components each row
// has a probability above threshold of coming from, in ascending order, or the
// most probable one if there is none: no row is left out. RAPTOR's threshold is
// 0.1, [DefaultMembership].
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

// DefaultMembership is the probability above which RAPTOR counts a vector to a
// component (parthsarthi03/raptor, cluster_utils.py).
const DefaultMembership = 0.1

// patience is how many mixtures in a row may be no better than the best one so far
// before the search ends, exactComponents up to how many components none is skipped.
const (
	patience        = 4
	exactComponents = 8
)

// SelectMixture fits mixtures of more and more components, at most 49 and one less than there
// are vectors, as RAPTOR does, and returns the one of least BIC, the smaller of two equal ones.
//
// Up to 8 components each number is tried, from there on steps are an eighth, and the
// search ends when four in a row brought nothing: fitting all numbers, as RAPTOR's
// code does, takes most of its time for those that are far too many.
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
