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

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/internal/check"
)

// rings are three rings of twelve points each, and one point between them.
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

// The expected values are scikit-learn's.
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
	// With six and more components there are better optima than the one in which scikit-learn's run ended, so
	// EM starts from that run's labels.
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
	// The increase of the log-likelihood that a further component must bring, for d=10.
	for n, want := range map[int]float64{30: 112.24, 100: 151.97, 1000: 227.96} {
		one, two := &Mixture{K: 1, Dim: 10, N: n}, &Mixture{K: 2, Dim: 10, N: n}
		got := (two.BIC() - one.BIC()) / 2
		check.True(t, math.Abs(got-want) <= .005, "n=%d: %.3f, want %.2f", n, got, want)
	}
}

// With one component the mean and the covariance are the sample's, and the log-likelihood has a closed form;
// more components never lower it.
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

// A large number of groups is found too, in steps of an eighth, even if some numbers between them bring no
// improvement.
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

// The inverse of the factor times the matrix is the unit matrix, and the determinants of factor and matrix
// agree.
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

// blobs returns n vectors around centres: the first n/centres around the first centre, and so on.
func blobs(rng *rand.Rand, n, dim, centres int, spread float64) []float32 {
	centre := make([]float64, centres*dim)
	for i := range centre {
		centre[i] = rng.NormFloat64()
	}
	v := make([]float32, 0, n*dim)
	for i := range n {
		c := i * centres / n
		for j := range dim {
			v = append(v, float32(centre[c*dim+j]+spread*rng.NormFloat64()))
		}
	}
	return v
}

func TestKMeansSameAtAnyWorkers(t *testing.T) {
	vectors := blobs(rand.New(rand.NewPCG(7, 2)), 5000, 24, 12, .4)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	run := func(workers int) *Clustering {
		runtime.GOMAXPROCS(workers)
		return check.Of(KMeans(t.Context(), vectors, 24, 15, KMeansOptions{Seed: 3, Inits: 2})).OK(t)
	}
	want := run(1)
	for _, w := range []int{2, 3, 16} {
		check.Equal(t, cmp.Diff(want, run(w)), "", "%d workers", w)
	}
}

func TestKMeansDuplicates(t *testing.T) {
	vectors := []float32{5, 5, 5, 5, 5, 5, 1, 1}
	c := check.Of(KMeans(t.Context(), vectors, 2, 3, KMeansOptions{})).OK(t)
	check.True(t, c.K == 3 && c.Inertia == 0 && c.Labels[0] == c.Labels[1] && c.Labels[0] != c.Labels[3], "%+v", c)
}

func TestKMeansMoreClustersThanVectors(t *testing.T) {
	c := check.Of(KMeans(t.Context(), []float32{1, 2, 3}, 1, 10, KMeansOptions{})).OK(t)
	labels := slices.Sorted(slices.Values(c.Labels))
	check.True(t, c.K == 3 && c.Inertia == 0 && slices.Equal(labels, []int32{0, 1, 2}), "%+v", c)
}

// Vectors of very different and very small lengths: products in float32 lose their precision or become 0, the
// labels still equal plain k-means'.
func TestKMeansHostileScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 4))
	for _, scale := range []float64{1e-44, 1e-30, 1e-15, 1e10} {
		for _, shift := range []float64{0, 1, 1e4} {
			vectors := blobs(rng, 200, 5, 4, 1)
			for i, v := range vectors {
				vectors[i] = float32((float64(v) + shift) * scale)
				if i%97 == 0 {
					vectors[i] *= 1e3
				}
			}
			samePlain(t, fmt.Sprintf("scale %g shift %g", scale, shift), vectors, 5, 6, 20, vectors[:6*5])
		}
	}
}

func TestKMeansRefuses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		vectors []float32
		dim, k  int
		opts    KMeansOptions
		want    string
	}{
		{nil, 2, 1, KMeansOptions{}, "no vectors"},
		{[]float32{1, 2, 3}, 2, 1, KMeansOptions{}, "cannot be divided into rows"},
		{[]float32{1}, 0, 1, KMeansOptions{}, "dimension 0"},
		{[]float32{1}, 1, 0, KMeansOptions{}, "0 clusters"},
		{[]float32{1, 2, 3, nan}, 2, 1, KMeansOptions{}, "row 1: unusable vector: component 1 is NaN"},
		{[]float32{1, inf}, 1, 1, KMeansOptions{}, "row 1: unusable vector: component 0 is +Inf"},
		{[]float32{2e18}, 1, 1, KMeansOptions{}, "row 0: unusable vector: length 2e+18"},
		{[]float32{1}, 1, 1, KMeansOptions{Inits: -1}, "Inits is -1"},
	} {
		check.Fails(t, check.Err(KMeans(t.Context(), c.vectors, c.dim, c.k, c.opts)), c.want, "%v", c.vectors)
	}
}

