// SPDX-License-Identifier: Apache-2.0

package short

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/internal/check"
)

// The input of a long answer is read a constant number of times, also where
// the final sigma has to look far.
func TestNormalizeLong(t *testing.T) {
	for _, unit := range []string{"the Σ' ", "Σ", "A.'’", "\xff", "αΣ" + strings.Repeat("'", 1000)} {
		check.True(t, utf8.ValidString(Normalize(strings.Repeat(unit, 2<<20/len(unit)))), "Normalize of 2 MB of %q is not valid UTF-8", unit)
	}
}

func TestScoreErrors(t *testing.T) {
	for p := range Script(len(byScript)) {
		_, err := p.Score("x", nil)
		wantErr := p != SQuAD2
		check.True(t, errors.Is(err, ErrGolds) == wantErr, "%v without gold answers: %v", p, err)
	}
	check.Is(t, check.Err(HotpotQA.Score("x", []string{"x", "y"})), ErrGolds, "hotpot with two gold answers")
	check.True(t, check.Err(Script(99).Score("x", []string{"x"})) != nil, "profile 99 scored")
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "The Eiffel-Tower", "ΟΔΥΣΣΕΥΣ", "İ the\u0301", "a\x1fb", "\xff\x00", "’Σ’"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Normalize(s)
		check.Must(t, utf8.ValidString(got), "%q is not valid UTF-8", got)
		check.Must(t, strings.IndexFunc(got, func(r rune) bool { return isPunct(r) || r >= 'A' && r <= 'Z' }) < 0, "%q holds punctuation or capitals", got)
		for i, w := range strings.Split(got, " ") {
			check.Must(t, w != "a" && w != "an" && w != "the" && (w != "" || i <= 0 && got == "") &&
				strings.IndexFunc(w, unicode.IsSpace) < 0, "%q holds an article or a stray space", got)
		}
		for p := range Script(len(byScript)) {
			sc, err := p.Score(s, []string{s})
			check.Must(t, err == nil && sc.EM == 1 && (sc.F1 == 1 || got == ""),
				"%v of an answer against itself: %+v, %v", p, sc, err)
		}
	})
}

// The ends and the middle of the scales as the challenge states them, and what lies
// between.
func TestScales(t *testing.T) {
	for _, x := range []struct{ coverage, relevance, want float64 }{
		{1, 1, 2}, {1, 0, 1}, {0, 0, -1}, {0, 1, -1}, {.5, 1, .5}, {.5, 0, 0}, {1, .5, 1.5},
	} {
		check.Equal(t, correctness(x.coverage, x.relevance), x.want, "coverage %g, relevance %g", x.coverage, x.relevance)
	}
	for value, want := range map[float64]float64{0: -1, 1: 2, 1. / 3: 0} {
		got := CorrectnessPoints(value)
		check.True(t, math.Abs(got-want) <= 1e-12, "a value of %g is %g points", value, got)
	}
	for supported, want := range map[float64]float64{0: -1, .5: 0, 1: 1} {
		check.Equal(t, FaithfulnessPoints(supported), want, "%g supported", supported)
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
		f := countedF1(tt.tp, tt.fp, tt.fn)
		c := weighted(f, tt.cos)
		check.True(t, math.Abs(f-tt.f) <= 1e-12 && math.Abs(c-tt.c) <= 1e-12, "%+v: %v, %v", tt, f, c)
	}
}
