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
func (x *phrases) verbs(i int, subjects []int) (v verbGroup, ok bool) {
	z := x.tokens
	a := x.auxiliaries(i)
	if a.end >= len(z) || a.end-i > 6 {
		return v, false
	}
	if v, ok = x.mainVerb(a, subjects); !ok {
		return v, false
	}
	if a.modal != "" && !v.copula && !v.passive {
		v.relation = a.modal + " " + v.relation
	}
	if v.relation == "have" && x.entityOf[a.end] != 0 || !v.copula && z[a.end].is(report|vague) && x.lemma(a.end) != "write" {
		return v, false
	}
	if v.end+1 < len(z) && !v.copula && x.word(v.end) == "to" && z[v.end+1].is(verbBase) {
		v.relation += " to " + x.word(v.end+1)
		v.end += 2
	}
	if a.negated {
		v.relation = x.wording(i, v.end)
	}
	return v, true
}

// auxiliaries are the words before a main verb.
type auxiliaries struct {
	end     int   // the token after them
	forms   class // of be, have, do and the modals, those that occur
	be      string
	modal   string
	negated bool
}

func (x *phrases) auxiliaries(i int) auxiliaries {
	var a auxiliaries
	for ; i < len(x.tokens) && x.tokens[i].lower(); i++ {
		t := &x.tokens[i]
		switch {
		case t.is(negation):
			a.negated = true
			if t.is(formOfBe) {
				a.be = "is"
			}
		case t.is(formOfBe):
			a.be = x.copula(i)
		case t.is(modal) && !t.is(formOfHave|formOfDo):
			a.modal = x.word(i)
		case t.is(formOfHave | formOfDo):
		case t.is(adverb) || strings.HasSuffix(x.word(i), "ly") && t.class == 0:
			continue
		default:
			a.end = i
			return a
		}
		a.forms |= t.class & (formOfBe | formOfHave | formOfDo | modal)
	}
	a.end = i
	return a
}

// mainVerb parses the verb after the auxiliaries.
func (x *phrases) mainVerb(a auxiliaries, subjects []int) (v verbGroup, ok bool) {
	i, t := a.end, &x.tokens[a.end]
	past := t.is(verbParticiple) || looksPast(x.text, t)
	switch {
	case a.forms&formOfBe != 0:
		return x.afterBe(a), true
	case !t.lower() && a.forms != formOfHave:
		return v, false
	case a.forms&formOfHave != 0 && !(t.lower() && past):
		return verbGroup{relation: "have", end: i}, true
	case a.forms&formOfHave != 0, a.forms&(formOfDo|modal) != 0 && t.is(verbBase):
		return verbGroup{relation: x.lemma(i), end: i + 1}, true
	case a.forms != 0:
		return v, false
	}
	return x.finiteVerb(i, subjects)
}

// afterBe parses the verb after a form of be: "was founded", "is playing", or the
// copula alone.
func (x *phrases) afterBe(a auxiliaries) verbGroup {
	i, t := a.end, &x.tokens[a.end]
	v := verbGroup{relation: a.be, end: i}
	switch {
	case t.lower() && (t.is(verbParticiple) || looksPast(x.text, t)) && !t.is(noun):
		v.passive, v.relation, v.end = true, strings.ToLower(x.word(i)), i+1
	case t.lower() && (t.is(verbIng) || t.class == 0 && strings.HasSuffix(x.word(i), "ing")):
		return verbGroup{relation: x.lemma(i), end: i + 1}
	default:
		v.copula = true
	}
	switch {
	case a.modal == "":
	case v.passive:
		v.relation = a.modal + " be " + v.relation
	default:
		v.relation = a.modal + " be"
	}
	return v
}

// finiteVerb parses a verb without auxiliaries, or the participle of "X, written
// by Y".
func (x *phrases) finiteVerb(i int, subjects []int) (v verbGroup, ok bool) {
	z, t := x.tokens, &x.tokens[i]
	v = verbGroup{relation: x.lemma(i), end: i + 1}
	switch {
	case t.is(verbPast) || looksPast(x.text, t):
		v.passive = t.is(verbParticiple) && !t.is(verbBase) && i+1 < len(z) && x.word(i+1) == "by"
	case t.is(verbS) && !t.is(noun) && x.verbNotNoun(i):
	case t.is(verbBase) && !t.is(noun) && (len(subjects) > 1 || x.team(subjects[0]) && i+1 < len(z) && (x.entityOf[i+1] != 0 || x.word(i+1) == "the")):
	case t.is(verbParticiple) && i+1 < len(z) && z[i+1].is(preposition):
		v.passive = true
	default:
		return v, false
	}
	if v.passive {
		v.relation = strings.ToLower(x.word(i))
	}
	return v, true
}

// team reports whether an entity can take a verb in the plural: "Australia face
// Denmark".
func (x *phrases) team(e int) bool {
	kind := x.entities[e].typ
	return kind == location || kind == organization || kind == other
}

// copula returns the form of be at token i, one for each tense.
func (x *sentence) copula(i int) string {
	switch strings.ToLower(x.word(i)) {
	case "was", "were", "been":
		return "was"
	}
	return "is"
}

// verbNotNoun reports whether a word in -s is rather a verb than a plural: by
// what follows.
func (x *phrases) verbNotNoun(i int) bool {
	if i+1 >= len(x.tokens) {
		return false
	}
	next := &x.tokens[i+1]
	if x.entityOf[i+1] != 0 || next.lower() && next.is(determiner) {
		return true
	}
	switch x.lemma(i) {
	case "live", "work", "play", "serve", "come", "go", "belong", "reside", "lie", "stand", "remain", "return", "refer", "participate",
		"begin", "compete", "study", "teach", "lead", "become", "run", "sit":
		return next.lower() && next.is(preposition|adverb)
	}
	return false
}
