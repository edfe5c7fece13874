// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

var scoresA = []float64{.2, .5, .9, 1, .3, .7, .05, .65}
var scoresB = []float64{.4, .5, .95, 1, .1, .9, .45, .7}

// The mean and the error as a weighted mean of the differences and of ±s of weight .5, added up
// by hand.
func TestCompare(t *testing.T) {
	c := check.Of(Compare(scoresA, scoresB, nil, Options{})).OK(t)
	center, half := (c.Effect.Low+c.Effect.High)/2, (c.Effect.High-c.Effect.Low)/2
	check.True(t, near(center, .7/9, 1e-12) && near(c.Effect.SE, .06214404811443638, 1e-12) &&
		near(half, 2.306004135*c.Effect.SE, 1e-9), "%v ± %v, error %v", center, half, c.Effect.SE)
	check.True(t, near(c.MeanA, .5375, 1e-12) && near(c.MeanB, .625, 1e-12) && near(c.Effect.Estimate, .0875, 1e-12) && c.Effect.Method == "paired-t", "%+v", c)
	// t of 8 degrees beyond which .025, and .025/21, lie.
	if one, many := c.Detectable(1), c.Detectable(21); !near(one, (2.306004135+.8416212336)*c.Effect.SE, 1e-9) || !near(many, (4.3698538+.8416212336)*c.Effect.SE, 1e-6) {
		t.Errorf("detectable %v and %v errors", one/c.Effect.SE, many/c.Effect.SE)
	}
	// Exchanged, the effect changes its sign and p stays.
	back, err := Compare(scoresB, scoresA, nil, Options{})
	check.True(t, err == nil && back.P == c.P && back.Effect.Estimate == -c.Effect.Estimate && back.Effect.Low == -c.Effect.High, "%+v, %v", back, err)
	same, err := Compare(scoresA, scoresA, nil, Options{})
	check.True(t, err == nil && same.P == 1 && same.Effect.Low < 0 && same.Effect.Low == -same.Effect.High, "a system against itself: %+v, %v", same, err)
	check.True(t, check.Err(Compare(scoresA, scoresB[1:], nil, Options{})) != nil, "scores of different length passed")
	check.True(t, check.Err(Compare([]float64{1e60, 1}, []float64{-1e60, 1}, nil, Options{})) != nil, "a difference out of range passed")
}

// Differences that are rounding errors are none: alone, and of what a cluster adds up.
func TestRoundingIsNoDifference(t *testing.T) {
	a, b := []float64{.1 + .2, .3, .5, .1, .2, .6}, []float64{.3, .1 + .2, .5, .2, .4, .3}
	for _, clusters := range [][]int32{{0, 1, 2, 3, 3, 3}, {0, 0, 1, 2, 2, 2}} {
		c, err := Compare(a, b, clusters, Options{})
		check.True(t, err == nil && c.P == 1 && c.Effect.Estimate == 0 && c.Effect.High > .1, "%v: %+v, %v", clusters, c, err)
	}
}

// draws are scores of two systems of n questions: shares where graded, else right and wrong,
// by pages where clustered.
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

// The interval excludes 0 exactly where p is below the level.
func TestIntervalAndTestAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	excluded := 0
	for i := range 20000 {
		o := Options{Confidence: []float64{.9, .95, .999}[i%3]}
		a, b, clusters := draws(rng, 3+rng.IntN(60), i%2 == 0, i%5 < 2)
		c, err := Compare(a, b, clusters, o)
		if err != nil {
			continue // one page
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

// midP is McNemar's mid-p: gained questions against lost ones.
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

// Of right and wrong answers the test finds what McNemar's mid-p test finds, which Fagerland,
// Lydersen and Laake (Statistics in Medicine 33, 2014) recommend.
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

// statsmodels multipletests(method="holm").
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
