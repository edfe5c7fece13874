// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/wildgraph/wildgraph/internal/check"
)

// The tables say of each rune what the range tables of Unicode do, and of all that folding or
// normalizing changes that it does.
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
