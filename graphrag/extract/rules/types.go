// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// The types of entities [Extractor] tells apart.
const (
	Person       = "person"
	Organization = "organization"
	Place        = "place"
	Date         = "date"
	Quantity     = "quantity"
	Work         = "work"
	Event        = "event"
	Other        = "other"
)

// typ is a type as a small number.
type typ uint16

const (
	unknown typ = iota
	person
	organization
	location
	date
	quantity
	work
	event
	other
)

var typeNames = [...]string{Other, Person, Organization, Place, Date, Quantity, Work, Event, Other}

// typeOf guesses the type of the name from token i up to j: by the head of the
// name, then by lists, then by how it is written.
func (x *reader) typeOf(i, j int) typ {
	z := x.tokens
	first, head := &z[i], x.head(i, j)
	switch {
	case x.placeName(i, j), j-i > 1 && first.is(honorific) && hasPrefix(x.word(i), "St"):
		return location
	case j-i > 1 && head.is(eventHead) && !head.is(given):
		return event
	case j-i > 1 && x.hasHead(i, j, eventHead) && romanNumeral(x.word(j-1)):
		return event
	case j-i > 1 && first.is(given) && !head.is(organizationHead|workHead|eventHead):
		return person
	case j-i > 1 && head.is(organizationHead):
		return organization
	case j-i > 1 && (head.is(placeHead) || first.is(placeHead)) && !first.is(given):
		return location
	case j-i > 1 && head.is(workHead):
		return work
	case j-i > 2 && z[i+1].has(initials), j-i > 1 && first.has(initials) && !first.has(upperOnly):
		return person
	case j-i == 1 && first.has(upperOnly) && !first.is(demonym):
		return organization
	case j-i == 1 && first.is(given):
		return person
	case (j-i == 2 || j-i == 3) && x.namesake(i, j):
		return person
	}
	return other
}

// namesake tells whether two or three words look like those of a person's name:
// none of them is a common word, and no article or place word goes before.
func (x *reader) namesake(i, j int) bool {
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if t.kind != wordToken || t.has(upperOnly|innerUpper|hyphened) || t.small() || t.is(place|demonym|placeHead|organizationHead|noname|part) ||
			x.lexicon.small[t.word] > 0 {
			return false
		}
	}
	if i == 0 {
		return true
	}
	switch x.word(i - 1) {
	case "the", "The", "in", "In", "at", "near", "a", "an":
		return false
	}
	return true
}

// head is the word that says what a name is: the last one, or the one before
// "of", "for" or "on".
func (x *reader) head(i, j int) *token {
	for k := i + 1; k < j; k++ {
		if x.tokens[k].small() {
			return &x.tokens[k-1]
		}
	}
	for j-i > 1 && (romanNumeral(x.word(j-1)) || x.tokens[j-1].kind != wordToken) {
		j--
	}
	return &x.tokens[j-1]
}

// placeName tells whether the tokens are a place of the tables.
func (x *reader) placeName(i, j int) bool {
	if j-i == 1 {
		return x.tokens[i].is(place)
	}
	if j-i > 4 {
		return false
	}
	_, ok := x.lexicon.places[x.key(int32(i), int32(j))]
	return ok
}

// quotedTitles finds titles between quotation or emphasis marks: two words or
// more, all but the small ones with a capital.
func (x *reader) quotedTitles() {
	z := x.tokens
	for i := 0; i+2 < len(z); i++ {
		q := &z[i]
		if q.kind != markToken || !(q.isMark(markQuote) || q.isMark(markApostrophe) || q.isMark(markBullet)) || z[i+1].gap != glued || z[i+1].kind != wordToken ||
			q.isMark(markBullet) && q.end-q.start > 1 ||
			q.gap == glued && i > 0 && z[i-1].kind == wordToken {
			continue
		}
		j := i + 1
		for j < len(z) && j-i <= maxTitleTokens && !z[j].isMark(q.mark) {
			j++
		}
		if j >= len(z) || !z[j].isMark(q.mark) || !x.titleCase(i+1, j) {
			continue
		}
		first, last := i+1, j
		for last > first && z[last-1].kind == markToken && !z[last-1].isMark(')') {
			last--
		}
		if last-first > 1 && x.entitled(i, first, last) {
			if e := x.claim(first, last, work); e != nil {
				e.quoted = true
			}
		}
		i = j
	}
}

// entitled tells whether what stands between marks is a title and no slogan or
// headline: three words or more, or a word such as "film" or "called" before, or
// the same name elsewhere; not all in capitals.
func (x *reader) entitled(i, first, last int) bool {
	shouted, words := true, 0
	for k := first; k < last; k++ {
		t := &x.tokens[k]
		if t.isWord() {
			words++
			shouted = shouted && t.has(upperOnly)
		}
	}
	if shouted {
		return false
	}
	if words > 2 || x.learning || x.lexicon.names[x.key(int32(first), int32(last))] > 1 {
		return true
	}
	for k := max(0, i-4); k < i; k++ {
		if t := &x.tokens[k]; t.small() && (t.is(workHead) || x.word(k) == "called" || x.word(k) == "titled" || x.word(k) == "entitled") {
			return true
		}
	}
	return false
}

// maxTitleTokens bounds titles.
const maxTitleTokens = 14

// titleCase tells whether the words from i up to j are written like a title.
func (x *reader) titleCase(i, j int) bool {
	capitals, others := 0, 0
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if x.owner[k] != 0 {
			return false
		}
		switch {
		case t.kind == numberToken || t.kind == markToken && strings.IndexByte(",:'-s!?.&", t.mark) >= 0:
		case t.kind != wordToken:
			return false
		case t.has(upperFirst | innerUpper):
			capitals++
		case !t.is(function|connector|adverb) || k == i:
			return false
		default:
			others++
		}
	}
	last := j - 1
	for last > i && x.tokens[last].kind == markToken {
		last--
	}
	return capitals >= 2 && others <= capitals+1 && !x.tokens[last].small()
}
