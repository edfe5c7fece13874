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

// clauses finds the triples of which entity s is the subject.
func (x *statements) clauses(s int) {
	i, related, reduced, ok := x.predicate(s)
	if !ok {
		return
	}
	subjects, ok := x.subject(s, related)
	for n := 0; ok && n < maxVerbs; n++ {
		var v verbGroup
		if v, ok = x.verbs(i, subjects); !ok {
			return
		}
		if reduced && n == 0 {
			v.passive, v.relation = true, strings.ToLower(x.word(i))
		}
		if v.copula && (v.relation == "is" || v.relation == "was") {
			x.describe(subjects[0], v.end)
		}
		stated := len(x.facts)
		i = x.objects(subjects, v)
		if v.copula && len(x.facts) == stated {
			i = x.reduced(subjects, i)
		}
		i, ok = x.nextVerb(subjects, v, i)
	}
}

// nextVerb returns where the next verb of the subjects begins, if there is one: after
// "and" or "but", or in "X is a group that …". The participle of ", becoming Y" has
// its triples here.
func (x *statements) nextVerb(subjects []int, v verbGroup, i int) (next int, ok bool) {
	if i+2 >= len(x.tokens) {
		return i, false
	}
	comma := x.tokens[i].isMark(',')
	if comma {
		i++
	}
	switch w := x.word(i); {
	case w == "and" || w == "but":
	case comma && x.tokens[i].lower() && x.tokens[i].is(verbIng) && x.entityOf[i] == 0:
		if lemma := x.lemma(i); !x.tokens[i].is(noun) && lemma != "include" && lemma != "accord" {
			x.objects(subjects, verbGroup{end: i + 1, relation: lemma})
		}
		return i, false
	case v.copula && !comma && (w == "who" || w == "that" || w == "which"):
	default:
		return i, false
	}
	i++
	if i >= len(x.tokens) {
		return i, false
	}
	t := &x.tokens[i]
	return i, t.is(finite|verbParticiple|formOfBe|modal|negation|adverb) || looksPast(x.text, t)
}

// reduced finds the triples of the participles at token i after "X is a film":
// "directed by Y and starring Z". It returns where it stopped.
func (x *statements) reduced(subjects []int, i int) int {
	z := x.tokens
	for n := 0; n < maxVerbs && i+1 < len(z); n++ {
		j := i
		if w := x.word(j); n > 0 && (w == "and" || w == "," && x.word(j+1) != "and") {
			j++
		}
		t := &z[j]
		if j+1 >= len(z) || !t.lower() || x.entityOf[j] != 0 {
			return i
		}
		stated := len(x.facts)
		switch {
		case (t.is(verbParticiple) || looksPast(x.text, t)) && z[j+1].lower() && z[j+1].is(preposition):
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
// stopped. V N… P: nouns and prepositions before the object belong to the
// relation.
func (x *statements) objects(subjects []int, v verbGroup) int {
	z := x.tokens
	i, from, prepositions := v.end, v.end, 0
	for i < len(z) && i-from < maxRelationWords {
		if i == from || z[i-1].is(preposition) {
			if tail := x.argument(i); tail >= 0 {
				return x.object(subjects, v, i, tail, prepositions > 0)
			}
		}
		if next := x.modifierEnd(i, from); next > i {
			i = next
			continue
		}
		if x.barsObject(i, from) {
			return i
		}
		if z[i].is(preposition) {
			switch x.word(i) {
			case "than", "like", "including", "excluding", "despite", "except", "without":
				return i
			}
			if prepositions++; prepositions > 3 {
				return i
			}
		}
		i++
	}
	return i
}

// object records the triples with the object tail, found at token i, and returns
// where it stopped.
func (x *statements) object(subjects []int, v verbGroup, i, tail int, prepositional bool) int {
	if prepositional && x.partialDate(i-1, tail) || v.copula && x.entities[tail].typ == date {
		return i
	}
	relation, last := v.relation, v.end
	if prepositional {
		last = x.lastPreposition(v.end, i) + 1
	}
	if words := x.wording(v.end, last); words != "" {
		relation += " " + words
	}
	if last-1 > v.end {
		v.relation += " " + x.wording(v.end, last-1)
	}
	return x.addObjects(subjects, relation, tail, v, last == v.end)
}

// modifierEnd returns the token after what stands at token i before an object: "met
// the World Cup winners in Z", "met Y's advisers in Z", "met German officials in
// Z"; i if there is no such thing.
func (x *phrases) modifierEnd(i, from int) int {
	z, t := x.tokens, &x.tokens[i]
	if e := x.entityAt(i); e >= 0 {
		end := x.entities[e].last
		switch {
		case x.isModifier(e):
			return end
		case x.entities[e].typ != date && end+1 < len(z) && z[end].isMark(markPossessive):
			return end + 1
		}
	}
	if x.entityOf[i] == 0 && t.isWord() && !t.lower() && t.is(demonym|role|modifier) ||
		t.lower() && t.is(conjunction) && i > from && i+1 < len(z) && plainWord(&z[i-1]) && plainWord(&z[i+1]) && x.word(i) == "and" {
		return i + 1
	}
	return i
}

// barsObject reports whether no object follows token i.
func (x *phrases) barsObject(i, from int) bool {
	z, t := x.tokens, &x.tokens[i]
	if !t.lower() && t.kind != numberToken || x.entityOf[i] != 0 || t.is(conjunction|relative|pronoun|formOfBe|formOfHave|formOfDo|modal|question) {
		return true
	}
	return t.is(verbPast|verbIng) && !t.is(noun|verbBase) && i > from && !z[i-1].is(determiner) && !(t.is(verbIng) && z[i-1].is(preposition))
}

func (x *sentence) lastPreposition(from, i int) int {
	for i--; i > from && !x.tokens[i].is(preposition); i-- {
	}
	return i
}

// addObjects records the triples of the subjects with an object and those that "and"
// binds to it, then the further objects behind prepositions.
func (x *statements) addObjects(subjects []int, relation string, tail int, v verbGroup, direct bool) int {
	i := x.conjuncts(tail, func(t int) { x.addFacts(subjects, relation, t) })
	for n := 0; n < 3 && i+1 < len(x.tokens); n++ {
		t := &x.tokens[i]
		if !t.lower() || !t.is(preposition) || t.is(conjunction) || v.copula {
			break
		}
		next := x.argument(i + 1)
		if next < 0 || x.word(i) == "of" || x.partialDate(i, next) {
			break
		}
		if direct && !v.passive {
			x.addFacts(subjects, v.relation+" "+x.name(&x.entities[tail])+" "+x.word(i), next)
		} else {
			x.addFacts(subjects, v.relation+" "+strings.ToLower(x.word(i)), next)
		}
		i = x.entities[next].last
	}
	return i
}
