// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func ExampleSentences() {
	s := "Dr. J. R. R. Tolkien was born on 3 Jan. 1892.[1] \"Is it so?\" he asked.\n\n* an item\n* 今天很好。明天呢？"
	for _, p := range text.Sentences(s) {
		fmt.Println(p.Start, p.In(s))
	}
	// Output:
	// 0 Dr. J. R. R. Tolkien was born on 3 Jan. 1892.[1]
	// 49 "Is it so?" he asked.
	// 72 * an item
	// 82 * 今天很好。
	// 99 明天呢？
}

func cut(s string) []string {
	var out []string
	for _, p := range text.Sentences(s) {
		out = append(out, p.In(s))
	}
	return out
}

// The ends of sentences are marked by ¶; the white space after it is part of no sentence. A text in another
// language has that language's abbreviations, ordinals, titles, quotes and sentence beginnings.
func TestSentences(t *testing.T) {
	for _, c := range table(t, "sentences.txt") {
		got := text.LanguageOf(c[1])
		check.True(t, c[0] == "" || string(got) == c[0], "%s is taken for %q", c[0], got)
		checkCut(t, c[1])
	}
}

// checkCut compares the sentences of a text with the marked ones.
func checkCut(t *testing.T, marked string) {
	t.Helper()
	var want []string
	for _, piece := range strings.Split(marked, "¶") {
		if piece = strings.TrimSpace(piece); piece != "" {
			want = append(want, piece)
		}
	}
	check.Equal(t, cut(strings.ReplaceAll(marked, "¶", "")), want, "%q", marked)
}

// checkSentences checks what must be true of every text.
func checkSentences(t *testing.T, s string) {
	t.Helper()
	at, valid := 0, utf8.ValidString(s)
	for _, p := range text.Sentences(s) {
		check.Must(t, p.Start >= at && p.End > p.Start && p.End <= len(s), "%q: span %v after offset %d", s, p, at)
		check.Must(t, strings.TrimSpace(s[at:p.Start]) == "", "%q: %q is in no sentence", s, s[at:p.Start])
		got := p.In(s)
		check.Must(t, strings.TrimFunc(got, unicode.IsSpace) == got, "%q: %q is not trimmed", s, got)
		check.Must(t, !valid || utf8.ValidString(p.In(s)), "%q: %q cuts a rune", s, p.In(s))
		at = p.End
	}
	check.Must(t, strings.TrimSpace(s[at:]) == "", "%q: %q is in no sentence", s, s[at:])
}

func TestSentencesProperties(t *testing.T) {
	pieces := []string{"Dr", ".", "!", "?", " ", "\n", "\n\n", "The", "u.s", "9", "[1]", ")", "”", "。", "é", "\xff", "\x00", "- ", "| ", "…", "...", "\u2028", "a", "'", "’", "l'"}
	// The language, whose abbreviations are used, is recognized by its words.
	languages := []string{"", "Der Mann und die Frau sind nicht auf dem Weg. ", "Le chat est dans la maison et elle ne dort pas. ", "Он не был в доме и она не была там. "}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		b.WriteString(languages[rng.IntN(len(languages))])
		for range rng.IntN(30) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		checkSentences(t, b.String())
	}
	// Long sequences without a sentence end take linear time.
	for _, piece := range []string{".", "a", " ", "\n", "[", "a. ", "... ", ". ", "。", "[1]", "- ", "\"", "1. "} {
		checkSentences(t, strings.Repeat(piece, 200_000))
	}
}

func FuzzSentences(f *testing.F) {
	for _, s := range []string{"", "A. B", "a\n\nb", "。\xff.", "- 1. [1] U.S. ... “x.” y", "Der Mann und die Frau sind nicht da. '. ?", strings.Repeat(". ", 50)} {
		f.Add(s)
	}
	f.Fuzz(checkSentences)
}

func TestSentencesOfPages(t *testing.T) {
	for _, s := range check.Pages(t, 14) {
		checkSentences(t, s)
	}
}
