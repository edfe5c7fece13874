// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// This file finds triples in clauses, after the manner of ReVerb (Fader,
// Soderland and Etzioni, Identifying Relations for Open Information Extraction,
// EMNLP 2011, section 3): a subject, a group of verbs with perhaps a few nouns
// and a preposition at its end, an object. Both ends are entities.

// clauses finds the triples of which entity s is the subject.
func (x *reader) clauses(s int) {
	i, related, reduced, ok := x.predicate(s)
	if !ok {
		return
	}
	subjects, ok := x.subject(s, related)
	if !ok {
		return
	}
	for range maxVerbs {
		v, ok := x.verbs(i, subjects)
		if !ok {
			return
		}
		if reduced {
			v.passive, v.relation, reduced = true, strings.ToLower(x.word(i)), false
		}
		if v.copula && v.relation == "is" || v.copula && v.relation == "was" {
			x.describe(subjects[0], v.end)
		}
		stated := len(x.facts)
		i = x.objects(subjects, v)
		if v.copula && len(x.facts) == stated {
			i = x.reduced(subjects, i)
		}
		if i+2 >= len(x.tokens) {
			return
		}
		comma := x.tokens[i].isMark(',')
		if comma {
			i++
		}
		switch w := x.word(i); {
		case w == "and" || w == "but":
		case comma && x.tokens[i].small() && x.tokens[i].is(verbIng) && x.owner[i] == 0: // , becoming Y
			if x.tokens[i].is(noun) || x.lemma(i) == "include" || x.lemma(i) == "accord" {
				return
			}
			x.objects(subjects, verbGroup{end: i + 1, relation: x.lemma(i)})
			return
		case v.copula && !comma && (w == "who" || w == "that" || w == "which"): // X is a group that …
		default:
			return
		}
		i++
		if i >= len(x.tokens) || !x.tokens[i].is(finite|verbParticiple|formOfBe|modal|negation|adverb) && !looksPast(x.text, &x.tokens[i]) {
			return
		}
	}
}

// reduced finds the triples of the participles at token i after "X is a film":
// "directed by Y and starring Z". It returns where it stopped.
func (x *reader) reduced(subjects []int, i int) int {
	z := x.tokens
	for n := 0; n < maxVerbs && i+1 < len(z); n++ {
		j := i
		if w := x.word(j); n > 0 && (w == "and" || w == "," && x.word(j+1) != "and") {
			j++
		}
		t := &z[j]
		if j+1 >= len(z) || !t.small() || x.owner[j] != 0 {
			return i
		}
		stated := len(x.facts)
		switch {
		case (t.is(verbParticiple) || looksPast(x.text, t)) && z[j+1].small() && z[j+1].is(preposition):
			j = x.objects(subjects, verbGroup{end: j + 1, relation: strings.ToLower(x.word(j)), passive: true})
		case t.is(verbIng) && !t.is(noun) && x.lemma(j) != "include" && x.lemma(j) != "accord" && x.lemma(j) != "be":
			j = x.objects(subjects, verbGroup{end: j + 1, relation: x.lemma(j)})
		}
		if len(x.facts) == stated {
			return i
		}
		i = j
	}
	return i
}

// maxVerbs bounds the verbs that share a subject: "A founded B and sold C".
const maxVerbs = 3

