// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// relate finds the triples and attributes of the sentence, whose entities are
// known. Questions state nothing, and neither does what follows "if".
func (x *statements) relate(titles []title) {
	x.facts, x.attributes = x.facts[:0], x.attributes[:0]
	x.acronyms()
	if x.patched || x.asks() {
		return
	}
	x.hedged = x.reports()
	x.officeHolders(titles)
	for e := range x.entities {
		x.belongings(e)
		x.appositions(e)
		x.brackets(e)
		x.located(e)
		x.adjacent(e)
		if !x.doubted(e) {
			x.clauses(e)
		}
	}
}

// reports tells whether somebody is quoted in the sentence: a verb of saying, or
// "according to".
func (x *sentence) reports() bool {
	for i := range x.tokens {
		t := &x.tokens[i]
		if t.small() && (t.is(report) && t.is(verbPast|verbS) && x.lemma(i) != "write" || x.word(i) == "according") {
			return true
		}
	}
	return false
}

// doubted tells whether what entity e does is put in doubt before it: "if X
// won", "claimed that X won".
func (x *phrases) doubted(e int) bool {
	for i := x.entities[e].first - 1; i >= 0; i-- {
		t := &x.tokens[i]
		if t.isMark(';') {
			return false
		}
		if !t.isWord() || x.entityOf[i] != 0 {
			continue
		}
		switch w := x.word(i); {
		case strings.EqualFold(w, "if"), strings.EqualFold(w, "whether"), strings.EqualFold(w, "unless"):
			return true
		case t.is(doubt) && x.entities[e].first-i <= 4 && t.small():
			return true
		}
	}
	return false
}
