// SPDX-License-Identifier: Apache-2.0

package rules

// titleHolders states what the titles before persons say: "FIFA President
// Gianni Infantino", "Australia's Prime Minister Anthony Albanese".
func (x *statements) titleHolders(titles []title) {
	for _, t := range titles {
		holder, body := x.entityIn(t.person), -1
		if t.body >= 0 {
			body = x.entityIn(t.body)
		} else if t.first > 1 && x.tokens[t.first-1].isMark(markPossessive) {
			body = x.entityIn(t.first - 2)
		}
		if holder < 0 || body < 0 || x.entities[body].typ == person || x.entities[body].typ == date {
			continue
		}
		x.addFact(holder, "is "+x.wording(t.first, t.last)+" of", body)
	}
}

// roleHolders finds "Y's president X", "Y president X", and "the president of Y,
// X,": Y is entity e.
func (x *statements) roleHolders(e int) {
	z := x.tokens
	i := x.entities[e].last
	if i >= len(z) || x.entities[e].numeric() {
		return
	}
	possessive := z[i].isMark(markPossessive)
	if possessive {
		i++
	}
	from := i
	if i = x.afterNouns(i); i > from && i < len(z) && z[i-1].is(role|kin) {
		comma := possessive && z[i].isMark(',')
		if comma {
			i++
		}
		if holder := x.entityAt(i); holder >= 0 && (possessive || x.entities[e].typ != person) {
			if h := &x.entities[holder]; !h.numeric() && x.endsName(h.last) && (!comma || x.endsApposition(h.last)) {
				x.addFact(holder, "is "+x.wording(from, i)+" of", e)
			}
		}
	}
	x.holderAfterOf(e)
}

// afterNouns returns the token after up to five nouns and their modifiers at i.
func (x *phrases) afterNouns(i int) int {
	z := x.tokens
	for from := i; i < len(z) && i-from < 5 && z[i].lower() && x.entityOf[i] == 0 && (!z[i].is(function|finite|verbIng) || z[i].is(noun|modifier)); {
		i++
	}
	return i
}

// endsName reports whether a name that ends before token i is not followed by
// something that makes it a part of another: "Y's captain X's goal" is fine,
// "Y president X Foundation" is one name already.
func (x *sentence) endsName(i int) bool {
	return i >= len(x.tokens) || !(x.tokens[i].kind == markToken && x.tokens[i].gap == glued && (x.tokens[i].mark == markDash || x.tokens[i].mark == '/'))
}

// holderAfterOf finds "the president of Y, X," with Y entity e.
func (x *statements) holderAfterOf(e int) {
	z := x.tokens
	i := x.entities[e].first - 1
	if i >= 0 && x.word(i) == "the" {
		i--
	}
	if i < 1 || x.word(i) != "of" || !z[i-1].lower() || !z[i-1].is(role|kin) {
		return
	}
	first := i - 1
	for first > 0 && z[first-1].lower() && z[first-1].is(role|modifier) {
		first--
	}
	j := x.entities[e].last
	comma := j < len(z) && z[j].isMark(',')
	if comma {
		j++
	}
	if holder := x.entityAt(j); holder >= 0 && x.entities[holder].typ == person && (!comma || x.endsApposition(x.entities[holder].last)) {
		x.addFact(holder, "is "+x.wording(first, i)+" of", e)
	}
}

// appositions finds "X, the capital of Y," with X entity e.
func (x *statements) appositions(e int) {
	z := x.tokens
	i := x.skipBrackets(x.entities[e].last)
	if i+2 >= len(z) || !(z[i].isMark(',') || z[i].isMark(markDash) && z[i].gap != glued) || x.entities[e].numeric() || x.inList(e) {
		return
	}
	i++
	if z[i].kind == numberToken && i+3 < len(z) && z[i+1].isMark(',') { // X, 37, a lawyer at Y
		i += 2
	}
	x.describe(e, i)
	from := i
	definite := x.word(i) == "the"
	if !z[i].lower() || !z[i].is(role|kin|modifier) && !definite && x.word(i) != "a" && x.word(i) != "an" {
		return
	}
	for content := false; i < len(z) && i-from < maxRelationWords && x.inApposition(i); i++ {
		if !z[i].is(preposition) || !content {
			content = content || !z[i].is(function|adverb)
			continue
		}
		if definite && !z[i-1].is(preposition) && !z[i-1].is(headsOf(x.entities[e].typ)) {
			return
		}
		if tail := x.argument(i + 1); tail >= 0 {
			x.apposition(e, from, i, tail)
			return
		}
		if w := x.word(i); w != "of" && w != "in" && w != "at" {
			return
		}
	}
}

