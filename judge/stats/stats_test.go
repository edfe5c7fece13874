// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Golden values are from NumPy 2.4.6, SciPy 1.17.1 and statsmodels 0.15.0.

var ten = []float64{.2, .5, .9, 1, .3, .7, .05, .65, .4, .8}
var tenClusters = []int32{0, 0, 1, 1, 1, 2, 3, 3, 4, 2}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func wantEnds(t *testing.T, what string, i Interval, err error, low, high, tolerance float64) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
		return
	}
	if !near(i.Low, low, tolerance) || !near(i.High, high, tolerance) || !i.contains(i.Estimate) {
		t.Errorf("%s: %.10f [%.10f, %.10f], want [%.10f, %.10f]", what, i.Estimate, i.Low, i.High, low, high)
	}
}

// statsmodels proportion_confint(method="wilson").
func TestWilson(t *testing.T) {
	for _, tc := range []struct {
		k, n            int
		conf, low, high float64
	}{
		{14, 20, 0, 0.4810271816, 0.8545227551},
		{0, 10, .95, 0, 0.2775327999},
		{10, 10, .95, 0.7224672001, 1},
		{1, 1, .95, 0.2065493144, 1},
		{333, 1200, .99, 0.2454977521, 0.3119491596},
		{7, 13, .9, 0.3248195590, 0.7388522269},
	} {
		i, err := Wilson(tc.k, tc.n, Options{Confidence: tc.conf})
		wantEnds(t, "wilson", i, err, tc.low, tc.high, 1e-9)
	}
	for _, bad := range [][2]int{{1, 0}, {-1, 5}, {6, 5}, {0, -3}} {
		if i, err := Wilson(bad[0], bad[1], Options{}); err == nil {
			t.Errorf("%d of %d: %v", bad[0], bad[1], i)
		}
	}
}

// scipy.stats.t.interval; the clustered standard error by Miller's equation 4
// as a double sum in NumPy, and by statsmodels' cluster covariance (CR0) from
// which it follows.
func TestStudentT(t *testing.T) {
	for conf, want := range map[float64][2]float64{
		.95: {0.3263119130, 0.7736880870}, .9: {0.3687369419, 0.7312630581}, .999: {0.0772507108, 1.0227492892},
	} {
		i, err := StudentT(ten, nil, Options{Confidence: conf})
		wantEnds(t, "student-t", i, err, want[0], want[1], 1e-9)
		if !near(i.SE, 0.0988826465, 1e-9) || i.Method != "student-t" || i.Clusters != 0 {
			t.Errorf("%+v", i)
		}
	}
	i, err := StudentT(ten, tenClusters, Options{})
	wantEnds(t, "clustered", i, err, 0.2861971268, 0.8138028732, 1e-9)
	if !near(i.SE, 0.0950146188, 1e-9) || i.Method != "clustered-student-t" || i.Clusters != 5 || i.N != 10 {
		t.Errorf("%+v", i)
	}
	// One value per cluster changes nothing but the label.
	single, err := StudentT(ten, []int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, Options{})
	wantEnds(t, "singletons", single, err, 0.3263119130, 0.7736880870, 1e-9)
}

// scipy.stats._resampling._bca_interval on a fixed distribution gives levels
// 0.1097605763 and 0.9962445123, a = -0.006662522386112537.
func TestBCaAsSciPy(t *testing.T) {
	resamples := make([]float64, 1000)
	for i := range resamples {
		v := float64((i*7919)%1000) / 1000
		resamples[i] = v*v*.6 + .3
	}
	g, err := group(ten, nil)
	if err != nil {
		t.Fatal(err)
	}
	if a := acceleration(g.jackknife()); !near(a, -0.006662522386112537, 1e-12) {
		t.Errorf("a = %v", a)
	}
	o, err := Options{}.resolve()
	if err != nil {
		t.Fatal(err)
	}
	i := intervalOf(g.mean(), resamples, g.jackknife(), o)
	wantEnds(t, "bca", i, nil, 0.3072141172, 0.8943115807, 1e-9)
}

// scipy.stats.bootstrap with 400,000 resamples: the ends of ours, with other
// random numbers, lie within the noise; 8,000 resamples of a mean of twelve
// values have steps of this size.
func TestBootstrapAsSciPy(t *testing.T) {
	skewed := []float64{.1, .1, .2, .05, .9, .15, .1, .3, .02, .6, .1, .95}
	i, err := bootstrap(skewed, nil, Options{Resamples: 200000})
	wantEnds(t, "bca", i, err, 0.155833, 0.533333, .003)
	if !near(i.SE, 0.091511, 5e-4) {
		t.Errorf("SE %v", i.SE)
	}
}

