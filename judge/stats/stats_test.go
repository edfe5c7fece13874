// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
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
	check.True(t, near(i.Low, low, tolerance) && near(i.High, high, tolerance) && i.contains(i.Estimate),
		"%s: %.10f [%.10f, %.10f], want [%.10f, %.10f]", what, i.Estimate, i.Low, i.High, low, high)
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
		check.True(t, near(i.SE, 0.0988826465, 1e-9) && i.Method == "student-t" && i.Clusters == 0, "%+v", i)
	}
	i, err := StudentT(ten, tenClusters, Options{})
	wantEnds(t, "clustered", i, err, 0.2861971268, 0.8138028732, 1e-9)
	check.True(t, near(i.SE, 0.0950146188, 1e-9) && i.Method == "clustered-student-t" && i.Clusters == 5 && i.N == 10, "%+v", i)
	// One value per cluster changes nothing but the label.
	single, err := StudentT(ten, []int32{9, 8, 7, 6, 5, 4, 3, 2, 1, 0}, Options{})
	wantEnds(t, "singletons", single, err, 0.3263119130, 0.7736880870, 1e-9)
}

func TestFewAndEqual(t *testing.T) {
	one, equal, none := []float64{.5}, []float64{.1, .1, .1, .1, .1, .1, .1}, []float64(nil)
	for name, f := range map[string]func([]float64, []int32) (Interval, error){
		"student-t": func(v []float64, c []int32) (Interval, error) { return StudentT(v, c, Options{}) },
		"compare": func(v []float64, c []int32) (Interval, error) {
			r, err := Compare(v, make([]float64, len(v)), c, Options{})
			return r.Effect, err
		},
	} {
		for _, few := range [][]float64{none, one} {
			check.Is(t, check.Err(f(few, nil)), ErrTooFew, "%s of %v", name, few)
		}
		check.Is(t, check.Err(f(equal, make([]int32, len(equal)))), ErrTooFew, "%s of one cluster", name)
		for _, c := range [][]int32{nil, {1, 1, 2, 2, 2, 3, 4}} {
			i, err := f(equal, c)
			if err != nil || !near(math.Abs(i.Estimate), .1, 1e-15) || !i.contains(i.Estimate) || name == "student-t" && !near(i.Low, i.High, 1e-15) {
				t.Errorf("%s of equal values: %+v, %v", name, i, err)
			}
		}
		for _, bad := range [][]float64{{1, math.NaN()}, {math.Inf(-1), 1}} {
			check.True(t, check.Err(f(bad, nil)) != nil, "%s of %v passed", name, bad)
		}
		check.True(t, check.Err(f(ten, []int32{1, 2})) != nil, "%s with too few clusters passed", name)
	}
}

func TestOptionErrors(t *testing.T) {
	check.True(t, check.Err(StudentT(ten, nil, Options{Confidence: 1})) != nil, "confidence 1 passed")
	check.True(t, check.Err(Wilson(1, 2, Options{Confidence: math.NaN()})) != nil, "NaN confidence passed")
}

// scipy.stats.t.ppf.
func TestStudentQuantile(t *testing.T) {
	for _, tc := range []struct{ confidence, freedom, want float64 }{
		{.95, 1, 12.70620474}, {.95, 2, 4.30265273}, {.9999, 3, 28.00013001}, {.95, 1199, 1.961944491},
		{.5, 7, 0.7111417781}, {.01, 5, 0.01317198467}, {.999999, 1, 636619.7723},
	} {
		if got := studentQuantile((1-tc.confidence)/2, tc.freedom); !near(got, tc.want, 1e-8*tc.want) || !near(studentTwoSided(got, tc.freedom), 1-tc.confidence, 1e-9) {
			t.Errorf("confidence %v, %v degrees: %v, want %v", tc.confidence, tc.freedom, got, tc.want)
		}
	}
}

func (i Interval) contains(v float64) bool { return i.Low <= v && v <= i.High }
