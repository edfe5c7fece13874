// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// Golden values are from scikit-learn 1.9.1 (cohen_kappa_score), krippendorff
// 0.9.0 and ppi-python 0.2.3.

var na = math.NaN()

var (
	raterA = []float64{0, 1, 2, 2, 1, 0, 3, 3, 1, 2, 0, 1, 2, 3, 3, 1}
	raterB = []float64{0, 1, 2, 1, 1, 1, 3, 2, 1, 2, 0, 0, 2, 3, 1, 3}
	// The example of Krippendorff 2011: four observers, twelve units.
	observers = [][]float64{
		{1, 2, 3, 3, 2, 1, 4, 1, 2, na, na, na},
		{1, 2, 3, 3, 2, 2, 4, 1, 2, 5, na, 3},
		{na, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, na},
		{1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, na},
	}
	// Scores in 0..1 by three raters, with gaps.
	scores = [][]float64{
		{0.09, na, 0.8, 0.58, 0.09, 0.43, 0.48, 0.16, 0.73, na, 0.39, 0.52, 0.43, na, na, 0.96, 0.28, 0.65, 0.7, 0.29, 0.0, 0.97, 0.3, 0.31, na, 0.59, 0.47, 0.77, 0.03, 0.71, 0.37, 0.09, 0.66, 0.93, 0.21, 0.63, 0.3, na, 0.72, 0.22},
		{0.3, 0.5, 0.5, 0.4, 0.0, 0.4, 0.6, 0.6, 0.7, 0.3, 0.4, 0.9, 0.6, 0.9, 0.5, 0.9, na, na, 0.8, 0.2, 0.0, 1.0, 0.2, 0.1, 1.0, 1.0, 0.4, 0.7, 0.0, 0.4, 0.5, 0.3, 0.7, 1.0, 0.2, 0.7, 0.0, 0.6, 0.7, na},
		{0.0, 0.0, na, na, 0.0, 0.4, 0.7, 0.4, 1.0, 0.0, 0.6, na, 0.5, 0.8, 1.0, 1.0, 0.3, 1.0, 0.6, 0.2, 0.2, 0.8, 0.9, na, 1.0, 0.6, 0.4, na, 0.3, 0.5, 0.5, 0.1, 1.0, na, 0.5, na, 0.0, 0.5, 0.4, na},
	}
)