// Results are the same to the last bit with any number of processors.
func TestProcessorsChangeNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	a, b := make([]float64, 100), make([]float64, 100)
	clusters := make([]int32, 100)
	for i := range a {
		a[i], b[i], clusters[i] = rng.Float64(), rng.Float64(), int32(rng.IntN(60))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range [][]int32{nil, clusters} {
		var first Comparison
		for w := range 9 {
			runtime.GOMAXPROCS(w + 1)
			got, err := Compare(a, b, c, Options{Resamples: 999, Seed: 7})
			if err != nil {
				t.Fatal(err)
			}
			if w == 0 {
				first = got
			}
			if diff := cmp.Diff(first, got); diff != "" {
				t.Errorf("%d processors: %s", w+1, diff)
			}
		}
		other, err := Compare(a, b, c, Options{Resamples: 999, Seed: 8})
		if err != nil || other.Effect.Low == first.Effect.Low {
			t.Errorf("another seed gives the same: %v, %v", other, err)
		}
	}
}

func TestFewAndEqual(t *testing.T) {
	one, equal, none := []float64{.5}, []float64{.1, .1, .1, .1, .1, .1, .1}, []float64(nil)
	for name, f := range map[string]func([]float64, []int32) (Interval, error){
		"student-t": func(v []float64, c []int32) (Interval, error) { return StudentT(v, c, Options{}) },
		"bca":       func(v []float64, c []int32) (Interval, error) { return bootstrap(v, c, Options{Resamples: 100}) },
		"compare": func(v []float64, c []int32) (Interval, error) {
			r, err := Compare(v, make([]float64, len(v)), c, Options{Resamples: 100})
			return r.Effect, err
		},
	} {
		for _, few := range [][]float64{none, one} {
			if _, err := f(few, nil); !errors.Is(err, ErrTooFew) {
				t.Errorf("%s of %v: %v", name, few, err)
			}
		}
		if _, err := f(equal, make([]int32, len(equal))); !errors.Is(err, ErrTooFew) {
			t.Errorf("%s of one cluster: %v", name, err)
		}
		for _, c := range [][]int32{nil, {1, 1, 2, 2, 2, 3, 4}} {
			if i, err := f(equal, c); err != nil || !near(i.Low, i.High, 1e-15) || !near(math.Abs(i.Estimate), .1, 1e-15) || !(i.SE < 1e-15) {
				t.Errorf("%s of equal values: %+v, %v", name, i, err)
			}
		}
		for _, bad := range [][]float64{{1, math.NaN()}, {math.Inf(-1), 1}} {
			if _, err := f(bad, nil); err == nil {
				t.Errorf("%s of %v passed", name, bad)
			}
		}
		if _, err := f(ten, []int32{1, 2}); err == nil {
			t.Errorf("%s with too few clusters passed", name)
		}
	}
}

func TestOptionErrors(t *testing.T) {
	_, err := bootstrap(ten, nil, Options{Confidence: 1, Resamples: -1})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error %v, want two lines", err)
	}
	if _, err := Wilson(1, 2, Options{Confidence: math.NaN()}); err == nil {
		t.Error("NaN confidence passed")
	}
}

// scipy.stats.t.ppf.
func TestStudentQuantile(t *testing.T) {
	for _, tc := range []struct{ confidence, freedom, want float64 }{
		{.95, 1, 12.70620474}, {.95, 2, 4.30265273}, {.9999, 3, 28.00013001}, {.95, 1199, 1.961944491},
		{.5, 7, 0.7111417781}, {.01, 5, 0.01317198467}, {.999999, 1, 636619.7723},
	} {
		if got := studentQuantile((1-tc.confidence)/2, tc.freedom); !near(got, tc.want, 1e-8*tc.want) {
			t.Errorf("confidence %v, %v degrees: %v, want %v", tc.confidence, tc.freedom, got, tc.want)
		}
	}
}

// bootstrap is the interval by the bootstrap alone.
func bootstrap(values []float64, clusters []int32, o Options) (Interval, error) {
	o, err := o.resolve()
	if err != nil {
		return Interval{}, err
	}
	g, err := group(values, clusters)
	if err != nil {
		return Interval{}, fmt.Errorf("stats: bootstrap: %w", err)
	}
	return g.bootstrap(o), nil
}

// permutation is the test alone.
func permutation(differences []float64, clusters []int32, o Options) (Test, error) {
	o, err := o.resolve()
	if err != nil {
		return Test{}, err
	}
	g, err := group(differences, clusters)
	if err != nil {
		return Test{}, fmt.Errorf("stats: permutation: %w", err)
	}
	return g.permutation(o), nil
}

func (i Interval) contains(v float64) bool { return i.Low <= v && v <= i.High }
