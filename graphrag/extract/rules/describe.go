// SPDX-License-Identifier: Apache-2.0

package rules

// describe records what a sentence says an entity is, where that holds no other
// entity and so makes no triple: "X is a Swiss citizen", "X, a German
// politician,". The noun phrase begins at token i, with its article; it becomes
// the attribute "description".
func (x *reader) describe(e, i int) {
	z := x.tokens
	if x.patched || i >= len(z) || !z[i].small() || x.entities[e].typ == date || x.entities[e].typ == quantity {
		return
	}
	if w := x.word(i); w != "a" && w != "an" && w != "the" {
		return
	}
	from := i + 1
	for i = from; i < len(z) && i-from <= maxDescription && x.owner[i] == 0; i++ {
		t := &z[i]
		if !t.isWord() || t.small() && t.is(function|adverb) || !t.small() && !t.is(demonym) {
			break
		}
	}
	if i == from || i-from > maxDescription || i < len(z) && !x.endsPhrase(i) {
		return
	}
	last := &z[i-1]
	if last.is(role|kin) && (x.entities[e].typ == location || x.entities[e].typ == organization) {
		return // the man is meant who goes before: "the parliament of Europe, the president"
	}
	if !last.small() || last.is(verbParticiple|verbIng) && !last.is(noun) || looksPast(x.text, last) {
		return
	}
	x.aliases = append(x.aliases, alias{e, "description", x.text[z[from].start:last.end]})
}

// maxDescription bounds, in tokens, the noun phrases of describe.
const maxDescription = 6

// endsPhrase tells whether a noun phrase can end before token i: not before a
// preposition, which would tell more, nor before a name.
func (x *reader) endsPhrase(i int) bool {
	t := &x.tokens[i]
	if t.kind == markToken {
		return t.mark == ',' || t.mark == '.' || t.mark == ';' || t.mark == ')' || t.mark == markDash && t.gap != glued
	}
	return t.small() && t.is(conjunction|relative) && !t.is(preposition)
}
