// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// relate finds the triples and attributes of the sentence, whose entities are
// known. Questions state nothing, and neither does what follows "if".
func (x *statements) relate(titles []title) {
	x.facts, x.attributes = x.facts[:0], x.attributes[:0]
	x.acronyms()
	if x.mixed || x.isQuestion() {
		return
	}
	x.hedged = x.hasReportingVerb()
	x.titleHolders(titles)
	for e := range x.entities {
		x.roleHolders(e)
		x.appositions(e)
		x.brackets(e)
		x.located(e)
		x.adjacent(e)
		if !x.doubted(e) {
			x.clauses(e)
		}
	}
}

// hasReportingVerb reports whether the sentence reports what somebody stated: by a
// verb such as "say", or by "according to".
func (x *sentence) hasReportingVerb() bool {
	for i := range x.tokens {
		t := &x.tokens[i]
		if t.lower() && (t.is(report) && t.is(verbPast|verbS) && x.lemma(i) != "write" || x.word(i) == "according") {
			return true
		}
	}
	return false
}

// doubted reports whether what entity e does is put in doubt before it: "if X
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
		case t.is(doubt) && x.entities[e].first-i <= 4 && t.lower():
			return true
		}
	}
	return false
}
