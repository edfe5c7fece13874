// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

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

// The expected values are from statsmodels proportion_confint(method="wilson").
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

// The expected values are from scipy.stats.t.interval; the clustered standard error is Miller's equation 4 as a
// double sum in NumPy, and from statsmodels' cluster covariance (CR0).
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
	// Clusters of one value each change nothing but the name of the method.
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

// The expected values are from scipy.stats.t.ppf.
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

// world is a source of simulated questions: two systems answer each question. B is right more often than A by
// the share more, and equals A in the share alike of the questions. Pages have one to three questions; for two
// of five pages all questions have one result. Or each question has its own page.
type world struct {
	questions    int
	right, more  float64
	alike        float64
	pages        bool
	rng          *rand.Rand
	a, b         []float64
	clusters     []int32
	fewDiffering int
}

func (w *world) draw() {
	w.a, w.b, w.clusters = w.a[:0], w.b[:0], w.clusters[:0]
	differing := 0
	for page := int32(0); len(w.a) < w.questions; page++ {
		size, whole := 1, false
		if w.pages {
			size, whole = 1+w.rng.IntN(3), w.rng.Float64() < .4
		}
		var x, y float64
		for i := range min(size, w.questions-len(w.a)) {
			if i == 0 || !whole {
				x, y = w.rng.Float64(), w.rng.Float64()
				if w.rng.Float64() < w.alike {
					y = x
				}
			}
			a, b := one(x < w.right), one(y < w.right+w.more)
			w.a, w.b, w.clusters = append(w.a, a), append(w.b, b), append(w.clusters, page)
			differing += int(math.Abs(a - b))
		}
	}
	if differing < 5 {
		w.fewDiffering++
	}
}

// coverage has the share of intervals that contain the true difference, and the share of draws in which fewer
// than five questions differ.
func (w *world) coverage(t *testing.T, draws int) (covered, few float64) {
	t.Helper()
	hits := 0
	for range draws {
		w.draw()
		c := check.Of(Compare(w.a, w.b, w.clusters, Options{})).OK(t)
		if c.Effect.contains(w.more) {
			hits++
		}
	}
	return float64(hits) / float64(draws), float64(w.fewDiffering) / float64(draws)
}

// simulated returns the number of draws: WILDGRAPH_COVERAGE, or a few.
func simulated(few int) int {
	if given, err := strconv.Atoi(os.Getenv("WILDGRAPH_COVERAGE")); err == nil {
		return given
	}
	return few
}

// 93 to 97.5 % of the 95 % intervals contain the true difference; more do if fewer than five questions differ,
// so that no test can reject. docs/judge.md has the output of `WILDGRAPH_COVERAGE=20000 go test -v -run
// Coverage ./judge/stats`.
func TestCoverage(t *testing.T) {
	draws := simulated(300)
	noise := 4 * math.Sqrt(.95*.05/float64(draws))
	for _, alike := range []float64{.5, .8} {
		table := "\n| questions | right | 0 | 10 | 20 | 0, by page | 10, by page | 20, by page |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n"
		for _, n := range []int{24, 36, 100} {
			for _, right := range []float64{.05, .1, .3, .5} {
				table += fmt.Sprintf("| %d | %.0f %% |", n, 100*right)
				for _, pages := range []bool{false, true} {
					for _, more := range []float64{0, .1, .2} {
						w := world{questions: n, right: right, more: more, alike: alike, pages: pages, rng: rand.New(rand.NewPCG(1, uint64(n)))}
						covered, few := w.coverage(t, draws)
						table += fmt.Sprintf(" %.1f |", 100*covered)
						if low := .93 - .01*one(alike > .5 && pages); covered < low-noise || covered > max(.975, .975+few)+noise {
							t.Errorf("%d questions, %.0f %% right, %.0f points, alike %.1f, pages %v: %.1f %% of the intervals contain the truth; fewer than five questions differ in %.1f %%",
								n, 100*right, 100*more, alike, pages, 100*covered, 100*few)
						}
					}
				}
				table += "\n"
			}
		}
		t.Logf("B draws the luck of A on %.0f %% of the questions; columns are points between them:%s", 100*alike, table)
	}
}