// objects finds the objects after a group of verbs, and returns where it
// stopped.
func (x *reader) objects(subjects []int, v verbGroup) int {
	z := x.tokens
	relation, i := v.relation, v.end
	prepositions := 0
	from := i
	// V N… P: nouns and prepositions before the object belong to the relation.
	for i < len(z) && i-from < maxRelationWords {
		if tail := x.argument(i, prepositions == 0 && i == from || i > from && z[i-1].is(preposition)); tail >= 0 {
			if prepositions > 0 && x.wrongFor(i-1, tail) || v.copula && x.entities[tail].typ == date {
				return i
			}
			last := from
			if prepositions > 0 {
				last = x.lastPreposition(from, i) + 1
			}
			if words := x.wording(from, last); words != "" {
				relation += " " + words
			}
			if last-1 > from {
				v.relation += " " + x.wording(from, last-1)
			}
			return x.found(subjects, relation, tail, v, last == from)
		}
		t := &z[i]
		if e := x.entityAt(i); e >= 0 && x.modifies(e) { // the World Cup final
			i = int(x.entities[e].last)
			continue
		}
		if e := x.entityAt(i); e >= 0 && x.entities[e].typ != date && int(x.entities[e].last)+1 < len(z) && z[x.entities[e].last].isMark(markPossessive) {
			i = int(x.entities[e].last) + 1 // met Y's advisers in Z
			continue
		}
		if x.owner[i] == 0 && t.isWord() && !t.small() && t.is(demonym|role|modifier) { // met German officials in Z
			i++
			continue
		}
		if t.small() && t.is(conjunction) && i > from && i+1 < len(z) && plainWord(&z[i-1]) && plainWord(&z[i+1]) && x.word(i) == "and" {
			i++
			continue
		}
		if !t.small() && t.kind != numberToken || x.owner[i] != 0 || t.is(conjunction|relative|pronoun|formOfBe|formOfHave|formOfDo|modal|question) ||
			t.is(verbPast|verbIng) && !t.is(noun|verbBase) && i > from && !z[i-1].is(determiner) && !(t.is(verbIng) && z[i-1].is(preposition)) {
			return i
		}
		if t.is(preposition) {
			prepositions++
			if w := x.word(i); w == "than" || w == "like" || w == "including" || w == "excluding" || w == "despite" || w == "except" || w == "without" || prepositions > 3 {
				return i
			}
		}
		i++
	}
	return i
}

// modifies tells whether entity e stands before a noun it tells more of.
func (x *reader) modifies(e int) bool {
	i := int(x.entities[e].last)
	return x.entities[e].typ != date && i < len(x.tokens) && plainWord(&x.tokens[i])
}

// plainWord tells whether a token is a word in small letters that is no verb and
// no word of the closed classes, as far as the tables know.
func plainWord(t *token) bool { return t.small() && !t.is(function|anyVerb|adverb) }

// maxRelationWords bounds the words between a verb and its object.
const maxRelationWords = 9

func (x *reader) lastPreposition(from, i int) int {
	for i--; i > from && !x.tokens[i].is(preposition); i-- {
	}
	return i
}

// argument returns the entity that begins at token i, its article and
// modifiers before it; -1 if there is none that can be an object.
func (x *reader) argument(i int, allowed bool) int {
	if !allowed {
		return -1
	}
	z := x.tokens
	if i < len(z) && z[i].small() && z[i].is(determiner) {
		if w := x.word(i); w != "the" && w != "a" && w != "an" && w != "its" && w != "their" && w != "his" && w != "her" && w != "both" {
			return -1
		}
		i++
	}
	for n := 0; i < len(z) && n < 4 && x.owner[i] == 0; n++ {
		t := &z[i]
		if i > 0 && x.word(i-1) == "to" && t.small() && !t.is(noun|modifier) { // to scrutinise Y
			return -1
		}
		if !t.isWord() || t.small() && t.is(function|finite|verbIng|adverb) && !t.is(noun) || !t.small() && !t.is(role|modifier|honorific|demonym) {
			return -1
		}
		i++
	}
	if i >= len(z) || x.owner[i] == 0 {
		return -1
	}
	e := int(x.owner[i]) - 1
	if int(x.entities[e].first) != i || !x.closed(int(x.entities[e].last)) {
		return -1
	}
	return e
}

