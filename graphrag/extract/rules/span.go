// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// extend returns the end of the run of capitals that begins at i.
func (x *reader) extend(i int) int {
	z := x.tokens
	j := i + 1
	for j < len(z) && x.owner[j] == 0 && !x.breaks(j) {
		t := &z[j]
		switch {
		case x.nameStart(j):
			if t.functional() || t.is(chrome) || x.headline(j) || t.is(month) && j+1 < len(z) && z[j+1].kind == numberToken {
				return j
			}
			j++
		case t.isMark('&') && x.nameAt(j+1):
			j += 2
		case t.isMark(',') && x.legalForm(j+1):
			j += 2
		case t.isMark(',') && x.listEnd(i, j) > 0:
			j = x.listEnd(i, j)
		case t.isMark(markPossessive) && x.nameAt(j+1) && x.ownsName(j):
			j += 2
		case t.small() && t.is(connector):
			next := x.afterConnectors(i, j)
			if next == 0 {
				return j
			}
			j = next
		case t.small() && t.is(joining) && x.nameAt(j+1) && x.joins(i, j, j+1):
			j += 2
		case t.small() && t.is(joining) && j+2 < len(z) && x.word(j) != "and" && x.word(j+1) == "the" && x.nameAt(j+2) && x.joins(i, j, j+2):
			j += 3 // Centre for the Study of …
		default:
			return j
		}
	}
	return j
}

// listEnd returns the end of ", Y and Z" at token j after "Ministry of X", 0 if
// the name from i is no such body.
func (x *reader) listEnd(i, j int) int {
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

// ownsName tells whether the possessive at token j stands inside a name:
// "Women's World Cup", "Teachers' Union".
func (x *reader) ownsName(j int) bool {
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

// headline tells whether the capitalised word at token j is a verb, as in
// headlines: "Trump Opens Talks".
func (x *reader) headline(j int) bool {
	t := &x.tokens[j]
	return t.is(verbS) && !t.has(upperOnly) && !t.is(organizationHead|placeHead|eventHead|workHead|noun) && x.lexicon.common(t.word)
}

func (x *reader) nameAt(i int) bool {
	return i < len(x.tokens) && x.owner[i] == 0 && x.nameStart(i) && !x.breaks(i) && !x.tokens[i].functional()
}

// breaks tells whether a name cannot go on from token i-1 to i: a short line
// ends between them.
func (x *reader) breaks(i int) bool {
	if x.tokens[i].gap != newline {
		return false
	}
	end := int(x.tokens[i-1].end)
	return end-strings.LastIndexByte(x.text[:end], '\n') < shortLine ||
		strings.Count(x.text[end:x.tokens[i].start], "\n") > 1
}

// shortLine is the length, in bytes, under which a line is not taken for the
// wrapped line of a paragraph.
const shortLine = 40

func (x *reader) legalForm(i int) bool {
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
func (x *reader) afterConnectors(i, j int) int {
	of := x.word(j) == "of"
	if x.word(j) == "the" || of && !x.ofJoins(i, j) {
		return 0
	}
	n := j + 1
	if n < len(x.tokens) && x.tokens[n].small() && x.tokens[n].is(connector) && !x.breaks(n) {
		n++
	}
	if !x.nameAt(n) || x.tokens[n].is(month) || of && x.tokens[n].is(demonym) && n == j+1 && !x.nameAt(n+1) {
		return 0
	}
	return n + 1
}

// ofJoins tells whether "X of Y" is one name: not after a person, a place or a
// body with a name of its own.
func (x *reader) ofJoins(i, j int) bool {
	last := &x.tokens[j-1]
	switch {
	case last.is(organizationHead | placeHead | eventHead | workHead | role):
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

// joins tells whether "for", "on" or "and" at j goes on with the name of a
// body: "Department of Health and Human Services".
func (x *reader) joins(i, j, next int) bool {
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
