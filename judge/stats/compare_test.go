// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"errors"
	"math"
	"testing"
)

var scoresA = []float64{.2, .5, .9, 1, .3, .7, .05, .65}
var scoresB = []float64{.4, .5, .95, 1, .1, .9, .45, .7}

// scipy.stats.permutation_test(permutation_type="samples", n_resamples=inf):
// statistic 0.0875, p 0.21875; 0.21875 for the answers that are 0 and 1.
func TestPermutationAsSciPy(t *testing.T) {
	c, err := Compare(scoresA, scoresB, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if c.Test.P != 0.21875 || c.Test.Method != "permutation-exact" || !near(c.Effect.Estimate, .0875, 1e-12) {
		t.Errorf("%+v", c)
	}
	p, err := permutation([]float64{-1, -1, -1, 0, 1, -1, 0, -1, 0, 0, 0}, nil, Options{})
	if err != nil || p.P != 0.21875 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Equal differences beyond the number that is enumerated: 40, of which 26 are
// positive: 2·P(X >= 26), X of 40 tosses, = 0.0806904678.
func TestPermutationOfMany(t *testing.T) {
	d := make([]float64, 40)
	for i := range d {
		d[i] = .3
		if i >= 26 {
			d[i] = -.3
		}
	}
	got, err := permutation(d, nil, Options{Resamples: 200000})
	if err != nil || got.Method != "permutation-drawn" || got.Patterns != 200000 || !near(got.P, 0.0806904678, .01) {
		t.Errorf("%+v, %v", got, err)
	}
	// Never 0.
	for i := range d {
		d[i] = math.Abs(d[i])
	}
	got, err = permutation(d, nil, Options{Resamples: 99})
	if err != nil || got.P != .01 {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestPermutationEdges(t *testing.T) {
	for name, tc := range map[string]struct {
		d        []float64
		clusters []int32
		p        float64
	}{
		"all zero": {make([]float64, 30), nil, 1},
		"two":      {[]float64{1, 1}, nil, .5},
		"clusters": {[]float64{1, 1, 1, 1}, []int32{5, 5, 6, 6}, .5},
	} {
		got, err := permutation(tc.d, tc.clusters, Options{})
		if err != nil || got.P != tc.p || got.Method != "permutation-exact" {
			t.Errorf("%s: %+v, %v, want p %v", name, got, err, tc.p)
		}
	}
	if _, err := permutation(nil, nil, Options{}); !errors.Is(err, ErrTooFew) {
		t.Errorf("no values: %v", err)
	}
	twenty := make([]float64, MaxExact)
	for i := range twenty {
		twenty[i] = 1 / float64(i+3)
	}
	got, err := permutation(twenty, nil, Options{})
	if err != nil || got.Patterns != 1<<MaxExact || got.P != 2./(1<<MaxExact) {
		t.Errorf("twenty differences of one sign: %+v, %v", got, err)
	}
}

// statsmodels multipletests(method="holm").
func TestHolm(t *testing.T) {
	got, err := Holm([]float64{.01, .04, .03, .005, .5, .04, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{.06, .16, .15, .035, 1, .16, 1, 0} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("p-value %d corrected to %v, want %v", i, got[i], want)
		}
	}
	if got, err := Holm(nil); err != nil || len(got) != 0 {
		t.Errorf("empty family: %v, %v", got, err)
	}
	if got, err := Holm([]float64{.03}); err != nil || got[0] != .03 {
		t.Errorf("family of one: %v, %v", got, err)
	}
	for _, bad := range []float64{-.1, 1.1, math.NaN()} {
		if _, err := Holm([]float64{bad}); err == nil {
			t.Errorf("%v passed", bad)
		}
	}
}

func TestCompare(t *testing.T) {
	c, err := Compare(scoresA, scoresB, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// numpy: std(ddof=1) of the differences.
	if !near(c.SE, 0.1787855859/math.Sqrt(8), 1e-9) {
		t.Errorf("SE %.10f", c.SE)
	}
	if !near(c.MeanA, .5375, 1e-12) || !near(c.MeanB, .625, 1e-12) || !near(c.Detectable, 2.8015852181*c.SE, 1e-9) {
		t.Errorf("%+v", c)
	}
	// Exchanged, the effect changes its sign and p stays.
	back, err := Compare(scoresB, scoresA, nil, Options{})
	if err != nil || back.Test.P != c.Test.P || back.Effect.Estimate != -c.Effect.Estimate {
		t.Errorf("%+v, %v", back, err)
	}
	same, err := Compare(scoresA, scoresA, nil, Options{})
	if err != nil || same.Test.P != 1 || same.Effect.Low != 0 || same.Effect.High != 0 || same.Detectable != 0 {
		t.Errorf("a system against itself: %+v, %v", same, err)
	}
	if _, err := Compare(scoresA, scoresB[1:], nil, Options{}); err == nil {
		t.Error("scores of different length passed")
	}
	if _, err := Compare([]float64{1e308, 1}, []float64{-1e308, 1}, nil, Options{}); err == nil {
		t.Error("a difference out of range passed")
	}
}
