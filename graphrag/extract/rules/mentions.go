// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
)

// entity is a mention in the sentence that is being read: tokens first to
// last-1, bytes start to end-1 of the chunk.
type entity struct {
	first, last int
	start, end  int32
	typ         typ
}

// numeric reports whether it is no name but a date or a quantity.
func (e *entity) numeric() bool { return e.typ == date || e.typ == quantity }

// mentions are the entities of a sentence.
type mentions struct {
	sentence
	entities []entity
	entityOf []int32 // by token: the number of the entity it is part of + 1
	excerpt  bool    // the chunk was cut out of a longer text
}

// claim makes an entity of the tokens from i up to j, if it can be one.
func (x *mentions) claim(i, j int, kind typ) bool {
	start, end := x.tokens[i].start, x.tokens[j-1].end
	if last := &x.tokens[j-1]; last.has(dotted) && !last.has(upperOnly) && !(last.has(initials) && j-i > 1 && kind != person) {
		end-- // the full stop of Inc. and Jr.
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

// maxNameBytes bounds names; longer ones are none.
const maxNameBytes = 120

// name is the text of an entity with single blanks.
func (x *mentions) name(e *entity) string {
	s := x.text[e.start:e.end]
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == 0x7f || c == ' ' && s[i+1] == ' ' {
			return singleBlanks(s)
		}
	}
	return s
}

// entityIn returns the entity that token i is part of, -1 if there is none.
func (x *mentions) entityIn(i int) int { return int(x.entityOf[i]) - 1 }

// inDate reports whether token i is part of a date.
func (x *mentions) inDate(i int) bool {
	return x.entityOf[i] != 0 && x.entities[x.entityIn(i)].typ == date
}

// entityAt returns the entity that begins at token i, -1 if none does.
func (x *mentions) entityAt(i int) int {
	if i >= len(x.tokens) || x.entityOf[i] == 0 {
		return -1
	}
	if e := x.entityIn(i); x.entities[e].first == i {
		return e
	}
	return -1
}

func (x *mentions) isRegion(e int) bool {
	return x.lexicon.places[x.key(x.entities[e].first, x.entities[e].last)]
}

// yearSpan returns how many years a date spans: 0 for one year, -1 for a date that
// is no year and no range of years.
func (x *mentions) yearSpan(d int) int {
	s := x.text[x.entities[d].start:x.entities[d].end]
	if isYear(s) {
		return 0
	}
	if len(s) < 9 || !isYear(s[:4]) || !isYear(s[len(s)-4:]) {
		return -1
	}
	n := 0
	for i := range 4 {
		n = 10*n + int(s[len(s)-4+i]) - int(s[i])
	}
	return n
}

func sortEntities(entities []entity) {
	slices.SortFunc(entities, func(a, b entity) int { return a.first - b.first })
}

func singleBlanks(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
}

// finder finds the entities of sentences.
type finder struct {
	mentions
	gazetteer *gazetteer
	titles    []title
	learning  bool // the names of the corpus are not known yet
}

// title is an office found beside a person's name: "FIFA President Gianni Infantino".
// Tokens as in entity; person is the first token of the person, body that of the
// body or -1.
type title struct {
	first, last  int
	person, body int
}

// maxNameTokens bounds the names that are looked up.
const maxNameTokens = 8
