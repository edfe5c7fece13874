// SPDX-License-Identifier: Apache-2.0

package text_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
)

func ExampleStripLinks() {
	s := "The [war](https://a.org/w) ended in 1945.[[7]](https://a.org/#n7)"
	clean, m := text.StripLinks(s)
	fmt.Println(clean)
	word := strings.Index(clean, "ended")
	fmt.Println(m.Source(word), s[m.Source(word):][:5])
	// Output:
	// The war ended in 1945.
	// 27 ended
}

func TestStripLinks(t *testing.T) {
	for _, c := range table(t, "links.txt") {
		if got, _ := text.StripLinks(c[0]); got != c[1] {
			t.Errorf("StripLinks(%q) = %q, want %q", c[0], got, c[1])
		}
		checkStrip(t, c[0])
	}
}

// checkStrip holds what must be true of every text.
func checkStrip(t *testing.T, s string) {
	t.Helper()
	clean, m := text.StripLinks(s)
	check.Must(t, len(clean) <= len(s), "%q became longer: %q", s, clean)
	last := -1
	for i := range len(clean) {
		at := m.Source(i)
		check.Must(t, at > last && at < len(s) && s[at] == clean[i], "%q: clean byte %d maps to %d after %d", s, i, at, last)
		last = at
	}
	p := m.Span(text.Span{Start: 0, End: len(clean)})
	check.Must(t, p.Start >= 0 && p.End <= len(s) && p.End-p.Start >= len(clean), "%q: the whole maps to %v", s, p)
}

func checkIdempotent(t *testing.T, s string) {
	t.Helper()
	clean, _ := text.StripLinks(s)
	again, _ := text.StripLinks(clean)
	check.Must(t, again == clean, "%q: stripped to %q, then to %q", s, clean, again)
}

func TestStripLinksProperties(t *testing.T) {
	pieces := []string{"[", "]", "(", ")", "](", "![", "<", ">", "http://", "www.", "a", "b", " ", "\n", "\\", "\"", "[1]", "(x)", "。", "\xff"}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		var b strings.Builder
		for range rng.IntN(25) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		checkStrip(t, b.String())
		checkIdempotent(t, b.String())
	}
}

// Hostile text must not take quadratic time: these end in a blink or
// never.
func TestStripLinksHostile(t *testing.T) {
	for _, piece := range []string{"[", "]", "![", "[](", "[](<", "[a](u \"", "[a](u '", "[a](u (", "[a](u\\\"", "[a]( ", "](a", "<http://", "http://(", "www.", "\\", "[[1]](", "[a](b)"} {
		s := strings.Repeat(piece, 200_000)
		clean, m := text.StripLinks(s)
		n := len(clean)
		check.True(t, n <= 0 || m.Source(n-1) < len(s), "%q: last byte maps to %d", piece, m.Source(n-1))
	}
	deep := strings.Repeat("[", 100_000) + "x" + strings.Repeat("](u)", 100_000)
	clean, _ := text.StripLinks(deep)
	check.Equal(t, clean, "x", "nested links became")
}

func FuzzStripLinks(f *testing.F) {
	for _, s := range []string{"", "a [b](c) ![d](e) [[1]](f) <http://g> https://h", `[a](b "c") \[d](e`, "htt[p](x)://y"} {
		f.Add(s)
	}
	f.Fuzz(checkStrip)
}

func TestStripLinksOfPages(t *testing.T) {
	before, after := 0, 0
	for _, s := range check.Pages(t, 14) {
		checkStrip(t, s)
		checkIdempotent(t, s)
		clean, _ := text.StripLinks(s)
		before, after = before+len(s), after+len(clean)
	}
	share := 1 - float64(after)/float64(before)
	t.Logf("%.1f %% of %d bytes are links", 100*share, before)
	check.True(t, share >= 0.2 && share <= 0.5,
		"%.1f %% were stripped; about 36 %% of the pages sit in link targets", 100*share)
}

// A cleaner of one's own says what it kept.
func ExampleNewMapping() {
	source := "The <b>Moon</b> is small."
	kept := []text.Span{{0, 4}, {7, 11}, {15, 25}}
	var clean string
	for _, p := range kept {
		clean += p.In(source)
	}
	m := text.NewMapping(kept)
	at := strings.Index(clean, "Moon is")
	p := m.Span(text.Span{Start: at, End: at + len("Moon is")})
	fmt.Println(clean)
	fmt.Println(p.In(source))
	// Output:
	// The Moon is small.
	// Moon</b> is
}