// closed tells whether an entity that ends before token i is an object by
// itself, and not the beginning of a longer one or of a clause.
func (x *reader) closed(i int) bool {
	z := x.tokens
	if i >= len(z) {
		return true
	}
	t := &z[i]
	switch {
	case t.kind == markToken:
		return strings.IndexByte(",.;:)(\"'?!*", t.mark) >= 0 || t.mark == markDash && t.gap != glued
	case t.kind == numberToken && x.owner[i] == 0: // beat Y 2-1
		return i+1 < len(z) && !isYear(x.word(i)) && (z[i+1].kind == markToken && !z[i+1].isMark('%') || z[i+1].small() && z[i+1].is(preposition|conjunction))
	case t.kind != wordToken:
		return false
	case x.owner[i] != 0:
		return x.entities[x.owner[i]-1].typ == date
	case t.is(weekday):
		return true
	case !t.small(), t.is(formOfBe | formOfHave | formOfDo | modal | verbPast | negation):
		return false
	case t.is(adverb) && i+1 < len(z) && z[i+1].small() && z[i+1].is(finite|formOfBe|formOfHave|modal|negation) && !z[i+1].is(noun):
		return false
	case x.word(i) == "to" && i+1 < len(z) && z[i+1].is(verbBase):
		return false
	case x.word(i) == "a", x.word(i) == "an", x.word(i) == "the", x.word(i) == "his", x.word(i) == "its", x.word(i) == "their": // gave Y a prize
		return false
	case t.is(function|adverb|weekday) || strings.HasSuffix(x.word(i), "ly"):
		return true
	}
	return t.is(verbIng) && !t.is(noun)
}

// found records the triples of the subjects with an object and those that "and"
// binds to it, then the further objects behind prepositions.
func (x *reader) found(subjects []int, relation string, tail int, v verbGroup, direct bool) int {
	i := x.conjuncts(tail, func(t int) { x.join(subjects, relation, t) })
	for n := 0; n < 3 && i+1 < len(x.tokens); n++ {
		t := &x.tokens[i]
		if !t.small() || !t.is(preposition) || t.is(conjunction) || v.copula {
			break
		}
		next := x.argument(i+1, true)
		if next < 0 || x.word(i) == "of" || x.wrongFor(i, next) {
			break
		}
		if direct && !v.passive {
			x.join(subjects, v.relation+" "+x.name(&x.entities[tail])+" "+x.word(i), next)
		} else {
			x.join(subjects, v.relation+" "+strings.ToLower(x.word(i)), next)
		}
		i = int(x.entities[next].last)
	}
	return i
}

// wrongFor tells whether the preposition at token i with a date says only one
// end of a time: "from 1990 to 2006".
func (x *reader) wrongFor(i, tail int) bool {
	switch x.word(i) {
	case "to", "between", "from":
		return x.entities[tail].typ == date
	}
	return false
}

// conjuncts calls do for the entity and for those bound to it by commas and
// "and", and returns the token after the last. "A beat B and C beat D" binds
// nothing.
func (x *reader) conjuncts(e int, do func(e int)) int {
	do(e)
	i := int(x.entities[e].last)
	var more []int
	for len(more) < maxConjuncts {
		j := i
		if j < len(x.tokens) && x.tokens[j].isMark(',') {
			j++
		}
		last := j < len(x.tokens) && (x.word(j) == "and" || x.word(j) == "or")
		if last {
			j++
		}
		if j == i || j >= len(x.tokens) {
			break
		}
		next := x.argument(j, true)
		if next < 0 || x.entities[next].typ == date != (x.entities[e].typ == date) {
			break
		}
		more = append(more, next)
		i = int(x.entities[next].last)
		if last {
			for _, m := range more {
				do(m)
			}
			return i
		}
	}
	return int(x.entities[e].last)
}

// maxConjuncts bounds lists.
const maxConjuncts = 12

// join records a triple for each of the subjects.
func (x *reader) join(subjects []int, relation string, tail int) {
	for _, head := range subjects {
		x.state(head, relation, tail)
	}
}
