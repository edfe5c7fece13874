// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/judge/stats"
)

var (
	human      = []float64{1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0}
	judged     = []float64{.9, .2, .7, .8, .4, .6, .5, .1, .9, .3, 1, .6}
	unlabelled = []float64{.8, .7, .9, .3, .2, .6, .5, .9, 1, .4, .3, .8, .7, .6, .9, .1, .75, .85, .2, .95}
)

// ppi_py.ppi_mean_pointestimate and ppi_mean_ci with lam=1, lam=None and
// lam=0.
func TestPPIAsReference(t *testing.T) {
	plain, err := PPI(human, judged, unlabelled, stats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	tuned, err := PPITuned(human, judged, unlabelled, stats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		got                 stats.Interval
		estimate, low, high float64
	}{
		"plain":  {plain.Mean, 0.5391666667, 0.2714582542, 0.8068750792},
		"tuned":  {tuned.Mean, 0.5229905008, 0.2670455777, 0.7789354240},
		"labels": {plain.LabelsOnly, 0.5, 0.2171035665, 0.7828964335},
	} {
		if !near(tc.got.Estimate, tc.estimate, 1e-9) || !near(tc.got.Low, tc.low, 1e-9) || !near(tc.got.High, tc.high, 1e-9) {
			t.Errorf("%s: %+v, want %v [%v, %v]", name, tc.got, tc.estimate, tc.low, tc.high)
		}
	}
	if plain.Weight != 1 || tuned.Weight <= 0 || tuned.Weight >= 1 || plain.Labels != 12 || plain.Mean.N != 32 {
		t.Errorf("%+v, %+v", plain, tuned)
	}
	if !near(plain.Judge-plain.Bias, plain.Mean.Estimate, 1e-12) {
		t.Errorf("%v less %v is not %v", plain.Judge, plain.Bias, plain.Mean.Estimate)
	}
}

// A judge that is too kind by .15: the plain mean of its scores misses the
// truth, the corrected interval holds it as often as it says, and it is
// narrower than that of the labels alone.
func TestPPICoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	const runs, truth = 500, .6
	held, narrower := 0, 0
	answer := func() (person, judge float64) {
		if rng.Float64() < truth {
			person = 1
		}
		return person, .15 + .7*person + .1*rng.NormFloat64()
	}
	for range runs {
		h, j, u := make([]float64, 100), make([]float64, 100), make([]float64, 1000)
		for i := range h {
			h[i], j[i] = answer()
		}
		for i := range u {
			_, u[i] = answer()
		}
		c, err := PPITuned(h, j, u, stats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if c.Mean.Contains(truth) {
			held++
		}
		if c.Mean.SE < c.LabelsOnly.SE {
			narrower++
		}
	}
	// 475 expected, deviation 5.
	if held < 455 || held > 492 || narrower < runs*95/100 {
		t.Errorf("%d of %d intervals hold the truth, %d are narrower than without a judge", held, runs, narrower)
	}
}

func TestPPIEdges(t *testing.T) {
	// A judge that says the same of everything is not trusted.
	flat := []float64{.5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5, .5}
	c, err := PPITuned(human, flat, flat, stats.Options{})
	if err != nil || c.Weight != 0 || c.Mean.Low != c.LabelsOnly.Low {
		t.Errorf("flat judge: %+v, %v", c, err)
	}
	// One that goes against people neither.
	against := make([]float64, len(human))
	for i, h := range human {
		against[i] = 1 - h
	}
	if c, err := PPITuned(human, against, against, stats.Options{}); err != nil || c.Weight != 0 {
		t.Errorf("contrary judge: %+v, %v", c, err)
	}
	c, err = PPI(flat, flat, flat, stats.Options{})
	if err != nil || c.Mean.Estimate != .5 || c.Mean.SE != 0 {
		t.Errorf("equal scores: %+v, %v", c, err)
	}
	for _, few := range [][3][]float64{{nil, nil, unlabelled}, {human[:1], judged[:1], unlabelled}, {human, judged, nil}, {human, judged, unlabelled[:1]}} {
		if _, err := PPI(few[0], few[1], few[2], stats.Options{}); !errors.Is(err, stats.ErrTooFew) {
			t.Errorf("%v: %v", few, err)
		}
	}
	if _, err := PPI(human, judged[1:], unlabelled, stats.Options{}); err == nil {
		t.Error("labels without scores passed")
	}
	if _, err := PPI(human, judged, []float64{1, math.NaN()}, stats.Options{}); err == nil {
		t.Error("NaN passed")
	}
	if _, err := PPI(human, judged, unlabelled, stats.Options{Confidence: 2}); err == nil {
		t.Error("confidence 2 passed")
	}
}