// Of equally good systems, a given one is certainly behind the one ranked first in at most 5 % of the draws.
// That any is certainly behind happens more often if the systems have little in common, since the first one is
// chosen by the same figures.
func TestCoverageOfTheBest(t *testing.T) {
	const systems, questions = 22, 36
	draws := simulated(1600) / 4
	for _, alike := range []float64{.5, .8} {
		rng, some, given := rand.New(rand.NewPCG(3, 4)), 0., 0.
		for range draws {
			luck, all, best := make([]float64, questions), make([][]float64, systems), 0
			for i := range luck {
				luck[i] = rng.Float64()
			}
			for s := range all {
				for _, x := range luck {
					if rng.Float64() >= alike {
						x = rng.Float64()
					}
					all[s] = append(all[s], one(x < .5))
				}
				if stat.Mean(all[s], nil) > stat.Mean(all[best], nil) {
					best = s
				}
			}
			all[0], all[best] = all[best], all[0]
			var p []float64
			for _, other := range all[1:] {
				c := check.Of(Compare(other, all[0], nil, Options{})).OK(t)
				p = append(p, c.P)
			}
			corrected := check.Of(Holm(p)).OK(t)
			some += one(slices.Min(corrected) < .05)
			given += one(best > 0 && corrected[best-1] < .05)
		}
		some, given = some/float64(draws), given/float64(draws)
		t.Logf("%d equal systems, %d questions, alike %.1f: some one is certainly behind in %.1f %%, a given one in %.1f %%", systems, questions, alike, 100*some, 100*given)
		check.True(t, given <= .05 && (alike <= .5 || some <= .05),
			"alike %.1f: some one is certainly behind in %v of the draws, a given one in %v", alike, some, given)
	}
}

var scoresA = []float64{.2, .5, .9, 1, .3, .7, .05, .65}
var scoresB = []float64{.4, .5, .95, 1, .1, .9, .45, .7}

// The mean and the error as a weighted mean of the differences and of ±s with weight .5, computed by hand.
func TestCompare(t *testing.T) {
	c := check.Of(Compare(scoresA, scoresB, nil, Options{})).OK(t)
	center, half := (c.Effect.Low+c.Effect.High)/2, (c.Effect.High-c.Effect.Low)/2
	check.True(t, near(center, .7/9, 1e-12) && near(c.Effect.SE, .06214404811443638, 1e-12) &&
		near(half, 2.306004135*c.Effect.SE, 1e-9), "%v ± %v, error %v", center, half, c.Effect.SE)
	check.True(t, near(c.MeanA, .5375, 1e-12) && near(c.MeanB, .625, 1e-12) && near(c.Effect.Estimate, .0875, 1e-12) && c.Effect.Method == "paired-t", "%+v", c)
	// Values of t with 8 degrees of freedom that are exceeded with probability .025 and .025/21.
	if one, many := c.Detectable(1), c.Detectable(21); !near(one, (2.306004135+.8416212336)*c.Effect.SE, 1e-9) || !near(many, (4.3698538+.8416212336)*c.Effect.SE, 1e-6) {
		t.Errorf("detectable %v and %v errors", one/c.Effect.SE, many/c.Effect.SE)
	}
	// If the systems are exchanged, the effect changes its sign and p is the same.
	back, err := Compare(scoresB, scoresA, nil, Options{})
	check.True(t, err == nil && back.P == c.P && back.Effect.Estimate == -c.Effect.Estimate && back.Effect.Low == -c.Effect.High, "%+v, %v", back, err)
	same, err := Compare(scoresA, scoresA, nil, Options{})
	check.True(t, err == nil && same.P == 1 && same.Effect.Low < 0 && same.Effect.Low == -same.Effect.High, "a system against itself: %+v, %v", same, err)
	check.True(t, check.Err(Compare(scoresA, scoresB[1:], nil, Options{})) != nil, "scores of different length passed")
	check.True(t, check.Err(Compare([]float64{1e60, 1}, []float64{-1e60, 1}, nil, Options{})) != nil, "a difference out of range passed")
}

// Differences that are rounding errors count as 0: single ones, and sums of a cluster.
func TestRoundingIsNoDifference(t *testing.T) {
	a, b := []float64{.1 + .2, .3, .5, .1, .2, .6}, []float64{.3, .1 + .2, .5, .2, .4, .3}
	for _, clusters := range [][]int32{{0, 1, 2, 3, 3, 3}, {0, 0, 1, 2, 2, 2}} {
		c, err := Compare(a, b, clusters, Options{})
		check.True(t, err == nil && c.P == 1 && c.Effect.Estimate == 0 && c.Effect.High > .1, "%v: %+v, %v", clusters, c, err)
	}
}

