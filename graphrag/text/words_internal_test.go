// SPDX-License-Identifier: Apache-2.0

package text

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/internal/check"
)

// The tables agree with Unicode's range tables for each character, and with what folding and normalizing
// change.
func TestClassTable(t *testing.T) {
	for _, table := range []*classTable{newClassTable(false), newClassTable(true)} {
		for r := range rune(1 << 16) {
			want := table.classify(r)
			lower := unicode.ToLower(r)
			s := string(lower)
			if table.marks && r >= utf8.RuneSelf && want != separator && (norm.NFC.String("a"+s) != "a"+s ||
				norm.NFC.String("가"+s) != "가"+s || !norm.NFC.PropertiesString(s).BoundaryBefore() || string(appendFolded(nil, lower)) != s) {
				want |= folds
			}
			if table.marks && strings.ContainsRune("\u00AD\u200C\u200D", r) {
				want = joiner
			}
			check.Equal(t, table.plane[r], want, "marks %t: %U is of class", table.marks, r)
		}
	}
}

// A page of the table has the entry of each of its bytes.
func TestPage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all strings.Builder
	for c := range 256 {
		for at := range 8 {
			eight := []byte("aZ09zA5q")
			eight[at] = byte(c)
			all.Write(eight)
		}
	}
	for range 3 * pageBytes {
		all.WriteByte("abcXYZ019 .-\xc3\xa9"[rng.IntN(14)])
	}
	p := new(page)
	for range 2000 {
		s := all.String()[rng.IntN(all.Len()):]
		s = s[:min(len(s), rng.IntN(300)<<rng.IntN(6))]
		n, edges := p.read(s)
		check.Must(t, n >= min(len(s), pageBytes) || n != len(s) && ascii[s[n]] != 0 &&
			(n <= 0 || ascii[s[n-1]] == 0), "%q: the page ends at %d", s, n)
		edge, within := 0, false
		for i := range n {
			if in := ascii[s[i]] != 0; in != within {
				check.Must(t, edge != edges && int(p.edges[edge]) == i, "%q: no edge at %d", s, i)
				edge, within = edge+1, in
			}
			above := ascii[s[i]] == wide
			check.Must(t, p.above(i, i+1) == above, "%q: byte %d is above ASCII: %t", s, i, !above)
			if within && !above && p.lower[i] != ascii[s[i]] {
				t.Fatalf("byte %#02x became %#02x, want %#02x", s[i], p.lower[i], ascii[s[i]])
			}
		}
		if within {
			edge++
		}
		check.Must(t, edge == edges, "%q: %d edges, want %d", s, edges, edge)
	}
}

// A stop word that the splitter cannot produce would never match.
func TestStopWordsAreWords(t *testing.T) {
	for _, l := range languages() {
		a := check.Of(New(Options{Language: l})).OK(t)
		check.Equal(t, a.Name(), string(l), "name %q, want %q", a.Name(), l)
		for w := range a.stop {
			var words []string
			a.Words(w, func(word []byte) bool {
				words = append(words, string(word))
				return true
			})
			check.True(t, len(words) == 1 && words[0] == w, "%s: stop word %q splits into %q", l, w, words)
			_, ok := a.Term(w)
			check.True(t, !ok, "%s: %q is not dropped", l, w)
		}
	}
}