// inApposition reports whether the word at token i can stand in an apposition.
func (x *phrases) inApposition(i int) bool {
	t := &x.tokens[i]
	return t.lower() && x.entityOf[i] == 0 && !t.is(conjunction|relative|pronoun|question|formOfBe|formOfHave|formOfDo|modal|negation) &&
		(!t.is(finite|verbIng) || t.is(noun|verbBase|verbParticiple))
}

// apposition records what the words from token from to the preposition at token i
// say of entity e and tail, if the apposition ends after tail.
func (x *statements) apposition(e, from, i, tail int) {
	end := x.conjuncts(tail, func(int) {})
	if (x.endsApposition(end) || x.tokens[end].lower() && x.tokens[end].is(relative)) && x.word(i) != "to" {
		relation := "is " + x.wording(from, i+1)
		x.conjuncts(tail, func(t int) { x.addFact(e, relation, t) })
	}
}

// headsOf returns the nouns that tell what something of a type is.
func headsOf(t typ) class {
	switch t {
	case location:
		return kin | thing | placeHead
	case person:
		return role | kin | thing
	case organization:
		return thing | organizationHead
	}
	return role | kin | thing | anyHead
}

// adjacent finds the triples that two neighbours make: "Y's X", "the University
// X in Y", "X of Y", "X, Y's president,". X is entity e or the one after it.
func (x *statements) adjacent(e int) {
	z := x.tokens
	i := x.entities[e].last
	if x.entities[e].numeric() || i+1 >= len(z) {
		return
	}
	switch {
	case z[i].isMark(markPossessive):
		if next := x.entityAt(i + 1); next >= 0 && x.ownedBy(next, e) {
			x.addFact(next, "of", e)
		}
	case z[i].isMark(','):
		x.holderBefore(e, i+1)
	case z[i].lower():
		from := i + 1
		if x.word(from) == "the" {
			from++
		}
		if next := x.entityAt(from); next >= 0 && x.endsArgument(x.entities[next].last) && x.prepositional(e, x.word(i), next) {
			relation := "is " + x.word(i)
			if x.entities[next].typ == date {
				relation = "took place in"
			}
			x.addFact(e, relation, next)
		}
	}
}

// prepositional reports whether a preposition between two entities says something of
// the first one, by their types.
func (x *phrases) prepositional(e int, preposition string, next int) bool {
	h, kind := &x.entities[e], x.entities[next].typ
	if h.last-h.first < 2 {
		return false
	}
	switch preposition {
	case "in":
		if kind == date {
			return h.typ == event && x.yearSpan(next) >= 0
		}
	case "at", "from":
		if h.typ == person && kind == organization {
			return true
		}
		if preposition == "from" {
			return h.typ == person && kind == location
		}
	case "of":
		return h.typ == person && (kind == organization || kind == location)
	case "near":
	default:
		return false
	}
	return kind == location && !x.isRegion(e) && (h.typ == organization || h.typ == location || h.typ == event)
}

// ownedBy reports whether "Y's X" says that X is of Y: "Brazil's Lula", but not
// "Lenin's Russia" or "Qatar's World Cup bid".
func (x *phrases) ownedBy(owned, owner int) bool {
	o := &x.entities[owned]
	by := x.entities[owner].typ
	if o.numeric() || by == person && o.typ == person || by != location && o.typ == location {
		return false
	}
	i := o.last
	return x.endsArgument(i) || x.tokens[i].lower() && x.tokens[i].is(finite|formOfBe|formOfHave|modal)
}

// holderBefore finds "X, Y's president," with X entity e and Y at token i.
func (x *statements) holderBefore(e, i int) {
	z := x.tokens
	body := x.entityAt(i)
	if body < 0 || x.entities[body].typ == date || x.inList(e) {
		return
	}
	i = x.entities[body].last
	if i >= len(z) || !z[i].isMark(markPossessive) {
		return
	}
	i++
	from := i
	i = x.afterNouns(i)
	if i > from && z[i-1].is(role|kin|thing|placeHead) && x.endsApposition(i) {
		x.addFact(e, "is "+x.wording(from, i)+" of", body)
	}
}