// draws returns scores of two systems for n questions: shares if graded, else right and wrong, by pages if
// clustered.
func draws(rng *rand.Rand, n int, graded, clustered bool) (a, b []float64, clusters []int32) {
	p, q := rng.Float64(), rng.Float64()
	for i := range n {
		x, y := rng.Float64(), rng.Float64()
		if !graded {
			x, y = one(x < p), one(y < q)
		}
		a, b = append(a, x), append(b, y)
		if clustered {
			clusters = append(clusters, int32(rng.IntN(i/2+2)))
		}
	}
	return a, b, clusters
}

func one(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

// The interval excludes 0 exactly if p is below the level.
func TestIntervalAndTestAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	excluded := 0
	for i := range 20000 {
		o := Options{Confidence: []float64{.9, .95, .999}[i%3]}
		a, b, clusters := draws(rng, 3+rng.IntN(60), i%2 == 0, i%5 < 2)
		c, err := Compare(a, b, clusters, o)
		if err != nil {
			continue // a single page
		}
		out := c.Effect.Low > 0 || c.Effect.High < 0
		if out != (c.P < 1-o.Confidence) || !(c.P >= 0 && c.P <= 1) || c.Effect.Low > c.Effect.Estimate+1e-12 || c.Effect.High < c.Effect.Estimate-1e-12 {
			t.Fatalf("%+v of %v and %v, pages %v", c, a, b, clusters)
		}
		if out {
			excluded++
		}
	}
	check.True(t, excluded >= 1000 && excluded <= 19000, "%d of 20000 exclude 0", excluded)
}

// midP is McNemar's mid-p of the questions gained and lost.
func midP(gained, lost int) float64 {
	n := gained + lost
	p := 0.0
	for k := max(gained, lost); k <= n; k++ {
		l, _ := math.Lgamma(float64(n + 1))
		x, _ := math.Lgamma(float64(k + 1))
		y, _ := math.Lgamma(float64(n - k + 1))
		at := math.Exp(l - x - y - float64(n)*math.Ln2)
		if k == max(gained, lost) {
			at /= 2
		}
		p += 2 * at
	}
	return p
}

// For right and wrong answers the test rejects what McNemar's mid-p test rejects, which Fagerland, Lydersen and
// Laake (Statistics in Medicine 33, 2014) recommend.
func TestAsMcNemar(t *testing.T) {
	for _, n := range []int{24, 36, 100} {
		all, apart := 0, 0
		for gained := range 25 {
			for lost := 0; lost <= gained && gained+lost <= n; lost++ {
				b := make([]float64, n)
				a := make([]float64, n)
				for i := range gained {
					b[i] = 1
				}
				for i := range lost {
					a[n-1-i] = 1
				}
				c := check.Of(Compare(a, b, nil, Options{})).OK(t)
				all++
				if mid := midP(gained, lost); (c.P < .05) != (mid < .05) {
					apart++
					check.True(t, math.Abs(c.P-mid) <= .015,
						"%d gained and %d lost of %d: p %.4f, mid-p %.4f", gained, lost, n, c.P, mid)
				}
			}
		}
		check.True(t, apart <= all/50, "%d questions: %d of %d decisions are others than McNemar's", n, apart, all)
	}
}

// The expected values are from statsmodels multipletests(method="holm").
func TestHolm(t *testing.T) {
	got, err := Holm([]float64{.01, .04, .03, .005, .5, .04, 1, 0})
	check.OK(t, err)
	for i, want := range []float64{.06, .16, .15, .035, 1, .16, 1, 0} {
		check.True(t, near(got[i], want, 1e-12), "p-value %d corrected to %v, want %v", i, got[i], want)
	}
	got, err = Holm(nil)
	check.True(t, err == nil && len(got) == 0, "empty family: %v, %v", got, err)
	got, err = Holm([]float64{.03})
	check.True(t, err == nil && got[0] == .03, "family of one: %v, %v", got, err)
	for _, bad := range []float64{-.1, 1.1, math.NaN()} {
		check.True(t, check.Err(Holm([]float64{bad})) != nil, "%v passed", bad)
	}
}
