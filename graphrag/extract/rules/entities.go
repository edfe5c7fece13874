// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
)

// The types of the entities that an [Extractor] finds.
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

// typ is the number of an entity type, an index of typeNames.
type typ uint8

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

// entity is a mention in the current sentence: tokens first to last-1, bytes start to end-1 of the chunk.
type entity struct {
	first, last int
	start, end  int32
	typ         typ
}

// numeric reports whether the entity is a date or a quantity, which have no name.
func (e *entity) numeric() bool { return e.typ == date || e.typ == quantity }

// finder finds the entities of a sentence.
type finder struct {
	sentence
	entities []entity
	entityOf []int32 // by token: 1 + the index of the entity that contains it, 0 for none
	offices  []office
	excerpt  bool // the chunk is not the first of its document
	learning bool // in the second pass, which counts the names of the corpus
}

// The longest name, in bytes, and the longest name that is looked up, in tokens.
const (
	maxNameBytes  = 120
	maxNameTokens = 8
)

// claim makes an entity of the tokens from i up to j, unless it is too long or cut off by the chunk's start.
func (x *finder) claim(i, j int, kind typ) bool {
	start, end := x.tokens[i].start, x.tokens[j-1].end
	if last := &x.tokens[j-1]; last.has(dotted) && !last.has(upperOnly) && !(last.has(initials) && j-i > 1 && kind != person) {
		end-- // without the full stop of "Inc." and "Jr."
	}
	if x.excerpt && start == 0 || end-start > maxNameBytes {
		return false
	}
	for t := i; t < j; t++ {
		x.entityOf[t] = int32(len(x.entities) + 1)
	}
	x.entities = append(x.entities, entity{i, j, start, end, kind})
	return true
}

// name returns the text of an entity, with single blanks for runs of white space.
func (x *finder) name(e *entity) string { return singleBlanks(x.text[e.start:e.end]) }

func singleBlanks(s string) string {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f || c == ' ' && (i == 0 || i+1 == len(s) || s[i+1] == ' ') {
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
		}
	}
	return s
}

// entityIn returns the index of the entity that contains token i, -1 if there is none.
func (x *finder) entityIn(i int) int { return int(x.entityOf[i]) - 1 }

// entityAt returns the index of the entity that begins at token i, -1 if there is none.
func (x *finder) entityAt(i int) int {
	if i >= 0 && i < len(x.tokens) && x.entityOf[i] != 0 && x.entities[x.entityIn(i)].first == i {
		return x.entityIn(i)
	}
	return -1
}

// free reports whether no token of e is part of an entity.
func (x *finder) free(e entity) bool {
	for i := e.first; i < e.last; i++ {
		if x.entityOf[i] != 0 {
			return false
		}
	}
	return true
}

// typeOf guesses the type of the name from token i up to j: by its head noun, the tables, then its spelling.
func (x *finder) typeOf(i, j int) typ {
	z := x.tokens
	first, head := &z[i], x.head(i, j)
	switch {
	case x.placeName(i, j):
		return location
	case j-i == 1 && first.has(upperOnly) && !first.is(demonym):
		return organization
	case j-i == 1 && first.is(given):
		return person
	case j-i == 1:
		return other
	case first.is(honorific) && hasPrefix(x.word(i), "St"):
		return location
	case head.is(eventHead) && !head.is(given), x.hasHead(i, j, eventHead) && romanNumeral(x.word(j-1)):
		return event
	case first.is(given) && !head.is(organizationHead|workHead|eventHead):
		return person
	case head.is(organizationHead):
		return organization
	case (head.is(placeHead) || first.is(placeHead)) && !first.is(given):
		return location
	case head.is(workHead):
		return work
	case j-i > 2 && z[i+1].has(initials), first.has(initials) && !first.has(upperOnly), j-i <= 3 && x.namesake(i, j):
		return person
	}
	return other
}

// namesake reports whether two or three words look like a person's name: none of them is a common word, and no
// article or preposition of place precedes.
func (x *finder) namesake(i, j int) bool {
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if t.kind != wordToken || t.has(upperOnly|innerUpper|hyphened) || t.lower() || t.is(place|demonym|placeHead|organizationHead|noname|part) ||
			x.written(k, everSmall) {
			return false
		}
	}
	return !x.wordIs(i-1, "the", "The", "in", "In", "at", "near", "a", "an")
}

// head returns the word that says of which kind the named thing is: the last one, or the one before a word in
// small letters such as "of".
func (x *finder) head(i, j int) *token {
	for k := i + 1; k < j; k++ {
		if x.tokens[k].lower() {
			return &x.tokens[k-1]
		}
	}
	for j-i > 1 && (romanNumeral(x.word(j-1)) || x.tokens[j-1].kind != wordToken) {
		j--
	}
	return &x.tokens[j-1]
}

// placeName reports whether the tokens from i up to j are a place name of the tables.
func (x *finder) placeName(i, j int) bool {
	if j-i == 1 {
		return x.tokens[i].is(place)
	}
	_, ok := x.lexicon.places[x.key(i, j)]
	return ok
}

func romanNumeral(s string) bool { return s != "" && strings.Trim(s, "IVX") == "" }
