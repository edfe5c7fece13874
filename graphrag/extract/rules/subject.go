// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// predicate returns where the verbs after entity s begin: after brackets, after
// "who" (related), or after an apposition between commas.
func (x *phrases) predicate(s int) (i int, related, reduced, ok bool) {
	z := x.tokens
	i = x.skipAside(x.skipBrackets(x.skipPlace(x.entities[s].last)))
	if i >= len(z) {
		return 0, false, false, false
	}
	kind := x.entities[s].typ
	if z[i].isMark(',') && i+1 < len(z) {
		next := &z[i+1]
		switch {
		case x.isRelative(i+1, kind):
			return i + 2, true, false, true
		case next.lower() && next.is(relative):
			return 0, false, false, false
		case next.lower() && (next.is(verbParticiple) || looksPast(x.text, next)) && i+2 < len(z) && z[i+2].is(preposition) &&
			(kind != location || x.locates(i+1)):
			return i + 1, true, true, true // X, founded by Y
		}
		if j := x.afterApposition(i); j > 0 {
			return j, false, false, true
		}
		return 0, false, false, false
	}
	if x.isRelative(i, kind) {
		return i + 1, true, false, true
	}
	return i, false, false, z[i].lower()
}

// locates reports whether the participle at token i is one that places have.
func (x *sentence) locates(i int) bool {
	switch x.word(i) {
	case "located", "situated", "founded", "occupied", "captured", "ruled", "surrounded":
		return true
	}
	return false
}

// isRelative reports whether token i is "who" after what can be a person or "which"
// after what can be none.
func (x *phrases) isRelative(i int, kind typ) bool {
	if !x.tokens[i].lower() {
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
func (x *phrases) skipAside(i int) int {
	z := x.tokens
	if i+2 >= len(z) {
		return i
	}
	if z[i].isMark(',') {
		for j := i + 1; j < len(z) && j <= i+5; j++ {
			t := &z[j]
			if t.isMark(',') && j > i+1 && j+1 < len(z) && x.entityOf[j+1] == 0 && z[j+1].lower() && !z[j+1].is(determiner|conjunction|relative) {
				return j + 1
			}
			if !(t.lower() && t.is(adverb|preposition) || t.isWord() && t.is(weekday) || x.inDate(j)) {
				return i
			}
		}
		return i
	}
	if w := x.word(i); z[i].lower() && (w == "in" || w == "on") {
		if e := x.entityAt(i + 1); e >= 0 && x.entities[e].typ == date {
			return x.entities[e].last
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

// skipPlace returns the token after "of Y" or "in Y" at i, which modifies the
// subject before it.
func (x *phrases) skipPlace(i int) int {
	if i+2 >= len(x.tokens) || !x.tokens[i].lower() {
		return i
	}
	switch x.word(i) {
	case "of", "in", "at", "from":
		next := i + 1
		if x.word(next) == "the" {
			next++
		}
		if e := x.entityAt(next); e >= 0 && x.entities[e].typ != date {
			return x.entities[e].last
		}
	}
	return i
}

// afterApposition returns the token after ", … ," at i, where verbs go on; 0 if
// there is no such thing.
func (x *sentence) afterApposition(i int) int {
	z := x.tokens
	if !(z[i+1].is(determiner|role|kin|modifier) && z[i+1].lower()) {
		return 0
	}
	for j := i + 1; j+1 < len(z) && j < i+maxAside; j++ {
		t := &z[j]
		switch {
		case t.isMark(','):
			if z[j+1].lower() && z[j+1].is(finite|formOfBe|formOfHave|modal) && !z[j+1].is(verbParticiple|noun) || looksPast(x.text, &z[j+1]) {
				return j + 1
			}
			return 0
		case t.kind == markToken && !t.isMark(markPossessive), t.lower() && t.is(formOfBe|formOfHave|formOfDo|modal|relative|conjunction):
			return 0
		}
	}
	return 0
}

// subject returns the entities that are the subject when a predicate follows
// entity s: it and those before it that "and" binds to it. It is not ok when s
// is part of something else: "the president of France resigned".
func (x *statements) subject(s int, related bool) (subjects []int, ok bool) {
	e := &x.entities[s]
	if e.numeric() {
		return nil, false
	}
	subjects = append(x.subjects[:0], s)
	x.subjects = subjects
	i := e.first
	if related {
		return subjects, true
	}
	for i > 1 {
		j := i - 1
		if w := x.word(j); w != "and" && w != "," || !x.tokens[j].lower() && !x.tokens[j].isMark(',') {
			break
		}
		if x.tokens[j-1].isMark(',') {
			j--
		}
		before := x.entityIn(max(j-1, 0))
		if j == 0 || before < 0 || x.entities[before].numeric() || len(subjects) == 1 && x.tokens[i-1].isMark(',') {
			break
		}
		subjects = append(subjects, before)
		i = x.entities[before].first
	}
	x.subjects = subjects
	return subjects, x.boundary(i - 1)
}

// boundary reports whether a clause can begin after token i, at a subject with its
// article and its modifiers.
func (x *phrases) boundary(i int) bool {
	z := x.tokens
	last := i
	if i = x.beforeModifiers(i); i < 0 {
		return true
	}
	t := &z[i]
	switch {
	case x.entityOf[i] != 0 && i < last && z[last].is(role|kin) && x.entityOf[last] == 0 && t.isWord(): // CNN analyst X
		return x.boundary(x.entities[x.entityIn(i)].first - 1)
	case x.inDate(i): // In 1994 X founded Y
		return true
	case t.isMark(markPossessive): // Y's lawyer X
		return i < last && z[last].is(role|kin)
	case t.kind == markToken:
		return t.mark != '$' && t.mark != '/' && t.mark != '&'
	case !t.isWord():
		return false
	case t.is(weekday):
		return true
	}
	switch strings.ToLower(x.word(i)) {
	case "that":
		return i == 0 || z[i-1].lower() && z[i-1].is(anyVerb)
	case "after", "before", "since", "until", "as", "once", "when", "while", "where":
		return i == 0 || !z[i-1].is(preposition)
	case "and":
		return i == 0 || x.entityOf[i-1] == 0
	}
	return t.is(conjunction) && !t.is(hedge) || t.is(report) && t.lower()
}

// beforeModifiers returns the token before the article and the modifiers of a
// subject that end with token i, -1 if the sentence or a line begins there.
func (x *phrases) beforeModifiers(i int) int {
	z := x.tokens
	for n := 0; !x.startsLine(i+1) && i >= 0 && n < 5 && z[i].isWord() && x.entityOf[i] == 0; n++ {
		t := &z[i]
		if t.lower() && t.is(function|anyVerb|adverb) && !t.is(noun|modifier) || !t.lower() && !t.is(role|modifier|honorific|demonym) {
			break
		}
		i--
	}
	if x.startsLine(i + 1) {
		return -1
	}
	if i >= 0 && z[i].isWord() && x.word(i) == "the" || i == 0 && z[i].is(determiner|adverb) {
		i--
	}
	for i >= 0 && z[i].lower() && z[i].is(adverb) {
		i--
	}
	if x.startsLine(i + 1) {
		return -1
	}
	return i
}
