// SPDX-License-Identifier: Apache-2.0

package rules

// split takes a run of capitals apart: titles off persons, adjectives off
// titles, words off beginnings where the capital means nothing.
func (x *finder) split(i, j int) {
	courtesy := false
strip:
	for i < j {
		t := &x.tokens[i]
		next := &token{}
		if i+1 < j {
			next = &x.tokens[i+1]
		}
		switch {
		case t.functional(), t.is(adverb) && x.opens(i) && !t.has(upperOnly), t.is(connector) && i > 0 && x.entityOf[i-1] != 0:
		case t.is(honorific) && !(t.is(organizationHead | placeHead)) && i+1 < j:
			if x.word(i) == "St." || x.word(i) == "St" {
				break strip
			}
			courtesy = true
		case t.is(demonym) && (x.titleNext(i+1, j) || j-i == 3 && !t.has(upperOnly) && next.is(given)):
		case x.opens(i) && x.knownPrefix(i, j):
			break strip
		case x.opens(i) && !t.has(upperOnly) && x.lexicon.common(t.word) && !t.is(given|place|role) &&
			!(x.lexicon.common(next.word) && x.hasHead(i, j, organizationHead|workHead|eventHead)):
		case x.opens(i) && t.word == 0 && !t.has(foreign) && i+1 < j && hasSuffix(x.word(i), "ing", "ed", "ly"):
		case t.is(chrome) && i+1 < j && !x.lexicon.proper(t.word):
		case t.is(noname) && !t.is(given|place|placeHead) && !t.has(upperOnly) && i+1 < j && x.opens(i):
		default:
			break strip
		}
		i++
		for i < j && x.tokens[i].small() {
			i++
		}
	}
	if i >= j {
		return
	}
	if first, last := x.titleIn(i, j); last > 0 {
		x.splitTitle(i, first, last, j)
		return
	}
	kind := unknown
	if courtesy {
		kind = person
	}
	x.emit(i, j, kind)
}

// titleNext tells whether a title stands at token i, its modifiers before it.
func (x *finder) titleNext(i, j int) bool {
	for i < j && x.tokens[i].is(modifier) && !x.tokens[i].is(role) {
		i++
	}
	return i < j && x.tokens[i].is(role)
}

// knownPrefix tells whether the run begins with a place of the tables or a name
// the corpus has inside sentences.
func (x *finder) knownPrefix(i, j int) bool {
	for k := min(j, i+maxNameTokens); k > i+1; k-- {
		key := x.key(int32(i), int32(k))
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
		first, last = k, k
		found := false
		for last < j && (z[last].is(role|modifier) && !z[last].is(given) || last > first && last+1 < j && z[last].isMark('&') && z[last+1].is(role)) {
			found = found || z[last].is(role)
			last++
		}
		if !found || last > first && z[last-1].is(organizationHead|eventHead) && !z[last-1].is(role) {
			k = max(k, last-1)
			continue
		}
		if last == j && first == i+1 && last == first+1 && z[first].is(royal) && !z[i].is(demonym) {
			return 0, 0 // Stephen King
		}
		if z[first].is(royal) && last == first+1 {
			rest := j - last
			if first == i && (rest == 1 || rest == 2 && romanNumeral(x.word(j-1)) || rest > 1 && x.word(last) == "of") {
				return 0, 0
			}
		}
		return first, last
	}
	return 0, 0
}

// splitTitle makes names of what stands before and after a title.
func (x *finder) splitTitle(i, first, last, j int) {
	body, holder := -1, last
	if first > i && x.emit(i, first, unknown) {
		body = i
	}
	if last < j && x.tokens[last].small() { // of State X, of Russia X
		for holder = last + 1; holder < j && !x.tokens[holder].is(given); holder++ {
		}
		from := last + 1
		for from < j && x.tokens[from].small() {
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
		x.titles = append(x.titles, title{int32(first), int32(last), int32(holder), int32(body)})
	}
}
