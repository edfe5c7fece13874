// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"bytes"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// layout is what a piece of a page is.
type layout uint8

const (
	boilerplate  layout = iota // menus, banners, share buttons
	fragment                   // headlines, items of lists, cells, references: capitals mean little
	foreignProse               // sentences of another language
	prose                      // English sentences
	query                      // a question of a user
)

// layout says what the open sentence is. It looks at the tables alone, so that
// it is the same before and after the corpus was learned.
func (x *sentence) layout() layout {
	if len(x.tokens) == 0 {
		return boilerplate
	}
	n := x.countTokens()
	switch {
	case (n.banner || x.tokens[0].kind == markToken) && n.words < 40 && x.isBoilerplate():
		return boilerplate
	case 2*n.foreign > n.words:
		if n.words >= 5 && 2*n.small >= n.words {
			return foreignProse
		}
		return fragment
	case n.words < 5 || 2*n.numbers > n.words || n.initials > 2, n.words > 60 && 5*n.small < 3*n.words:
		return fragment
	case 6*n.functions >= n.words && n.verbs > 0 && 4*n.small >= n.words && (2*n.small > n.words && n.words >= 12 || x.terminated()):
		return prose
	case n.german > 1:
		return fragment
	case 10*n.functions < n.words && 4*n.small >= 3*n.words && n.words >= 6 && x.terminated():
		return foreignProse
	}
	return fragment
}

// countTokens counts the kinds of tokens of a sentence.
type census struct {
	words, small, functions, verbs, initials int
	numbers, foreign                         int
	german                                   int  // words of German, whose nouns all have capitals
	banner                                   bool // a word that begins a phrase of buttons and banners
}

func (x *sentence) countTokens() (n census) {
	for i := range x.tokens {
		t := &x.tokens[i]
		n.banner = n.banner || t.is(boilerplateWord)
		switch t.kind {
		case numberToken:
			n.numbers++
		case unspacedToken:
			n.foreign++
		case wordToken:
			n.words++
			if t.lower() {
				n.small++
				if t.is(germanWord) {
					n.german++
				}
			}
			if t.is(function) {
				n.functions++
			}
			if t.lower() && t.is(formOfBe|formOfHave|formOfDo|modal|anyVerb) || looksPast(x.text, t) {
				n.verbs++
			}
			if t.has(initials) && t.has(dotted) && !t.has(upperOnly) {
				n.initials++
			}
			if t.has(foreign) {
				n.foreign++
			}
		}
	}
	return n
}

// isBoilerplate looks the sentence up in the phrases of buttons and banners.
func (x *sentence) isBoilerplate() bool {
	first := x.tokens[0].start
	x.lower = appendLower(x.lower[:0], x.text[first:min(x.span.End, int(first)+300)])
	for _, phrase := range x.lexicon.tables.starts {
		if len(phrase) <= len(x.lower) && phrase[0] == x.lower[0] && string(x.lower[:len(phrase)]) == phrase {
			return true
		}
	}
	for _, phrase := range x.lexicon.tables.anywhere {
		if i := bytes.IndexByte(x.lower, phrase[0]); i >= 0 && bytes.Contains(x.lower[i:], phrase) {
			return true
		}
	}
	return false
}

// segment is a sentence of a chunk, and what it is.
type segment struct {
	text.Span
	layout layout
}

// segments returns the sentences of a text, but for boilerplate.
func (x *sentence) segments(s string) []segment {
	spans := text.Sentences(s)
	out := make([]segment, 0, len(spans))
	for _, span := range spans {
		x.open(s, span)
		if k := x.layout(); k != boilerplate {
			out = append(out, segment{span, k})
		}
	}
	return out
}
