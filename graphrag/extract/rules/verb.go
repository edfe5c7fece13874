// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// verbGroup is a parsed group of verbs, tokens up to end-1.
type verbGroup struct {
	end      int
	relation string // what of the relation is known by now
	copula   bool   // a form of be alone
	passive  bool
}

// verbs parses the group of verbs of the subjects at token i.
func (x *statements) verbs(i int, subjects []int) (v verbGroup, ok bool) {
	z := x.tokens
	start := i
	var aux class
	be, modalWord := "", ""
	negated := false
	for ; i < len(z) && z[i].small(); i++ {
		t := &z[i]
		switch {
		case t.is(negation):
			negated = true
			aux |= t.class & (formOfBe | formOfHave | formOfDo | modal)
			if t.is(formOfBe) {
				be = "is"
			}
		case t.is(formOfBe):
			aux |= formOfBe
			be = x.copula(i)
		case t.is(formOfHave):
			aux |= formOfHave
		case t.is(formOfDo):
			aux |= formOfDo
		case t.is(modal):
			aux |= modal
			modalWord = x.word(i)
		case t.is(adverb) || strings.HasSuffix(x.word(i), "ly") && t.class == 0:
		default:
			goto main
		}
	}
main:
	if i >= len(z) || i-start > 6 {
		return v, false
	}
	t := &z[i]
	lemma := x.lemma(i)
	switch {
	case aux&formOfBe != 0 && t.small() && (t.is(verbParticiple) || looksPast(x.text, t)) && !t.is(noun):
		v.passive, v.relation, v.end = true, strings.ToLower(x.word(i)), i+1
		if modalWord != "" {
			v.relation = modalWord + " be " + v.relation
		}
	case aux&formOfBe != 0 && t.small() && (t.is(verbIng) || t.class == 0 && strings.HasSuffix(x.word(i), "ing")):
		v.relation, v.end = lemma, i+1
	case aux&formOfBe != 0:
		v.copula, v.relation, v.end = true, be, i
		if modalWord != "" {
			v.relation = modalWord + " be"
		}
	case !t.small():
		if aux&formOfHave == 0 || aux != formOfHave {
			return v, false
		}
		v.relation, v.end = "have", i
	case aux&formOfHave != 0 && (t.is(verbParticiple) || looksPast(x.text, t)):
		v.relation, v.end = lemma, i+1
	case aux&formOfHave != 0:
		v.relation, v.end = "have", i
	case aux&(formOfDo|modal) != 0:
		if !t.is(verbBase) {
			return v, false
		}
		v.relation, v.end = lemma, i+1
	case t.is(verbPast) || looksPast(x.text, t):
		v.relation, v.end = lemma, i+1
		if t.is(verbParticiple) && !t.is(verbBase) && i+1 < len(z) && x.word(i+1) == "by" {
			v.passive, v.relation = true, strings.ToLower(x.word(i))
		}
	case t.is(verbS) && !t.is(noun) && x.verbNotNoun(i):
		v.relation, v.end = lemma, i+1
	case t.is(verbBase) && !t.is(noun) && (len(subjects) > 1 || x.team(subjects[0]) && i+1 < len(z) && (x.entityOf[i+1] != 0 || x.word(i+1) == "the")):
		v.relation, v.end = lemma, i+1
	case t.is(verbParticiple) && i+1 < len(z) && z[i+1].is(preposition): // X, written by Y
		v.passive, v.relation, v.end = true, strings.ToLower(x.word(i)), i+1
	default:
		return v, false
	}
	if modalWord != "" && !v.copula && !v.passive {
		v.relation = modalWord + " " + v.relation
	}
	if v.relation == "have" && i < len(z) && x.entityOf[i] != 0 {
		return v, false
	}
	if !v.copula && t.is(report|hollow) && lemma != "write" {
		return v, false
	}
	if v.end+1 < len(z) && !v.copula && x.word(v.end) == "to" && z[v.end+1].is(verbBase) {
		v.relation += " to " + x.word(v.end+1)
		v.end += 2
	}
	if negated {
		v.relation = x.wording(start, v.end)
	}
	return v, true
}

// team tells whether an entity can take a verb in the plural: "Australia face
// Denmark".
func (x *statements) team(e int) bool {
	kind := x.entities[e].typ
	return kind == location || kind == organization || kind == other
}

// copula returns the form of be at token i, one for each tense.
func (x *statements) copula(i int) string {
	switch strings.ToLower(x.word(i)) {
	case "was", "were", "been":
		return "was"
	}
	return "is"
}

// verbNotNoun tells whether a word in -s is rather a verb than a plural: by
// what follows.
func (x *statements) verbNotNoun(i int) bool {
	if i+1 >= len(x.tokens) {
		return false
	}
	next := &x.tokens[i+1]
	if x.entityOf[i+1] != 0 || next.small() && next.is(determiner) {
		return true
	}
	switch x.lemma(i) {
	case "live", "work", "play", "serve", "come", "go", "belong", "reside", "lie", "stand", "remain", "return", "refer", "participate",
		"begin", "compete", "study", "teach", "lead", "become", "run", "sit":
		return next.small() && next.is(preposition|adverb)
	}
	return false
}
