// SPDX-License-Identifier: Apache-2.0

package extract

import "strings"

// This file finds triples in clauses, after the manner of ReVerb (Fader,
// Soderland and Etzioni, Identifying Relations for Open Information Extraction,
// EMNLP 2011, section 3): a subject, a group of verbs with perhaps a few nouns
// and a preposition at its end, an object. Both ends are entities.

// verbGroup is a parsed group of verbs, tokens up to end-1.
type verbGroup struct {
	end      int
	relation string // what of the relation is known by now
	copula   bool   // a form of be alone
	passive  bool
}

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
		i = x.objects(subjects, v)
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

// maxVerbs bounds the verbs that share a subject: "A founded B and sold C".
const maxVerbs = 3

// predicate returns where the verbs after entity s begin: after brackets, after
// "who" (related), or after an apposition between commas.
func (x *reader) predicate(s int) (i int, related, reduced, ok bool) {
	z := x.tokens
	i = x.skipAside(x.skipBrackets(x.skipPlace(int(x.entities[s].last))))
	if i >= len(z) {
		return 0, false, false, false
	}
	kind := x.entities[s].typ
	if z[i].isMark(',') && i+1 < len(z) {
		next := &z[i+1]
		switch {
		case x.relates(i+1, kind):
			return i + 2, true, false, true
		case next.small() && next.is(relative):
			return 0, false, false, false
		case next.small() && (next.is(verbParticiple) || looksPast(x.text, next)) && i+2 < len(z) && z[i+2].is(preposition) &&
			(kind != location || x.settles(i+1)):
			return i + 1, true, true, true // X, founded by Y
		}
		if j := x.afterApposition(i); j > 0 {
			return j, false, false, true
		}
		return 0, false, false, false
	}
	if x.relates(i, kind) {
		return i + 1, true, false, true
	}
	return i, false, false, z[i].small()
}

// settles tells whether the participle at token i is one that places have.
func (x *reader) settles(i int) bool {
	switch x.word(i) {
	case "located", "situated", "founded", "occupied", "captured", "ruled", "surrounded":
		return true
	}
	return false
}

// relates tells whether token i is "who" after what can be a person or "which"
// after what can be none.
func (x *reader) relates(i int, kind typ) bool {
	if !x.tokens[i].small() {
		return false
	}
	switch x.word(i) {
	case "who":
		return kind == person || kind == other
	case "which":
		return kind != person
	}
	return false
}

// skipAside returns the token after ", however," or "in 1994" or "on Tuesday" at
// i.
func (x *reader) skipAside(i int) int {
	z := x.tokens
	if i+2 >= len(z) {
		return i
	}
	if z[i].isMark(',') {
		for j := i + 1; j < len(z) && j <= i+5; j++ {
			t := &z[j]
			if t.isMark(',') && j > i+1 && j+1 < len(z) && x.owner[j+1] == 0 && z[j+1].small() && !z[j+1].is(determiner|conjunction|relative) {
				return j + 1
			}
			if !(t.small() && t.is(adverb|preposition) || t.isWord() && t.is(weekday) || x.owner[j] != 0 && x.entities[x.owner[j]-1].typ == date) {
				return i
			}
		}
		return i
	}
	if w := x.word(i); z[i].small() && (w == "in" || w == "on") {
		if e := x.entityAt(i + 1); e >= 0 && x.entities[e].typ == date {
			return int(x.entities[e].last)
		}
		if z[i+1].is(weekday) {
			return i + 2
		}
	}
	if z[i].is(weekday) {
		return i + 1
	}
	return i
}

// skipPlace returns the token after "of Y" or "in Y" at i, which tells more of
// the subject before it.
func (x *reader) skipPlace(i int) int {
	if i+2 >= len(x.tokens) || !x.tokens[i].small() {
		return i
	}
	switch x.word(i) {
	case "of", "in", "at", "from":
		next := i + 1
		if x.word(next) == "the" {
			next++
		}
		if e := x.entityAt(next); e >= 0 && x.entities[e].typ != date {
			return int(x.entities[e].last)
		}
	}
	return i
}

// skipBrackets returns the token after "( … )" at i.
func (x *reader) skipBrackets(i int) int {
	if i < len(x.tokens) && x.tokens[i].isMark('(') {
		for j := i + 1; j < len(x.tokens) && j < i+maxAside; j++ {
			if x.tokens[j].isMark(')') {
				return j + 1
			}
		}
	}
	return i
}

// maxAside bounds, in tokens, what stands between a subject and its verb.
const maxAside = 16

// afterApposition returns the token after ", … ," at i, where verbs go on; 0 if
// there is no such thing.
func (x *reader) afterApposition(i int) int {
	z := x.tokens
	if !(z[i+1].is(determiner|role|kin|modifier) && z[i+1].small()) {
		return 0
	}
	for j := i + 1; j+1 < len(z) && j < i+maxAside; j++ {
		t := &z[j]
		switch {
		case t.isMark(','):
			if z[j+1].small() && z[j+1].is(finite|formOfBe|formOfHave|modal) && !z[j+1].is(verbParticiple|noun) || looksPast(x.text, &z[j+1]) {
				return j + 1
			}
			return 0
		case t.kind == markToken && !t.isMark(markPossessive), t.small() && t.is(formOfBe|formOfHave|formOfDo|modal|relative|conjunction):
			return 0
		}
	}
	return 0
}

// noun are the classes of words that are nouns where a verb could be, too.
const noun = role | kin | unit | scale

