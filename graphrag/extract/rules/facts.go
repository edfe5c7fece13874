// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
)

// openFact is a triple of the open sentence; head and tail are entities of it.
type openFact struct {
	head, tail int
	relation   string
}

const (
	// hedgedWeight is the weight of facts in a sentence of reported speech: "officials said that …".
	hedgedWeight = 0.5
	// maxRelationWords and maxRelationBytes bound relations.
	maxRelationWords, maxRelationBytes = 9, 120
)

// state finds the triples that the open sentence states by a clear
// pattern. Questions state nothing, and neither do sentences with "if".
func (x *reader) state() {
	x.facts, x.hedged = x.facts[:0], false
	conditional := strings.HasSuffix(x.tail(), "?")
	for i := range x.tokens {
		x.hedged = x.hedged || x.tokens[i].lower() && x.tokens[i].is(report)
		conditional = conditional || x.wordIs(i, "if", "If", "whether", "unless", "Unless")
	}
	if x.mixed || conditional {
		return
	}
	for _, o := range x.offices {
		if o.body < 0 && o.first > 1 && x.tokens[o.first-1].isMark(markPossessive) { // Y's President X
			o.body = o.first - 2
		}
		if holder := x.entityIn(o.person); holder >= 0 && o.body >= 0 && x.entityIn(o.body) >= 0 {
			x.addFact(holder, "is "+x.wording(o.first, o.last)+" of", x.entityIn(o.body))
		}
	}
	for e := range x.entities {
		if !x.entities[e].numeric() {
			x.officer(e)
			x.apposition(e)
			x.lifetime(e)
			x.clause(e)
		}
	}
}

// addFact records a triple, once.
func (x *reader) addFact(head int, relation string, tail int) {
	h, t := &x.entities[head], &x.entities[tail]
	if head == tail || len(relation) > maxRelationBytes || strings.EqualFold(x.text[h.start:h.end], x.text[t.start:t.end]) {
		return
	}
	if f := (openFact{head, tail, relation}); !slices.Contains(x.facts, f) {
		x.facts = append(x.facts, f)
	}
}

// officer finds "Y's president X" and "Y president X", with Y entity e.
func (x *reader) officer(e int) {
	z, i := x.tokens, x.entities[e].last
	if i < len(z) && z[i].isMark(markPossessive) {
		i++
	}
	from := i
	for i < len(z) && i-from < 5 && z[i].lower() && z[i].is(noun|modifier) {
		i++
	}
	holder := x.entityAt(i)
	if i > from && holder >= 0 && z[i-1].is(role|kin) && !x.entities[holder].numeric() && x.endsObject(holder) {
		x.addFact(holder, "is "+x.wording(from, i)+" of", e)
	}
}

// apposition finds "X, the capital of Y," with X entity e.
func (x *reader) apposition(e int) {
	z, i := x.tokens, x.entities[e].last
	listed := e > 0 && x.wordIs(x.entities[e].first-1, ",") && x.entities[e-1].last == x.entities[e].first-1
	if i+1 >= len(z) || !z[i].isMark(',') || listed || !z[i+1].lower() || !z[i+1].is(role|kin|modifier) && !x.wordIs(i+1, "the", "a", "an") {
		return
	}
	from := i + 1
	for i = from; i < len(z) && i-from < maxRelationWords && x.nominal(i); i++ {
		tail := x.afterArticle(i + 1)
		if !z[i].is(preposition) || i == from || tail < 0 {
			continue
		}
		if end := x.entities[tail].last; x.endsPhrase(end) && x.wordIs(i, "of", "in", "at", "for") {
			x.addFact(e, "is "+x.wording(from, i+1), tail)
		}
		return
	}
}

// nominal reports whether the word at token i can be in a noun phrase.
func (x *reader) nominal(i int) bool {
	t := &x.tokens[i]
	return x.entityOf[i] == 0 && t.isWord() && (!t.lower() && t.is(demonym) ||
		t.lower() && !t.is(conjunction|relative|pronoun|interrogative|formOfBe|formOfHave|formOfDo|modal|negation) && (!t.is(finite|verbIng) || t.is(noun|verbBase|verbParticiple)))
}

// endsPhrase reports whether a phrase ends before token i.
func (x *reader) endsPhrase(i int) bool {
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	return t.kind == markToken && !t.isMark(markPossessive) && t.gap == glued && !t.isMark(markDash) || t.lower() && t.is(conjunction|relative)
}

// lifetime finds the dates in brackets after entity e: "X (born 4 May 1950)", "X (1879–1955)".
func (x *reader) lifetime(e int) {
	i := x.entities[e].last
	if !x.wordIs(i, "(") {
		return
	}
	relation := "lived"
	for i++; i < len(x.tokens) && (x.tokens[i].lower() || x.tokens[i].isMark('.')); i++ {
		switch x.word(i) {
		case "born", "b", "b.":
			relation = "born"
		case "died", "d", "d.":
			relation = "died"
		}
	}
	d := x.entityAt(i)
	if d < 0 || x.entities[d].typ != date || !x.wordIs(x.entities[d].last, ")") {
		return
	}
	if span := x.name(&x.entities[d]); relation != "lived" || x.entities[e].typ == person && len(span) >= 9 && isYear(span[:4]) {
		x.addFact(e, relation, d)
	}
}