// From 0 and 1, the second of these vectors changes sides after the first update,
// which moves a centroid by 2.5; the variance is 3.92. The second update moves
// them by 0.75 and 1, after which nothing changes.
func TestKMeansTolerance(t *testing.T) {
	vectors := []float32{0, 1.5, 4, 5}
	for tolerance, want := range map[float64]int{2: 1, 1: 2, -1: 2} {
		l := newLloyd(vectors, 1, 2)
		l.tolerance = tolerance
		c, err := l.run(t.Context(), []float32{0, 1})
		check.True(t, err == nil && c.Iterations == want, "tolerance %v: %+v %v", tolerance, c, err)
	}
}

func TestKMeansCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(KMeans(ctx, blobs(rand.New(rand.NewPCG(7, 5)), 5000, 8, 3, 1), 8, 3, KMeansOptions{})), context.Canceled)
}

func ExampleKMeans() {
	vectors := []float32{
		0, 0,
		0, 1,
		9, 0,
		9, 1,
	}
	c, err := KMeans(context.Background(), vectors, 2, 2, KMeansOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(c.Labels, c.Centroids, c.Inertia)
	// Output: [1 1 0 0] [9 0.5 0 0.5] 1
}

// plainKMeans is Lloyd's algorithm as defined, from given centroids, without shortcuts: it checks labels,
// centroids and iterations.
func plainKMeans(vectors []float32, dim, k, maxIterations int, start []float32) ([]int32, []float32, int) {
	p := plain{vectors: vectors, dim: dim, k: k, centroids: slices.Clone(start), labels: make([]int32, len(vectors)/dim)}
	for i := range p.labels {
		p.labels[i] = -1
	}
	for step := range maxIterations {
		if !p.assign() {
			return p.labels, p.centroids, step
		}
		p.refill()
		p.update()
	}
	p.assign()
	return p.labels, p.centroids, maxIterations
}

type plain struct {
	vectors   []float32
	dim, k    int
	centroids []float32
	labels    []int32
}

func (p *plain) distance(i, c int) float64 {
	return distance(p.vectors[i*p.dim:(i+1)*p.dim], p.centroids[c*p.dim:(c+1)*p.dim])
}

func (p *plain) assign() bool {
	changed := false
	for i := range p.labels {
		best, at := math.Inf(1), int32(0)
		for c := range p.k {
			if d := p.distance(i, c); d < best {
				best, at = d, int32(c)
			}
		}
		changed = changed || p.labels[i] != at
		p.labels[i] = at
	}
	return changed
}

func (p *plain) counts() []int {
	counts := make([]int, p.k)
	for _, c := range p.labels {
		counts[c]++
	}
	return counts
}

func (p *plain) refill() {
	distances := make([]float64, len(p.labels))
	for i, c := range p.labels {
		distances[i] = p.distance(i, int(c))
	}
	for c, size := range p.counts() {
		if size > 0 {
			continue
		}
		farthest, counts := -1, p.counts()
		for i, d := range distances {
			if counts[p.labels[i]] > 1 && d > 0 && (farthest < 0 || d > distances[farthest]) {
				farthest = i
			}
		}
		if farthest < 0 {
			return
		}
		p.labels[farthest], distances[farthest] = int32(c), 0
	}
}

func (p *plain) update() {
	sums, counts := make([]float64, p.k*p.dim), p.counts()
	for i, c := range p.labels {
		for j := range p.dim {
			sums[int(c)*p.dim+j] += float64(p.vectors[i*p.dim+j])
		}
	}
	for i, s := range sums {
		if n := counts[i/p.dim]; n > 0 {
			p.centroids[i] = float32(s / float64(n))
		}
	}
}

// samePlain compares with plain Lloyd, from the starts that [KMeans] tries in turn, and returns the highest
// number of iterations.
func samePlain(t *testing.T, what string, vectors []float32, dim, k, limit int, starts ...[]float32) int {
	t.Helper()
	l, most := newLloyd(vectors, dim, k), 0
	l.limit, l.tolerance = limit, -1
	for s, start := range starts {
		labels, centroids, steps := plainKMeans(vectors, dim, k, limit, start)
		got := check.Of(l.run(t.Context(), start)).OK(t)
		if !slices.Equal(got.Labels, labels) || !slices.Equal(got.Centroids, centroids) || got.Iterations != steps {
			t.Errorf("%s: n=%d dim=%d k=%d, start %d, at most %d iterations: differs from plain Lloyd (%d iterations, plain %d)",
				what, len(vectors)/dim, dim, k, s, limit, got.Iterations, steps)
		}
		most = max(most, steps)
	}
	return most
}

// drawn returns k of the vectors.
func drawn(rng *rand.Rand, vectors []float32, dim, k int) []float32 {
	var start []float32
	for _, i := range rng.Perm(len(vectors) / dim)[:k] {
		start = append(start, vectors[i*dim:(i+1)*dim]...)
	}
	return start
}

func TestKMeansIsPlainLloyd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for _, c := range []struct {
		n, dim, k, centres int
		spread             float64
	}{{1, 1, 1, 1, 1}, {50, 1, 7, 3, 1}, {300, 2, 5, 5, .1}, {700, 17, 13, 20, .5}, {500, 64, 40, 10, 1}, {2500, 9, 33, 30, .3}, {1500, 24, 150, 90, .6}} {
		vectors := blobs(rng, c.n, c.dim, c.centres, c.spread)
		for _, limit := range []int{1, 3, 300} {
			samePlain(t, "blobs", vectors, c.dim, c.k, limit, vectors[:c.k*c.dim], drawn(rng, vectors, c.dim, c.k), drawn(rng, vectors, c.dim, c.k))
		}
	}
}