// subject returns the entities that are the subject when a predicate follows
// entity s: it and those before it that "and" binds to it. It is not ok when s
// is part of something else: "the president of France resigned".
func (x *reader) subject(s int, related bool) (subjects []int, ok bool) {
	e := &x.entities[s]
	if e.typ == date || e.typ == quantity {
		return nil, false
	}
	subjects = append(x.subjects[:0], s)
	x.subjects = subjects
	i := int(e.first)
	if related {
		return subjects, true
	}
	for i > 1 {
		j := i - 1
		if w := x.word(j); w != "and" && w != "," || !x.tokens[j].small() && !x.tokens[j].isMark(',') {
			break
		}
		if x.tokens[j-1].isMark(',') {
			j--
		}
		before := int(x.owner[max(j-1, 0)]) - 1
		if j == 0 || before < 0 || x.entities[before].typ == date || x.entities[before].typ == quantity || len(subjects) == 1 && x.tokens[i-1].isMark(',') {
			break
		}
		subjects = append(subjects, before)
		i = int(x.entities[before].first)
	}
	x.subjects = subjects
	return subjects, x.boundary(i - 1)
}

// boundary tells whether a clause can begin after token i: what stands before
// the subject, its article and its modifiers left out.
func (x *reader) boundary(i int) bool {
	z := x.tokens
	last := i
	for n := 0; i >= 0 && n < 5 && z[i].isWord() && x.owner[i] == 0; n++ {
		t := &z[i]
		if t.small() && t.is(function|anyVerb|adverb) && !t.is(noun|modifier) || !t.small() && !t.is(role|modifier|honorific|demonym) {
			break
		}
		i--
	}
	if i >= 0 && z[i].isWord() && x.word(i) == "the" || i == 0 && z[i].is(determiner|adverb) {
		i--
	}
	for i >= 0 && z[i].small() && z[i].is(adverb) {
		i--
	}
	if i < 0 {
		return true
	}
	t := &z[i]
	if x.owner[i] != 0 && x.entities[x.owner[i]-1].typ == date {
		return true // In 1994 X founded Y
	}
	if t.isMark(markPossessive) { // Y's lawyer X
		return i < last && z[last].is(role|kin)
	}
	if t.kind == markToken {
		return t.mark != '$' && t.mark != '/' && t.mark != '&'
	}
	if !t.isWord() {
		return false
	}
	if t.is(weekday) {
		return true
	}
	switch strings.ToLower(x.word(i)) {
	case "that":
		return i == 0 || z[i-1].small() && z[i-1].is(anyVerb)
	case "after", "before", "since", "until", "as", "once", "when", "while", "where":
		return i == 0 || !z[i-1].is(preposition)
	case "and":
		return i == 0 || x.owner[i-1] == 0
	}
	return t.is(conjunction) && !t.is(hedge) || t.is(report) && t.small()
}

// verbs parses the group of verbs of the subjects at token i.
func (x *reader) verbs(i int, subjects []int) (v verbGroup, ok bool) {
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
	case aux&formOfBe != 0 && t.small() && t.is(verbIng):
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
	case t.is(verbBase) && !t.is(noun) && (len(subjects) > 1 || x.team(subjects[0]) && i+1 < len(z) && (x.owner[i+1] != 0 || x.word(i+1) == "the")):
		v.relation, v.end = lemma, i+1
	case t.is(verbParticiple) && i+1 < len(z) && z[i+1].is(preposition): // X, written by Y
		v.passive, v.relation, v.end = true, strings.ToLower(x.word(i)), i+1
	default:
		return v, false
	}
	if modalWord != "" && !v.copula && !v.passive {
		v.relation = modalWord + " " + v.relation
	}
	if v.relation == "have" && i < len(z) && x.owner[i] != 0 {
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
func (x *reader) team(e int) bool {
	kind := x.entities[e].typ
	return kind == location || kind == organization || kind == other
}

// copula returns the form of be at token i, one for each tense.
func (x *reader) copula(i int) string {
	switch strings.ToLower(x.word(i)) {
	case "was", "were", "been":
		return "was"
	}
	return "is"
}

// lemma returns the base of the verb at token i.
func (x *reader) lemma(i int) string {
	word := strings.ToLower(x.word(i))
	if base, ok := x.lexicon.tables.lemmas[word]; ok {
		return base
	}
	return word
}

// verbNotNoun tells whether a word in -s is rather a verb than a plural: by
// what follows.
func (x *reader) verbNotNoun(i int) bool {
	if i+1 >= len(x.tokens) {
		return false
	}
	next := &x.tokens[i+1]
	if x.owner[i+1] != 0 || next.small() && next.is(determiner) {
		return true
	}
	switch x.lemma(i) {
	case "live", "work", "play", "serve", "come", "go", "belong", "reside", "lie", "stand", "remain", "return", "refer", "participate",
		"begin", "compete", "study", "teach", "lead", "become", "run", "sit":
		return next.small() && next.is(preposition|adverb)
	}
	return false
}

// wording returns the tokens from i up to j in lower case, without articles.
func (x *reader) wording(i, j int) string {
	x.phrase = x.phrase[:0]
	for ; i < j; i++ {
		w := x.word(i)
		if w == "the" || w == "a" || w == "an" || x.tokens[i].kind == markToken && x.tokens[i].mark != markPossessive {
			continue
		}
		if len(x.phrase) > 0 && !x.tokens[i].isMark(markPossessive) {
			x.phrase = append(x.phrase, ' ')
		}
		x.phrase = appendLower(x.phrase, w)
	}
	return string(x.phrase)
}

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
			if last > from && onlySmallTalk(z[from:last]) {
				return i
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

// onlySmallTalk tells whether the words of a relation after its verb are too
// vague: "as", "that" and the like.
func onlySmallTalk(z []token) bool {
	for i := range z {
		if z[i].kind == numberToken {
			return true
		}
	}
	return false
}

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
