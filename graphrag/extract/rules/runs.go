// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// runs finds the names that show by their capitals, in English or in another
// language, about whose words nothing is known.
func (x *finder) runs(english bool) {
	for i := 0; i < len(x.tokens); {
		if i > 0 && x.tokens[i].isMark(':') && x.word(i-1) == "headline" {
			return
		}
		if x.entityOf[i] != 0 || !x.nameStart(i) {
			i++
			continue
		}
		j := x.extend(i)
		if english {
			x.split(i, j)
		} else if !x.atStart(i) && (j-i > 1 && (x.learning || !x.lexicon.large || x.lexicon.names[x.key(i, j)] > 1) || x.lexicon.proper(x.tokens[i].word)) {
			x.emit(i, j, unknown)
		}
		i = j
	}
}

// nameStart reports whether a word can begin a name or go on with one.
func (x *sentence) nameStart(i int) bool {
	t := &x.tokens[i]
	if t.kind != wordToken || !t.has(upperFirst|innerUpper) || t.has(lowerTail) || t.is(weekday) {
		return false
	}
	if !t.has(upperFirst) && t.has(hyphened) || t.has(merged) { // pro-Russia
		return false
	}
	if t.has(innerUpper) && t.class == 0 && x.lexicon.capital[t.word] < 2 {
		return t.has(upperFirst) && hasPrefix(x.word(i), "Mc", "Mac", "De", "Di", "La", "Le", "Van", "Fitz")
	}
	return true
}

// extend returns the end of the run of capitals that begins at i.
func (x *finder) extend(i int) int {
	j := i + 1
	for j < len(x.tokens) && x.entityOf[j] == 0 && !x.lineBreak(j) {
		next := 0
		switch {
		case x.nameStart(j):
			if !x.endsRun(j) {
				next = j + 1
			}
		case x.tokens[j].kind == markToken:
			next = x.afterMark(i, j)
		case x.tokens[j].lower():
			next = x.afterSmall(i, j)
		}
		if next == 0 {
			break
		}
		j = next
	}
	return j
}

// endsRun reports whether the capitalized word at token j is no part of the name
// before it.
func (x *finder) endsRun(j int) bool {
	t := &x.tokens[j]
	return t.functional() || t.is(chrome) || x.isHeadlineVerb(j) || t.is(month) && j+1 < len(x.tokens) && x.tokens[j+1].kind == numberToken
}

// afterMark returns where the name from i goes on after the mark at j, 0 if it does
// not.
func (x *finder) afterMark(i, j int) int {
	switch t := &x.tokens[j]; {
	case t.isMark('&') && x.nameAt(j+1), t.isMark(',') && x.legalForm(j+1), t.isMark(markPossessive) && x.nameAt(j+1) && x.possessiveInside(j):
		return j + 2
	case t.isMark(','):
		return x.listEnd(i, j)
	}
	return 0
}

// afterSmall returns where the name from i goes on after the small words at j, 0 if
// it does not.
func (x *finder) afterSmall(i, j int) int {
	switch t := &x.tokens[j]; {
	case t.is(connector):
		return x.afterConnectors(i, j)
	case !t.is(joining):
		return 0
	case x.nameAt(j+1) && x.joins(i, j, j+1):
		return j + 2
	case j+2 < len(x.tokens) && x.word(j) != "and" && x.word(j+1) == "the" && x.nameAt(j+2) && x.joins(i, j, j+2):
		return j + 3 // Centre for the Study of …
	}
	return 0
}

// listEnd returns the end of ", Y and Z" at token j after "Ministry of X", 0 if
// the name from i is no such body.
func (x *finder) listEnd(i, j int) int {
	if j-i < 3 || x.word(j-2) != "of" || !x.tokens[j-3].is(organizationHead) || x.tokens[j-1].is(place|demonym) {
		return 0
	}
	for n := 0; n < 4 && j+1 < len(x.tokens) && x.tokens[j].isMark(',') && x.nameAt(j+1) && !x.tokens[j+1].is(place|demonym|given); n++ {
		j += 2
		if j+1 < len(x.tokens) && x.tokens[j].isMark(',') && x.word(j+1) == "and" {
			j++
		}
		if j+1 < len(x.tokens) && x.word(j) == "and" && x.nameAt(j+1) && !x.tokens[j+1].is(place|demonym|given) {
			return j + 2
		}
	}
	return 0
}