// Vectors on a small grid: many are equal, or equally far from two centroids; starts have some centroids
// several times, and clusters become empty.
func TestTiesArePlainLloyd(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for range 120 {
		dim, n, side := 1+rng.IntN(4), 1+rng.IntN(200), 2+rng.IntN(4)
		vectors := make([]float32, n*dim)
		for i := range vectors {
			vectors[i] = float32(rng.IntN(side))
		}
		k := 1 + rng.IntN(n)
		samePlain(t, "grid", vectors, dim, k, 50, drawn(rng, vectors, dim, k), drawn(rng, vectors, dim, k))
	}
}

// plainPlusPlus is greedy k-means++ as defined, with sums by blocks of rows.
func plainPlusPlus(vectors []float32, dim, k int, rng *rand.Rand) (start []float32) {
	n := len(vectors) / dim
	row := func(i int) []float32 { return vectors[i*dim : (i+1)*dim] }
	now, drawn := make([]float64, n), make([]bool, n)
	for i := range now {
		now[i] = math.Inf(1)
	}
	for c := range k {
		var best []float64
		chosen, least := -1, 0.0
		for range 2 + int(math.Log(float64(k))) {
			i := rng.IntN(n)
			if c > 0 {
				i = draw(rng, now, drawn)
			}
			next, sum, part := make([]float64, n), 0.0, 0.0
			for j := range next {
				next[j] = min(now[j], distance(row(j), row(i)))
				if j%rowBlock == 0 {
					sum, part = sum+part, 0
				}
				part += next[j]
			}
			if sum += part; chosen < 0 || sum < least {
				chosen, least, best = i, sum, next
			}
			if c == 0 {
				break
			}
		}
		now, drawn[chosen] = best, true
		start = append(start, row(chosen)...)
	}
	return start
}

// The centroids equal those of plain k-means++, for vectors of any size, far apart, close and equal ones.
func TestPlusPlusIsPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, c := range []struct {
		n, dim, k   int
		size, shift float32
	}{
		{1, 3, 1, 1, 0}, {40, 7, 40, 1, 0}, {1500, 40, 60, 1, 0}, {2500, 61, 33, 1e-3, 10},
		{300, 33, 50, 1e-22, 0}, {300, 33, 50, 1e15, 0}, {200, 64, 150, 1, 1e6},
	} {
		vectors := randomRows(rng, c.n*c.dim, 1)
		for i := range vectors {
			vectors[i] = vectors[i]*c.size + c.shift
		}
		copy(vectors[c.n/2*c.dim:], vectors[:c.n/4*c.dim])
		want := plainPlusPlus(vectors, c.dim, c.k, rand.New(rand.NewPCG(4, 4)))
		got, err := newLloyd(vectors, c.dim, c.k).plusPlus(t.Context(), rand.New(rand.NewPCG(4, 4)))
		check.True(t, err == nil && slices.Equal(got, want), "%+v: other centroids, error %v", c, err)
	}
}

func randomRows(rng *rand.Rand, n int, size float64) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(size * rng.NormFloat64())
	}
	return v
}
