// SPDX-License-Identifier: Apache-2.0

package rules

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
func (x *mentions) typeOf(i, j int) typ {
	z := x.tokens
	first, head := &z[i], x.head(i, j)
	switch {
	case x.placeName(i, j):
		return location
	case j-i == 1:
		return typeOfWord(first)
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

func typeOfWord(t *token) typ {
	switch {
	case t.has(upperOnly) && !t.is(demonym):
		return organization
	case t.is(given):
		return person
	}
	return other
}

// namesake reports whether two or three words look like those of a person's name:
// none of them is a common word, and no article or place word goes before.
func (x *mentions) namesake(i, j int) bool {
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if t.kind != wordToken || t.has(upperOnly|innerUpper|hyphened) || t.lower() || t.is(place|demonym|placeHead|organizationHead|noname|part) ||
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
func (x *mentions) head(i, j int) *token {
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

// placeName reports whether the tokens are a place of the tables.
func (x *mentions) placeName(i, j int) bool {
	if j-i == 1 {
		return x.tokens[i].is(place)
	}
	if j-i > 4 {
		return false
	}
	_, ok := x.lexicon.places[x.key(i, j)]
	return ok
}
