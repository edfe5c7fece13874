// SPDX-License-Identifier: Apache-2.0

package short

import (
	"errors"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"The  Eiffel-Tower, in Paris!": "eiffeltower in paris",
		"caña":                         "caña",
		"à la carte":                   "à la carte",
		"1939–1945":                    "1939–1945",
		"“The Bell”":                   "“ bell”",
		"1939-1945":                    "19391945",
		"New\u00a0York":                "new york",
		"a\x1fb":                       "b",
		"ΟΔΥΣΣΕΥΣ":                     "οδυσσευς",
		"İ":                            "i\u0307",
		"1,000":                        "1000",
		"Newton's":                     "newtons",
		"snake_case":                   "snakecase",
		"the\u0301":                    "\u0301",
		"":                             "",
		" \t\n":                        "",
		"a an the":                     "",
		"!?":                           "",
		"a\x00b":                       "\x00b",
		"\xff\xfeok":                   "\ufffd\ufffdok",
		"then a theatre":               "then theatre",
	} {
		if got := Normalize(in); got != want {
			t.Errorf("Normalize(%q) = %q, want %q", in, got, want)
		}
	}
}

// The input of a long answer is read a constant number of times, also where
// the final sigma has to look far.
func TestNormalizeLong(t *testing.T) {
	for _, unit := range []string{"the Σ' ", "Σ", "A.'’", "\xff", "αΣ" + strings.Repeat("'", 1000)} {
		s := strings.Repeat(unit, 2<<20/len(unit))
		if got := Normalize(s); !utf8.ValidString(got) {
			t.Errorf("Normalize of 2 MB of %q is not valid UTF-8", unit)
		}
	}
}

func score(t *testing.T, p Script, prediction string, golds ...string) Score {
	t.Helper()
	s, err := p.Score(prediction, golds)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

func TestScore(t *testing.T) {
	for _, tc := range []struct {
		profile    Script
		prediction string
		golds      []string
		em, f1     float64
	}{
		{SQuAD2, "The  Eiffel-Tower, in Paris!", []string{"Eiffel Tower", "the Eiffel tower in paris"}, 0, .5714},
		{HotpotQA, "yes it is", []string{"yes"}, 0, 0},
		{TwoWiki, "yes it is", []string{"yes"}, 0, 0},
		{SQuAD2, "yes it is", []string{"yes"}, 0, .5},
		{SQuAD2, "caña de azúcar", []string{"cana de azucar"}, 0, .3333},
		// Both sides empty after normalization.
		{SQuAD1, "the", []string{"a"}, 1, 0},
		{SQuAD2, "the", []string{"a"}, 1, 1},
		{HotpotQA, "the", []string{"a"}, 1, 0},
		{TwoWiki, "the", []string{"a"}, 1, 0},
		{MuSiQue, "the", []string{"a"}, 1, 1},
		{MRQA, "the", []string{"a"}, 1, 0},
		// One side empty.
		{SQuAD1, "", []string{"x"}, 0, 0},
		{SQuAD2, "", []string{"x"}, 0, 0},
		{MuSiQue, "x", []string{"the"}, 0, 0},
		// A question without an answer.
		{SQuAD2, "", nil, 1, 1},
		{SQuAD2, "x", nil, 0, 0},
		// An empty gold answer beside another.
		{SQuAD2, "", []string{"x", ""}, 0, 0},
		{MuSiQue, "", []string{"x", ""}, 1, 1},
		// Words count as often as both sides have them.
		{MRQA, "x x x y", []string{"x x z"}, 0, .5714},
		{MRQA, "x", []string{"y", "x", "z"}, 1, 1},
	} {
		s := score(t, tc.profile, tc.prediction, tc.golds...)
		if !near(s.EM, tc.em) || !near(s.F1, tc.f1) {
			t.Errorf("%v: %q against %q: EM %.4f F1 %.4f, want %.4f %.4f", tc.profile, tc.prediction, tc.golds, s.EM, s.F1, tc.em, tc.f1)
		}
	}
}

// 2Wiki takes the best precision and the best recall from different answers.
func TestBestApart(t *testing.T) {
	golds := []string{"x", "x y z w v u"}
	got := score(t, TwoWiki, "x y q", golds...)
	if !near(got.Precision, .6667) || got.Recall != 1 || !near(got.F1, .5) {
		t.Errorf("2wiki: %+v, want precision .6667, recall 1, F1 .5", got)
	}
	got = score(t, MRQA, "x y q", golds...)
	if !near(got.Precision, .3333) || got.Recall != 1 || !near(got.F1, .5) {
		t.Errorf("mrqa: %+v, want precision and recall of the gold answer with the best F1", got)
	}
}

func TestScoreErrors(t *testing.T) {
	for _, p := range Scripts() {
		_, err := p.Score("x", nil)
		if wantErr := p != SQuAD2; errors.Is(err, ErrGolds) != wantErr {
			t.Errorf("%v without gold answers: %v", p, err)
		}
	}
	if _, err := HotpotQA.Score("x", []string{"x", "y"}); !errors.Is(err, ErrGolds) {
		t.Errorf("hotpot with two gold answers: %v", err)
	}
	if _, err := Script(99).Score("x", []string{"x"}); err == nil {
		t.Error("profile 99 scored")
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{"", "The Eiffel-Tower", "ΟΔΥΣΣΕΥΣ", "İ the\u0301", "a\x1fb", "\xff\x00", "’Σ’"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Normalize(s)
		if !utf8.ValidString(got) {
			t.Fatalf("%q is not valid UTF-8", got)
		}
		if strings.IndexFunc(got, func(r rune) bool { return isPunct(r) || r >= 'A' && r <= 'Z' }) >= 0 {
			t.Fatalf("%q holds punctuation or capitals", got)
		}
		for i, w := range strings.Split(got, " ") {
			if isArticle([]byte(w)) || w == "" && (i > 0 || got != "") || strings.IndexFunc(w, unicode.IsSpace) >= 0 {
				t.Fatalf("%q holds an article or a stray space", got)
			}
		}
		for _, p := range Scripts() {
			sc, err := p.Score(s, []string{s})
			if err != nil || sc.EM != 1 || sc.F1 != 1 && got != "" {
				t.Fatalf("%v of an answer against itself: %+v, %v", p, sc, err)
			}
		}
	})
}
