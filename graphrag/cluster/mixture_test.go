// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// rings are three rings of twelve points and one point between them.
func rings() []float32 {
	var v []float32
	for _, centre := range [][2]float64{{0, 0}, {6, 0}, {3, 5}} {
		for k := range 12 {
			radius := .3
			if k%2 == 1 {
				radius = .5
			}
			angle := 2 * math.Pi * float64(k) / 12
			v = append(v, float32(centre[0]+radius*math.Cos(angle)), float32(centre[1]+radius*math.Sin(angle)))
		}
	}
	return append(v, 3, 0)
}

// fitted fits a mixture of k components.
func fitted(t *testing.T, vectors []float32, dim, k int, o MixtureOptions) (*Mixture, error) {
	t.Helper()
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	return fitMixture(t.Context(), vectors, dim, k, o)
}

// The values are scikit-learn's.
func TestMixtureBICOfRings(t *testing.T) {
	want := []float64{357.344, 228.684, 196.905, 174.230, 192.696}
	var got []float64
	for k := 1; k <= 7; k++ {
		m := check.Of(fitted(t, rings(), 2, k, MixtureOptions{inits: 20})).OK(t)
		got = append(got, m.BIC())
	}
	m := check.Of(SelectMixture(t.Context(), rings(), 2, MixtureOptions{inits: 20})).OK(t)
	for k := range want {
		check.True(t, math.Abs(got[k]-want[k]) <= 1e-3, "BIC of %d components: %.4f, want %.4f", k+1, got[k], want[k])
	}
	check.Equal(t, m.K, 4, "components selected")
	// With six and more components there are better optima than the one run of
	// scikit-learn ended in, so EM starts from the labels that run started from.
	opts, _ := MixtureOptions{}.resolve()
	for _, c := range []struct {
		k      int
		labels []int32
		bic    float64
	}{
		{6, []int32{1, 1, 1, 3, 3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 5, 5, 5, 5, 5, 2, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}, 212.563},
		{7, []int32{1, 1, 1, 3, 3, 3, 3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 5, 5, 5, 5, 5, 2, 2, 2, 6, 6, 0, 0, 0, 0, 0, 0, 0, 6, 6, 6, 4}, 231.028},
	} {
		m := check.Of(fitFrom(t.Context(), rings(), &Clustering{K: c.k, Dim: 2, Labels: c.labels}, opts)).OK(t)
		check.True(t, math.Abs(m.BIC()-c.bic) <= 1e-3, "BIC of %d components: %.4f, want %.4f", c.k, m.BIC(), c.bic)
		check.True(t, got[c.k-1] <= c.bic, "BIC of %d components: %.4f, with 20 starts it should not be above %.4f", c.k, got[c.k-1], c.bic)
	}
}

func TestMixtureSoftMembership(t *testing.T) {
	m := &Mixture{K: 2, Dim: 1, Weights: []float64{.5, .5}, Means: []float64{0, 4}, Covariances: []float64{1, 1}}
	check.OK(t, m.factor())
	p := check.Of(m.Probabilities(t.Context(), []float32{1.5, 2, 2.5, 2.6})).OK(t)
	for i, want := range []float64{.119203, .5, .880797, .916827} {
		check.True(t, math.Abs(p[2*i+1]-want) <= 1e-6 && math.Abs(p[2*i]+p[2*i+1]-1) <= 1e-12,
			"row %d: %v, want %v on the right", i, p[2*i:2*i+2], want)
	}
	both := []int32{0, 1}
	check.Equal(t, m.Memberships(p, DefaultMembership), [][]int32{both, both, both, {1}})
	check.Equal(t, m.Memberships(p, .95), [][]int32{{0}, {0}, {1}, {1}}, "nothing above the threshold")
}

func TestMixtureParameters(t *testing.T) {
	for k := 1; k < 9; k++ {
		check.Equal(t, (&Mixture{K: k, Dim: 2}).Parameters(), 6*k-1, "d=2 K=%d", k)
		check.Equal(t, (&Mixture{K: k, Dim: 10}).Parameters(), 66*k-1, "d=10 K=%d", k)
	}
	// The gain of log-likelihood a further component must bring, d=10.
	for n, want := range map[int]float64{30: 112.24, 100: 151.97, 1000: 227.96} {
		one, two := &Mixture{K: 1, Dim: 10, N: n}, &Mixture{K: 2, Dim: 10, N: n}
		got := (two.BIC() - one.BIC()) / 2
		check.True(t, math.Abs(got-want) <= .005, "n=%d: %.3f, want %.2f", n, got, want)
	}
}

// One component is the sample's mean and covariance, with which the
// log-likelihood has a closed form; more components never do worse.
func TestMixtureOfOne(t *testing.T) {
	vectors := []float32{1, 2, 3, 1, 5, 5, 2, 7}
	m := check.Of(fitted(t, vectors, 2, 1, MixtureOptions{Regularization: 1e-12})).OK(t)
	for i, want := range []float64{2.75, 3.75} {
		check.True(t, math.Abs(m.Means[i]-want) <= 1e-12, "mean %v", m.Means)
	}
	for i, want := range []float64{2.1875, .6875, .6875, 5.6875} {
		check.True(t, math.Abs(m.Covariances[i]-want) <= 1e-9, "covariance %v", m.Covariances)
	}
	det := 2.1875*5.6875 - .6875*.6875
	want := -4*math.Log(2*math.Pi) - 2*math.Log(det) - 4
	check.True(t, math.Abs(m.LogLikelihood-want) <= 1e-8, "log-likelihood %v, want %v", m.LogLikelihood, want)
}

