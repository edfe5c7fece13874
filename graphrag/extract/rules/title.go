// SPDX-License-Identifier: Apache-2.0

package rules

// split takes a run of capitals apart: titles off persons, adjectives off
// titles, words off beginnings where the capital means nothing.
func (x *finder) split(i, j int) {
	kind := unknown
	for i < j {
		drop, courtesy := x.drops(i, j)
		if !drop {
			break
		}
		if courtesy {
			kind = person
		}
		for i++; i < j && x.tokens[i].lower(); i++ {
		}
	}
	if i >= j {
		return
	}
	if first, last := x.titleIn(i, j); last > 0 {
		x.splitTitle(i, first, last, j)
		return
	}
	x.emit(i, j, kind)
}

// drops reports whether the first word of a run is not part of a name, and whether
// it is a title of courtesy.
func (x *finder) drops(i, j int) (drop, courtesy bool) {
	t := &x.tokens[i]
	switch {
	case t.functional(), t.is(adverb) && !t.has(upperOnly) && x.atStart(i), t.is(connector) && i > 0 && x.entityOf[i-1] != 0:
		return true, false
	case t.is(honorific) && !t.is(organizationHead|placeHead) && i+1 < j:
		saint := x.word(i) == "St." || x.word(i) == "St"
		return !saint, !saint
	case t.is(demonym) && (x.titleNext(i+1, j) || j-i == 3 && !t.has(upperOnly) && x.tokens[i+1].is(given)):
		return true, false
	case x.atStart(i):
		return !x.knownPrefix(i, j) && (x.dropsOpening(i, j) || x.dropsChrome(i, j)), false
	}
	return x.dropsChrome(i, j), false
}

// dropsOpening reports whether the word that opens a sentence and a run has its
// capital from the sentence alone.
func (x *finder) dropsOpening(i, j int) bool {
	t := &x.tokens[i]
	single := i+1 == j
	next := int32(0)
	if !single {
		next = x.tokens[i+1].word
	}
	switch {
	case !t.has(upperOnly) && x.lexicon.common(t.word) && !t.is(given|place|role) &&
		!(x.lexicon.common(next) && x.hasHead(i, j, organizationHead|workHead|eventHead)):
		return true
	case t.word == 0 && !t.has(foreign) && !single && hasSuffix(x.word(i), "ing", "ed", "ly"):
		return true
	}
	return t.is(noname) && !t.is(given|place|placeHead) && !t.has(upperOnly) && !single
}

func (x *sentence) dropsChrome(i, j int) bool {
	t := &x.tokens[i]
	return t.is(chrome) && i+1 < j && !x.lexicon.proper(t.word)
}

// titleNext reports whether a title stands at token i, its modifiers before it.
func (x *sentence) titleNext(i, j int) bool {
	for i < j && x.tokens[i].is(modifier) && !x.tokens[i].is(role) {
		i++
	}
	return i < j && x.tokens[i].is(role)
}

// knownPrefix reports whether the run begins with a place of the tables or a name
// the corpus has inside sentences.
func (x *finder) knownPrefix(i, j int) bool {
	for k := min(j, i+maxNameTokens); k > i+1; k-- {
		key := x.key(i, k)
		if _, ok := x.lexicon.places[key]; ok || x.lexicon.names[key] > 1 {
			return true
		}
	}
	return false
}

// titleIn finds the title of a person in a run: modifiers and roles, "of State"
// included. last is 0 if there is none.
func (x *finder) titleIn(i, j int) (first, last int) {
	z := x.tokens
	for k := i; k < j; k++ {
		if k > i && k+1 < j && z[k].is(honorific) && z[k].has(dotted) && !z[k].is(organizationHead|placeHead) && !hasPrefix(x.word(k), "St", "Jr", "Sr", "Col") {
			return k, k + 1 // Florida Gov. X
		}
		if !z[k].is(role|modifier) || z[k].has(upperOnly) && !z[k].is(role) {
			continue
		}
		last, found := x.titleEnd(k, j)
		if !found || last > k && z[last-1].is(organizationHead|eventHead) && !z[last-1].is(role) {
			k = max(k, last-1)
			continue
		}
		if last == k+1 && z[k].is(royal) && x.royalName(i, k, j) {
			return 0, 0
		}
		return k, last
	}
	return 0, 0
}

// titleEnd returns the end of the roles and modifiers at token k, and whether there
// is a role among them.
func (x *sentence) titleEnd(k, j int) (last int, found bool) {
	z := x.tokens
	for last = k; last < j && (z[last].is(role|modifier) && !z[last].is(given) || last > k && last+1 < j && z[last].isMark('&') && z[last+1].is(role)); last++ {
		found = found || z[last].is(role)
	}
	return last, found
}

// royalName reports whether the royal title at token k is part of a name: "Stephen
// King", "King Charles III", "Prince of Wales".
func (x *sentence) royalName(i, k, j int) bool {
	last := k + 1
	rest := j - last
	switch {
	case rest == 0 && k == i+1 && !x.tokens[i].is(demonym):
		return true
	case k != i:
		return false
	}
	return rest == 1 || rest == 2 && romanNumeral(x.word(j-1)) || rest > 1 && x.word(last) == "of"
}

// splitTitle makes names of what stands before and after a title.
func (x *finder) splitTitle(i, first, last, j int) {
	body, holder := -1, last
	if first > i && x.emit(i, first, unknown) {
		body = i
	}
	if last < j && x.tokens[last].lower() { // of State X, of Russia X
		for holder = last + 1; holder < j && !x.tokens[holder].is(given); holder++ {
		}
		from := last + 1
		for from < j && x.tokens[from].lower() {
			from++
		}
		switch {
		case holder < j && x.lexicon.common(x.tokens[from].word): // Secretary of State X
			last = holder
		case holder < j:
			if x.emit(from, holder, unknown) {
				body = from
			}
		case !x.lexicon.common(x.tokens[from].word) || j-from > 2:
			x.emit(from, j, unknown)
			return
		default:
			return
		}
	}
	if j-holder == 1 && x.lexicon.common(x.tokens[holder].word) {
		return
	}
	if holder >= j || x.tokens[holder].is(organizationHead|eventHead) && j-holder == 1 {
		return
	}
	if x.hasHead(holder, j, role|modifier|organizationHead) && !x.tokens[holder].is(given) {
		x.emit(holder, j, unknown)
		return
	}
	if x.emit(holder, j, person) {
		x.titles = append(x.titles, title{first, last, holder, body})
	}
}
