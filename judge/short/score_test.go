// SPDX-License-Identifier: Apache-2.0

package short

import (
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

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