// Many groups are found as well, in steps of an eighth, though a few numbers in a row
// may bring nothing.
func TestMixtureSelectsMany(t *testing.T) {
	vectors := blobs(rand.New(rand.NewPCG(9, 4)), 1200, 4, 24, .01)
	m := check.Of(SelectMixture(t.Context(), vectors, 4, MixtureOptions{inits: 3})).OK(t)
	check.True(t, m.K >= 24 && m.K <= 30, "%d components of 24 groups", m.K)
}

func TestMixtureLikelihoodNeverFalls(t *testing.T) {
	vectors := blobs(rand.New(rand.NewPCG(9, 2)), 200, 3, 5, .5)
	before := math.Inf(-1)
	for limit := 1; limit < 25; limit++ {
		m := check.Of(fitted(t, vectors, 3, 4, MixtureOptions{maxIterations: limit, tolerance: 1e-12})).OK(t)
		check.True(t, m.LogLikelihood >= before-1e-6, "iteration %d: %v after %v", limit, m.LogLikelihood, before)
		before = m.LogLikelihood
	}
}

func TestMixtureSameAtAnyWorkers(t *testing.T) {
	vectors := blobs(rand.New(rand.NewPCG(9, 3)), 700, 6, 5, .5)
	var want *Mixture
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, w := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(w)
		m := check.Of(fitted(t, vectors, 6, 5, MixtureOptions{})).OK(t)
		if want == nil {
			want = m
		}
		check.True(t, slices.Equal(m.Means, want.Means) && slices.Equal(m.Covariances, want.Covariances) &&
			m.LogLikelihood == want.LogLikelihood, "%d workers: another mixture", w)
	}
}

func TestMixtureDuplicatesAndFewVectors(t *testing.T) {
	same := make([]float32, 40)
	for i := range same {
		same[i] = 3
	}
	for _, vectors := range [][]float32{same, {1, 2}, {1, 2, 3, 4}} {
		m := check.Of(SelectMixture(t.Context(), vectors, 2, MixtureOptions{})).OK(t)
		check.True(t, m.K == 1 && !math.IsNaN(m.BIC()), "%d vectors: %d components, BIC %v", len(vectors)/2, m.K, m.BIC())
	}
	m, err := fitted(t, []float32{1, 5}, 1, 10, MixtureOptions{})
	check.True(t, err == nil && m.K == 2, "%v %v", m, err)
}

func TestMixtureRefuses(t *testing.T) {
	for _, c := range []struct {
		vectors []float32
		opts    MixtureOptions
		want    string
	}{
		{nil, MixtureOptions{}, "no vectors"},
		{[]float32{1, float32(math.NaN())}, MixtureOptions{}, "row 1: unusable vector"},
		{[]float32{1}, MixtureOptions{Regularization: math.Inf(1)}, "Regularization is +Inf"},
	} {
		check.Fails(t, check.Err(SelectMixture(t.Context(), c.vectors, 1, c.opts)), c.want)
	}
	large := []float32{0, 0, 1 << 42, 1 << 42}
	check.Is(t, check.Err(fitted(t, large, 2, 1, MixtureOptions{})), ErrSingular, "a line of large vectors")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(SelectMixture(ctx, large, 2, MixtureOptions{})), context.Canceled, "cancelled")
}

func ExampleSelectMixture() {
	vectors := []float32{0, .1, .2, .3, 9, 9.1, 9.2, 9.3}
	m, err := SelectMixture(context.Background(), vectors, 1, MixtureOptions{Regularization: .01})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := m.Probabilities(context.Background(), vectors)
	if err != nil {
		fmt.Println(err)
		return
	}
	groups := m.Memberships(p, DefaultMembership)
	fmt.Println(m.K, "components; together:", slices.Equal(groups[0], groups[3]), slices.Equal(groups[0], groups[7]))
	// Output: 2 components; together: true false
}

// The inverse of the factor makes the unit matrix of a matrix, and its determinant is
// that of the factor.
func TestInvertedCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	for d := 1; d < 20; d++ {
		a, inverse := make([]float64, d*d), make([]float64, d*d)
		for range 3 * d {
			z := make([]float64, d)
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			for i := range a {
				a[i] += z[i/d] * z[i%d]
			}
		}
		logs, ok := invertedCholesky(inverse, a, make([]float64, d*d), d)
		check.Must(t, ok, "dim %d: not positive definite", d)
		for i := range a {
			want, got := 0.0, 0.0
			if i/d == i%d {
				want, logs = 1, logs+math.Log(inverse[i])
			}
			for j := range a {
				got += inverse[i/d*d+j/d] * a[j] * inverse[i%d*d+j%d]
			}
			check.True(t, math.Abs(got-want) <= 1e-10, "dim %d: entry %d of the unit matrix is %v", d, i, got)
		}
		check.True(t, math.Abs(logs) <= 1e-10, "dim %d: the determinants differ by the factor exp %v", d, logs)
	}
	_, ok := invertedCholesky(make([]float64, 4), []float64{1, 2, 2, 1}, make([]float64, 4), 2)
	check.True(t, !ok, "a matrix with a negative eigenvalue has a factor")
}
