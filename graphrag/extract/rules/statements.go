// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// statements are the triples and attributes that a sentence states.
type statements struct {
	phrases
	facts      []fact
	attributes []attribute
	hedged     bool // the sentence reports what somebody said
	subjects   []int
}

// fact is a triple of the sentence that is being read; head and tail are
// entities of it.
type fact struct {
	head, tail int
	relation   string
	hedged     bool
}

// attribute is one of an entity of the sentence: another name of it, or
// a description.
type attribute struct {
	entity     int
	key, value string
}

// addFact records a triple, once.
func (x *statements) addFact(head int, relation string, tail int) {
	if head == tail || len(relation) > maxRelationBytes {
		return
	}
	h, t := &x.entities[head], &x.entities[tail]
	if strings.EqualFold(x.text[h.start:h.end], x.text[t.start:t.end]) {
		return
	}
	for i := range x.facts {
		if f := &x.facts[i]; f.head == head && f.tail == tail && f.relation == relation {
			return
		}
	}
	x.facts = append(x.facts, fact{head, tail, relation, x.hedged})
}

// maxRelationBytes bounds relations.
const maxRelationBytes = 120

// addFacts records a triple for each of the subjects.
func (x *statements) addFacts(subjects []int, relation string, tail int) {
	for _, head := range subjects {
		x.addFact(head, relation, tail)
	}
}

// describe records what an entity is by the sentence, where that holds no other
// entity and so makes no triple: "X is a Swiss citizen", "X, a German
// politician,". The noun phrase begins at token i, with its article; it becomes
// the attribute "description".
func (x *statements) describe(e, i int) {
	z := x.tokens
	if x.mixed || i >= len(z) || !z[i].lower() || x.entities[e].numeric() {
		return
	}
	if w := x.word(i); w != "a" && w != "an" && w != "the" {
		return
	}
	from := i + 1
	for i = from; i < len(z) && i-from <= maxDescription && x.entityOf[i] == 0; i++ {
		t := &z[i]
		if !t.isWord() || t.lower() && t.is(function|adverb) || !t.lower() && !t.is(demonym) {
			break
		}
	}
	if i == from || i-from > maxDescription || i < len(z) && !x.endsPhrase(i) {
		return
	}
	last := &z[i-1]
	if last.is(role|kin) && (x.entities[e].typ == location || x.entities[e].typ == organization) {
		return // it describes the person before: "the head of the parliament of Europe, the president"
	}
	if !last.lower() || last.is(verbParticiple|verbIng) && !last.is(noun) || looksPast(x.text, last) {
		return
	}
	x.attributes = append(x.attributes, attribute{e, "description", x.text[z[from].start:last.end]})
}

// maxDescription bounds, in tokens, the noun phrases of describe.
const maxDescription = 6

// endsPhrase reports whether a noun phrase can end before token i: not before a
// preposition, which would go on with it, nor before a name.
func (x *sentence) endsPhrase(i int) bool {
	t := &x.tokens[i]
	return x.endsApposition(i) || t.lower() && t.is(conjunction|relative) && !t.is(preposition)
}