func ratings(t testing.TB, raters ...[]float64) Ratings {
	t.Helper()
	r, err := NewRatings(raters...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestAgreementGolden(t *testing.T) {
	two := ratings(t, raterA, raterB)
	four := ratings(t, observers...)
	three := ratings(t, scores...)
	for _, tc := range []struct {
		name    string
		ratings Ratings
		measure Measure
		want    float64
	}{
		{"two", two, Exact, .625},
		{"two", two, Kappa, 0.4920634921},
		{"two", two, KappaLinear, 0.5646258503},
		{"two", two, KappaQuadratic, 0.6483516484},
		{"two", two, AlphaNominal, 0.5066312997},
		{"two", two, AlphaOrdinal, 0.6673211816},
		{"two", two, AlphaInterval, 0.6580882353},
		{"observers", four, AlphaNominal, 0.7434210526},
		{"observers", four, AlphaOrdinal, 0.8153875038},
		{"observers", four, AlphaInterval, 0.8491071429},
		{"scores", three, AlphaNominal, 0.0413349663},
		{"scores", three, AlphaOrdinal, 0.7265652380},
		{"scores", three, AlphaInterval, 0.7102886924},
	} {
		got, err := tc.ratings.Agreement(tc.measure)
		if err != nil || !near(got, tc.want, 1e-9) {
			t.Errorf("%v of %s = %.10f, %v, want %.10f", tc.measure, tc.name, got, err, tc.want)
		}
	}
}

// 100 items: 40 both 1, 5 and 7 different, 48 both 0.
func TestAgreementBinary(t *testing.T) {
	var a, b []float64
	for i := range 100 {
		x, y := 0., 0.
		if i < 45 {
			x = 1
		}
		if i < 40 || i >= 45 && i < 52 {
			y = 1
		}
		a, b = append(a, x), append(b, y)
	}
	r := ratings(t, a, b)
	for m, want := range map[Measure]float64{Exact: .88, Kappa: .7586, AlphaNominal: .7597, KappaLinear: .7586, KappaQuadratic: .7586, AlphaInterval: .7597, AlphaOrdinal: .7597} {
		if got, err := r.Agreement(m); err != nil || !near(got, want, 5e-5) {
			t.Errorf("%v = %.4f, %v, want %.4f", m, got, err, want)
		}
	}
}

// Alpha by the definition, from the matrix of coincidences, on random ratings.
func TestAlphaAgainstCoincidences(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 100 {
		raters := make([][]float64, 2+rng.IntN(3))
		for r := range raters {
			for range 15 {
				v := float64(rng.IntN(5)) / 4
				if rng.IntN(4) == 0 {
					v = na
				}
				raters[r] = append(raters[r], v)
			}
		}
		for m, distance := range map[Measure]func(n []float64, c, k int) float64{
			AlphaNominal:  func([]float64, int, int) float64 { return 1 },
			AlphaInterval: func(_ []float64, c, k int) float64 { return float64((c-k)*(c-k)) / 16 },
			AlphaOrdinal: func(n []float64, c, k int) float64 {
				sum := -(n[c] + n[k]) / 2
				for g := min(c, k); g <= max(c, k); g++ {
					sum += n[g]
				}
				return sum * sum
			},
		} {
			got, err := ratings(t, raters...).Agreement(m)
			if err != nil {
				t.Fatal(err)
			}
			if want := byCoincidences(raters, distance); !near(got, want, 1e-9) {
				t.Errorf("%v = %v, by coincidences %v", m, got, want)
			}
		}
	}
}

func byCoincidences(raters [][]float64, distance func([]float64, int, int) float64) float64 {
	var o [5][5]float64
	for i := range raters[0] {
		var said []int
		for _, r := range raters {
			if !math.IsNaN(r[i]) {
				said = append(said, int(r[i]*4))
			}
		}
		for x, c := range said {
			for y, k := range said {
				if x != y {
					o[c][k] += 1 / float64(len(said)-1)
				}
			}
		}
	}
	margins, n := make([]float64, 5), 0.0
	for c := range o {
		for k := range o {
			margins[c] += o[c][k]
			n += o[c][k]
		}
	}
	observed, expected := 0.0, 0.0
	for c := range o {
		for k := range o {
			if c != k {
				observed += o[c][k] * distance(margins, c, k)
				expected += margins[c] * margins[k] * distance(margins, c, k)
			}
		}
	}
	return 1 - (n-1)*observed/expected
}

func TestConfusion(t *testing.T) {
	c, err := ratings(t, append(raterA[:16:16], na, 1), append(raterB[:16:16], 2, na)).Confusion(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	want := Confusion{Values: []float64{0, 1, 2, 3}, Counts: []int{2, 1, 0, 0, 1, 3, 0, 1, 0, 1, 3, 0, 0, 1, 1, 2}, Skipped: 2}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if c.At(2, 1) != 1 || c.At(1, 2) != 0 {
		t.Errorf("At(2, 1) = %d, At(1, 2) = %d, want 1 and 0", c.At(2, 1), c.At(1, 2))
	}
	for _, bad := range [][2]int{{-1, 0}, {0, 2}} {
		if _, err := ratings(t, raterA, raterB).Confusion(bad[0], bad[1]); err == nil {
			t.Errorf("raters %v passed", bad)
		}
	}
}

// More than two raters: the mean over pairs.
func TestKappaOfPairs(t *testing.T) {
	third := append(raterB[8:16:16], raterA[:8]...)
	sum := 0.0
	for _, pair := range [][2][]float64{{raterA, raterB}, {raterA, third}, {raterB, third}} {
		k, err := ratings(t, pair[0], pair[1]).Agreement(KappaLinear)
		if err != nil {
			t.Fatal(err)
		}
		sum += k
	}
	got, err := ratings(t, raterA, raterB, third).Agreement(KappaLinear)
	if err != nil || !near(got, sum/3, 1e-12) {
		t.Errorf("kappa of three = %v, %v, want %v", got, err, sum/3)
	}
}

func TestEmptyAndEqual(t *testing.T) {
	for m := range Measure(len(measures)) {
		chance := m != Exact
		for name, tc := range map[string]struct {
			raters [][]float64
			want   float64
			err    error
		}{
			"no items":     {[][]float64{{}, {}}, 0, stats.ErrTooFew},
			"none shared":  {[][]float64{{1, na}, {na, 0}}, 0, stats.ErrTooFew},
			"all missing":  {[][]float64{{na, na}, {na, na}}, 0, stats.ErrTooFew},
			"all equal":    {[][]float64{{1, 1, 1}, {1, 1, 1}}, 1, stats.ErrUndefined},
			"one item":     {[][]float64{{1}, {1}}, 1, stats.ErrUndefined},
			"all agree":    {[][]float64{{0, 1, 2}, {0, 1, 2}}, 1, nil},
			"missing some": {[][]float64{{0, 1, na, 5}, {0, 1, 2, na}}, 1, nil},
		} {
			got, err := ratings(t, tc.raters...).Agreement(m)
			wantErr := tc.err
			if errors.Is(tc.err, stats.ErrUndefined) && !chance {
				wantErr = nil
			}
			if !errors.Is(err, wantErr) || err == nil && !near(got, tc.want, 1e-12) {
				t.Errorf("%v, %s: %v, %v, want %v, %v", m, name, got, err, tc.want, wantErr)
			}
		}
		if _, err := (Ratings{}).Agreement(m); !errors.Is(err, stats.ErrTooFew) {
			t.Errorf("%v of zero Ratings: %v", m, err)
		}
	}
	if _, err := ratings(t, raterA, raterB).Agreement(99); err == nil {
		t.Error("measure 99 passed")
	}
}

func TestRatingsErrors(t *testing.T) {
	_, err := NewRatings([]float64{1, 2}, []float64{1}, []float64{math.Inf(1), 0})
	if err == nil || strings.Count(err.Error(), "\n") != 1 {
		t.Errorf("error %v, want both faults", err)
	}
	if _, err := NewRatings(raterA); !errors.Is(err, stats.ErrTooFew) {
		t.Errorf("one rater: %v", err)
	}
	var many []float64
	for i := range MaxCategories + 1 {
		many = append(many, float64(i))
	}
	if _, err := ratings(t, many, many).Agreement(Kappa); err == nil || !strings.Contains(err.Error(), "AlphaInterval") {
		t.Errorf("too many categories: %v", err)
	}
	if got, err := ratings(t, many, many).Agreement(AlphaInterval); err != nil || got != 1 {
		t.Errorf("alpha of many categories: %v, %v", got, err)
	}
}

// The bootstrap of the share of equal ratings is that of a mean.
func TestInterval(t *testing.T) {
	r := ratings(t, raterA, raterB)
	equal := make([]float64, len(raterA))
	for i := range equal {
		if raterA[i] == raterB[i] {
			equal[i] = 1
		}
	}
	clusters := []int32{0, 0, 0, 1, 1, 2, 3, 4, 4, 5, 6, 7, 7, 8, 8, 9}
	for _, c := range [][]int32{nil, clusters} {
		want, err := stats.Bootstrap(equal, c, stats.Options{Seed: 2})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Interval(Exact, c, stats.Options{Seed: 2})
		if err != nil || !near(got.Low, want.Low, 1e-12) || !near(got.High, want.High, 1e-12) {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
	}
	for m := range Measure(len(measures)) {
		one, err := r.Interval(m, clusters, stats.Options{Resamples: 500, Workers: 1})
		if err != nil || !one.Contains(one.Estimate) || one.High-one.Low < .1 {
			t.Errorf("%v: %+v, %v", m, one, err)
		}
		four, err := r.Interval(m, clusters, stats.Options{Resamples: 500, Workers: 4})
		if diff := cmp.Diff(one, four); err != nil || diff != "" {
			t.Errorf("%v with four workers: %v %s", m, err, diff)
		}
	}
	// One item of twelve differs: many resamples miss it, and say nothing.
	rare := make([]float64, 12)
	rare[3] = 1
	i, err := ratings(t, rare, rare).Interval(Kappa, nil, stats.Options{})
	// (11/12)^12 of 10,000.
	if err != nil || !near(float64(i.Undefined), 3520, 200) || i.Low != 1 {
		t.Errorf("%+v, %v", i, err)
	}
	if _, err := ratings(t, []float64{1, 1}, []float64{1, 1}).Interval(Kappa, nil, stats.Options{}); !errors.Is(err, stats.ErrUndefined) {
		t.Errorf("all equal: %v", err)
	}
}

func TestValidate(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	var good, bad []float64
	people := make([][]float64, 3)
	for range 300 {
		truth := rng.IntN(2)
		say := func(wrong float64) float64 {
			if rng.Float64() < wrong {
				return float64(1 - truth)
			}
			return float64(truth)
		}
		good, bad = append(good, say(.1)), append(bad, say(.4))
		for p := range people {
			people[p] = append(people[p], say(.1))
		}
	}
	for m := range Measure(len(measures)) {
		v, err := Validate(good, people, m, nil, stats.Options{Resamples: 300})
		if err != nil || !v.Gap.Contains(0) || !near(v.Gap.Estimate, v.Judge.Estimate-v.Ceiling.Estimate, 1e-12) {
			t.Errorf("%v: a judge as good as people: %+v, %v", m, v, err)
		}
		v, err = Validate(bad, people, m, nil, stats.Options{Resamples: 300})
		if err != nil || v.Gap.High >= 0 || v.Judge.High >= v.Ceiling.Low {
			t.Errorf("%v: a bad judge: %+v, %v", m, v, err)
		}
	}
	// The gap is paired: narrower than judge and ceiling taken apart.
	v, err := Validate(good, people, Exact, nil, stats.Options{Resamples: 300})
	if err != nil || v.Gap.SE >= math.Hypot(v.Judge.SE, v.Ceiling.SE) {
		t.Errorf("%+v, %v", v, err)
	}
	if _, err := Validate(good, people[:1], Exact, nil, stats.Options{}); !errors.Is(err, stats.ErrTooFew) {
		t.Errorf("one person: %v", err)
	}
	if _, err := Validate(good[1:], people, Exact, nil, stats.Options{}); err == nil {
		t.Error("judge with fewer items passed")
	}
	if _, err := Validate(good, people, 50, nil, stats.Options{}); err == nil {
		t.Error("measure 50 passed")
	}
}

func BenchmarkInterval(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for range 1200 {
		v := float64(rng.IntN(3)) / 2
		x, y = append(x, v), append(y, min(1, v+float64(rng.IntN(5)/4)/2))
	}
	r := ratings(b, x, y)
	for _, m := range []Measure{KappaQuadratic, AlphaOrdinal} {
		b.Run(m.String(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := r.Interval(m, nil, stats.Options{Resamples: 1000, Workers: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
