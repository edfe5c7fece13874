// SPDX-License-Identifier: Apache-2.0

package short

import (
	"math"
	"testing"
)

// The ends and the middle of the scales as the challenge states them, and what lies
// between.
func TestScales(t *testing.T) {
	for _, x := range []struct{ coverage, relevance, want float64 }{
		{1, 1, 2}, {1, 0, 1}, {0, 0, -1}, {0, 1, -1}, {.5, 1, .5}, {.5, 0, 0}, {1, .5, 1.5},
	} {
		if got := correctness(x.coverage, x.relevance); got != x.want {
			t.Errorf("coverage %g, relevance %g: %g, want %g", x.coverage, x.relevance, got, x.want)
		}
	}
	for value, want := range map[float64]float64{0: -1, 1: 2, 1. / 3: 0} {
		if got := CorrectnessPoints(value); math.Abs(got-want) > 1e-12 {
			t.Errorf("a value of %g is %g points", value, got)
		}
	}
	for supported, want := range map[float64]float64{0: -1, .5: 0, 1: 1} {
		if got := FaithfulnessPoints(supported); got != want {
			t.Errorf("%g supported: %g", supported, got)
		}
	}
}

// The released evaluation's F-score of true and false positives and false negatives,
// and its weights.
func TestFactualityAndCorrectness(t *testing.T) {
	for _, tt := range []struct {
		tp, fp, fn int
		cos, f, c  float64
	}{
		{1, 1, 5, 0, 0.25, 0.3125}, // precision 1/2, recall 1/6
		{1, 0, 1, 1, 2. / 3, 0.75},
		{0, 2, 3, -1, 0, 0},
		{0, 0, 0, 1, 1, 1},
	} {
		f := factuality(tt.tp, tt.fp, tt.fn)
		if c := weighted(f, tt.cos); math.Abs(f-tt.f) > 1e-12 || math.Abs(c-tt.c) > 1e-12 {
			t.Errorf("%+v: %v, %v", tt, f, c)
		}
	}
}
