// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// witness tells which names a passage bears out. Models name things in words of
// their own: "Bell Rock Lighthouse" where a page speaks of the Bell Rock, "Invention
// of the Flasher" where somebody invents one. To want the name as it stands loses a
// third of the entities of a careful model and half of its facts; to want half of
// its words, one in twenty, and still nothing comes from elsewhere.
type witness struct {
	folded string
	words  map[string]bool
}

// wordForms are the words of a text as forms of others: stems, without stop words.
func wordForms(s string) []string { return text.Default().Terms(s) }

func newWitness(c graphrag.Chunk) witness {
	w := witness{" " + kg.FoldUnicode.Key(c.Title) + " " + kg.FoldUnicode.Key(c.Text) + " ", make(map[string]bool)}
	for _, of := range []string{c.Title, c.Text} {
		for _, term := range wordForms(of) {
			w.words[term] = true
		}
	}
	return w
}

// bears tells whether a name stands in the passage, or at least half of its words.
func (w witness) bears(name string) bool {
	if strings.Contains(w.folded, kg.FoldUnicode.Key(name)) {
		return true
	}
	words, found := wordForms(name), 0
	for _, word := range words {
		if w.words[word] {
			found++
		}
	}
	return found > 0 && 2*found >= len(words)
}

// verify drops mentions, facts and attributes that the chunk does not bear out.
func verify(c graphrag.Chunk, x *kg.Extraction) {
	w := newWitness(c)
	dropped := func(kind, text string, names ...string) bool {
		for _, name := range names {
			if !w.bears(name) {
				problem(x, kind, text, "not in the passage: "+kg.Beginning(name))
				return true
			}
		}
		return false
	}
	x.Mentions = slices.DeleteFunc(x.Mentions, func(m kg.Mention) bool { return dropped("mention", m.Name, m.Name) })
	x.Facts = slices.DeleteFunc(x.Facts, func(f kg.Fact) bool { return dropped("fact", f.Head+" | "+f.Relation+" | "+f.Tail, f.Head, f.Tail) })
	x.Attributes = slices.DeleteFunc(x.Attributes, func(a kg.Attribute) bool { return dropped("attribute", a.Entity+" | "+a.Key, a.Entity) })
}