// possessiveInside reports whether the possessive at token j stands inside a name:
// "Women's World Cup", "Teachers' Union".
func (x *sentence) possessiveInside(j int) bool {
	switch x.word(j - 1) {
	case "St", "St.":
		return false
	case "Women", "Men", "People", "Children", "Girls", "Boys", "Workers", "Writers", "King", "Queen", "Veterans", "Ladies", "World":
		return true
	}
	if w := x.word(max(j-2, 0)); w == "St." || w == "St" { // St. John's Church
		return x.tokens[j+1].is(organizationHead | placeHead | workHead)
	}
	return x.tokens[j].end-x.tokens[j].start < 2 && x.tokens[j+1].is(organizationHead)
}

// isHeadlineVerb reports whether the capitalized word at token j is a verb, as in
// headlines: "Trump Opens Talks".
func (x *sentence) isHeadlineVerb(j int) bool {
	t := &x.tokens[j]
	return t.is(verbS) && !t.has(upperOnly) && !t.is(anyHead|noun) && x.lexicon.common(t.word)
}

func (x *finder) nameAt(i int) bool {
	return i < len(x.tokens) && x.entityOf[i] == 0 && x.nameStart(i) && !x.lineBreak(i) && !x.tokens[i].functional()
}

func (x *finder) legalForm(i int) bool {
	if !x.nameAt(i) {
		return false
	}
	switch strings.ToLower(strings.TrimSuffix(x.word(i), ".")) {
	case "inc", "ltd", "llc", "corp", "plc", "gmbh":
		return true
	}
	return false
}

// afterConnectors returns the end of "of the X", "de la X", "von X" at j, 0 if
// the run from i does not go on there.
func (x *finder) afterConnectors(i, j int) int {
	of := x.word(j) == "of"
	if x.word(j) == "the" || of && !x.ofJoins(i, j) {
		return 0
	}
	n := j + 1
	if n < len(x.tokens) && x.tokens[n].lower() && x.tokens[n].is(connector) && !x.lineBreak(n) {
		n++
	}
	if !x.nameAt(n) || x.tokens[n].is(month) || of && x.tokens[n].is(demonym) && n == j+1 && !x.nameAt(n+1) {
		return 0
	}
	return n + 1
}

// ofJoins reports whether "X of Y" is one name: not after a person, a place or a
// body with a name of its own.
func (x *finder) ofJoins(i, j int) bool {
	last := &x.tokens[j-1]
	switch {
	case last.is(anyHead | role):
		return true
	case x.nameAt(j+1) && x.lexicon.common(x.tokens[j+1].word) && !last.is(given|place|demonym): // Chiefs of Staff
		return true
	case last.is(place | demonym | given | month | kin), last.has(upperOnly), last.kind != wordToken:
		return false
	case j-i > 1 && x.tokens[i].is(given):
		return false
	}
	return x.lexicon.common(last.word) || x.lexicon.capital[last.word] == 0 && j-i == 1
}

// joins reports whether "for", "on" or "and" at j goes on with the name of a
// body: "Department of Health and Human Services".
func (x *finder) joins(i, j, next int) bool {
	head := false
	for k := i; k < j; k++ {
		head = head || x.tokens[k].is(organizationHead|workHead|eventHead)
	}
	before, after := &x.tokens[j-1], &x.tokens[next]
	if !head && j-i > 1 && x.lexicon.common(before.word) && x.lexicon.common(after.word) {
		for k := j + 1; k < j+4 && k < len(x.tokens) && x.nameStart(k); k++ {
			head = head || x.tokens[k].is(organizationHead) // Tourism Improvement and Development Authority
		}
		return head || x.word(j) == "for" // Investor Advocates for Social Justice
	}
	if !head {
		return false
	}
	if x.word(j) != "and" {
		return before.is(organizationHead|workHead|eventHead) && !after.is(given|place|month)
	}
	return !after.is(place|demonym|given|organizationHead) && x.lexicon.common(before.word) && x.lexicon.common(after.word)
}