// clause finds the triples of which entity s is the subject: "In 1994 X founded Y",
// "X, who was born in Y". The relation is the words from the verb to the object, in
// the manner of ReVerb (Fader, Soderland and Etzioni, EMNLP 2011).
func (x *reader) clause(s int) {
	z, i := x.tokens, x.entities[s].last
	if x.wordIs(i, "(") {
		for i++; i < len(z) && !x.wordIs(i-1, ")"); i++ {
		}
	}
	if x.wordIs(i, ",") && x.wordIs(i+1, "who", "which") {
		i++
	}
	related := x.wordIs(i, "who", "which")
	if related {
		i++
	}
	subjects, first := []int{s}, x.entities[s].first
	for !related && first > 1 && x.word(first-1) == "and" && x.entityOf[first-2] != 0 {
		s = x.entityIn(first - 2)
		subjects, first = append(subjects, s), x.entities[s].first
	}
	if verb := x.verbEnd(i); verb > i && (related || x.opensClause(first)) {
		x.objects(subjects, i, verb)
	}
}

// opensClause reports whether a clause can begin with the subject at token i, its
// article and modifiers before it.
func (x *reader) opensClause(i int) bool {
	z := x.tokens
	for i--; i >= 0 && x.entityOf[i] == 0 && z[i].isWord() && z[i].is(role|modifier|determiner) && x.word(i) != "that"; i-- {
	}
	if i < 0 || x.lineBreak(i+1) {
		return true
	}
	t := &z[i]
	switch {
	case x.entityOf[i] != 0:
		return x.entities[x.entityIn(i)].typ == date // In 1994 X founded Y
	case t.kind == markToken:
		return !t.isMark(markPossessive) && !t.isMark('$') && !t.isMark('/') && !t.isMark('&')
	case x.word(i) == "and":
		return i == 0 || x.entityOf[i-1] == 0
	}
	return t.isWord() && t.is(conjunction|weekday) || x.wordIs(i, "that")
}

// verbEnd returns the token after the verb group at token i, i if there is none.
func (x *reader) verbEnd(i int) int {
	from, auxiliary := i, false
	for ; i < len(x.tokens) && x.tokens[i].lower() && x.entityOf[i] == 0; i++ {
		t := &x.tokens[i]
		switch {
		case t.is(formOfBe | formOfHave | formOfDo | modal | negation):
			auxiliary = true
		case t.is(verbPast|verbParticiple) || looksPast(x.text, t), t.is(verbS) && !t.is(noun), auxiliary && t.is(verbBase|verbIng) && !t.is(noun):
			return i + 1
		case t.is(adverb) || strings.HasSuffix(x.word(i), "ly") && t.class == 0:
		case auxiliary:
			return i
		default:
			return from
		}
	}
	if auxiliary {
		return i
	}
	return from
}

// objects finds the objects of the verb between the tokens from and verb, directly or
// behind a few words and a preposition.
func (x *reader) objects(subjects []int, from, verb int) {
	z, i := x.tokens, verb
	for i < len(z) && i-from < maxRelationWords && x.entityAt(i) < 0 && (x.nominal(i) || z[i].isMark(markPossessive)) {
		i++
	}
	tail := x.entityAt(i)
	relation := x.wording(from, i)
	for tail >= 0 && x.endsObject(tail) && !(z[i-1].is(formOfBe) && x.entities[tail].typ == date) {
		for _, s := range subjects {
			x.addFact(s, relation, tail)
		}
		switch i = x.entities[tail].last; {
		case i < len(z) && (z[i].isMark(',') || x.word(i) == "and"): // Y, Z and A
			for i++; x.wordIs(i, "and", "the"); i++ {
			}
			if tail = x.entityAt(i); tail >= 0 && x.verbEnd(x.entities[tail].last) > x.entities[tail].last {
				return // another clause
			}
		case i < len(z) && z[i].lower() && z[i].is(preposition) && x.word(i) != "of": // founded Y in Z
			relation = x.wording(from, verb) + " " + x.word(i)
			tail = x.afterArticle(i + 1)
		default:
			return
		}
	}
}

// afterArticle returns the entity at token i, an article before it or not, -1 if there is none.
func (x *reader) afterArticle(i int) int {
	if x.wordIs(i, "the", "a", "an") {
		i++
	}
	return x.entityAt(i)
}

// endsObject reports whether entity e is an object by itself: no noun follows that it
// modifies, no possessive and no hyphen.
func (x *reader) endsObject(e int) bool {
	i := x.entities[e].last
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	return !plainWord(t) && !t.isMark(markPossessive) && !(t.isMark(markDash) && t.gap == glued)
}

// wording returns the tokens from i up to j in lower case, without articles.
func (x *reader) wording(i, j int) string {
	x.phrase = x.phrase[:0]
	for ; i < j; i++ {
		possessive := x.tokens[i].isMark(markPossessive)
		if x.wordIs(i, "the", "a", "an") || x.tokens[i].kind == markToken && !possessive {
			continue
		}
		if len(x.phrase) > 0 && !possessive {
			x.phrase = append(x.phrase, ' ')
		}
		x.phrase = appendLower(x.phrase, x.word(i))
	}
	return string(x.phrase)
}
