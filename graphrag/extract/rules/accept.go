// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// emit claims the tokens from i up to j as a name if they can be one.
func (x *finder) emit(i, j int, kind typ) bool {
	if i, j = x.trim(i, j); i >= j || x.incomplete(i, j) {
		return false
	}
	z := x.tokens
	switch {
	case j-i > 1 && z[j-1].is(demonym) && x.isAdjective(j-1), j-i == 1 && !x.isName(i, kind), j-i > 1 && !x.isLongName(i, j):
		return false
	}
	if i > 0 && z[i-1].kind == numberToken && x.entityOf[i-1] == 0 && isYear(x.word(i-1)) && x.hasHead(i, j, eventHead) {
		i-- // 2022 FIFA World Cup
	}
	if kind == unknown {
		kind = x.typeOf(i, j)
	}
	return x.claim(i, j, kind)
}

// trim leaves out what stands at the ends of a name without being part of it.
func (x *finder) trim(i, j int) (int, int) {
	z := x.tokens
	for i < j && (z[i].lower() || z[i].functional() || z[i].kind == markToken) {
		i++
	}
	for i < j && (z[j-1].lower() || z[j-1].kind == markToken || j-i > 1 && z[j-1].functional()) {
		j--
	}
	for j-i > 1 && z[j-1].is(verbBase|verbIng) && !z[j-1].is(given|anyHead|noun) && !z[j-1].has(upperOnly) && x.lexicon.common(z[j-1].word) {
		j-- // headlines: "Trump and Kim Meet"
	}
	for j-i > 1 && z[j-1].is(part) && !z[j-1].is(given|organizationHead|workHead|eventHead) {
		j--
	}
	for j-i > 1 && (romanNumeral(x.word(i)) || x.word(i) != "I" && z[i].end-z[i].start == 1 && z[i].has(initials)) && !z[i+1].is(organizationHead) {
		i++ // stalag VIII B Lamsdorf
	}
	return i, j
}

// incomplete reports whether the tokens from i up to j are a piece of a word or name that
// the making of the page tore apart: "Grot- Rowecki", "Mo ścicki".
func (x *sentence) incomplete(i, j int) bool {
	z := x.tokens
	if j-i == 2 && i > 1 && x.word(i-1) == "and" && z[i-2].isWord() && z[i-2].has(upperFirst) && x.lexicon.common(z[i].word) {
		return true // the Food, Drug, and Cosmetic Act
	}
	if i > 1 && z[i-1].isMark(markDash) && z[i-1].gap == glued && z[i-2].isWord() {
		return true
	}
	if j+1 < len(z) && z[j].isMark(markDash) && z[j].gap == glued && z[j+1].isWord() {
		return true
	}
	return j < len(z) && z[j].lower() && x.text[z[j].start] >= 0x80 && !z[j].has(foreign) && !z[j].is(connector)
}

// isName reports whether one capitalized word is a name.
func (x *finder) isName(i int, kind typ) bool {
	t := &x.tokens[i]
	word := x.word(i)
	switch {
	case t.has(initials) && !t.has(upperOnly), len(word) < 2, romanNumeral(word), x.inFormula(i):
		return false
	case !x.learning && x.lexicon.large && x.lexicon.names[x.key(i, i+1)] < 2 && !t.is(place|given|demonym):
		return false // a word seen once among thousands of names is rather a slip
	case len(word) <= 3 && !t.has(upperOnly) && (t.has(innerUpper) || len(word) == 2) && t.class == 0 && !x.lexicon.proper(t.word):
		return false
	case t.is(place):
		return !t.is(pronoun) || t.has(upperOnly|dotted)
	case t.is(month | weekday | noname | unit), kind != person && t.is(role|modifier|part|honorific|anyHead|kin):
		return false
	case t.is(demonym):
		return !x.isAdjective(i)
	case t.has(hyphened) && x.isCompound(word):
		return false
	case hasSuffix(word, "ian", "ean", "ic", "ist", "ish", "ese", "esque") && i+1 < len(x.tokens) && plainWord(&x.tokens[i+1]):
		return false // Germanic nations
	}
	return x.capitalCounts(i, kind)
}

// capitalCounts reports whether the capital of a word means that it is a name, by how
// the corpus writes the word.
func (x *finder) capitalCounts(i int, kind typ) bool {
	t := &x.tokens[i]
	small, capital := x.lexicon.small[t.word], x.lexicon.capital[t.word]
	switch opens := x.atStart(i); {
	case t.has(upperOnly) && opens && i+1 < len(x.tokens) && x.tokens[i+1].isMark(':'): // who speaks
		return false
	case t.has(upperOnly):
		return t.end-t.start <= 8 && capital >= small && !t.is(anyVerb)
	case opens:
		return x.lexicon.proper(t.word) || capital > 0 && small == 0
	}
	return kind == person || small == 0 || capital >= 4*small
}

// inFormula reports whether the word at i is a symbol of a formula or a piece of a
// code: beside = or +, with a digit within, or with digits glued to it.
func (x *sentence) inFormula(i int) bool {
	z := x.tokens
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(z) && z[k].kind == markToken && strings.IndexByte("=<>+^%\\", z[k].mark) >= 0 {
			return true
		}
	}
	if i+1 < len(z) && z[i+1].gap == glued && z[i+1].kind == numberToken {
		return true
	}
	w := x.word(i)
	return len(w) <= 4 && !z[i].has(upperOnly) && strings.ContainsAny(w, "0123456789")
}

// isCompound reports whether a word with a hyphen is an adjective or a span of time:
// "British-Polish", "May-June", or a party and a state: "D-Hawaii".
func (x *sentence) isCompound(word string) bool {
	before, after, _ := strings.Cut(word, "-")
	if after == "" {
		before, after, _ = strings.Cut(word, "–")
	}
	if before == "D" || before == "R" {
		return true
	}
	for _, part := range []string{before, after} {
		x.lower = appendLower(x.lower[:0], part)
		if n, ok := x.words[string(x.lower)]; ok && x.class[n]&(demonym|month) != 0 {
			return true
		}
	}
	return false
}

// isAdjective reports whether the demonym at i stands before a noun: "the German
// army".
func (x *sentence) isAdjective(i int) bool {
	if i+1 >= len(x.tokens) {
		return !strings.HasSuffix(x.word(i), "s")
	}
	if strings.HasSuffix(x.word(i), "ns") || strings.HasSuffix(x.word(i), "is") && !strings.HasSuffix(x.word(i), "ish") {
		return false
	}
	next := &x.tokens[i+1]
	return next.kind != markToken && !(next.lower() && next.is(function|verbPast)) || next.isMark(markDash)
}

// isLongName reports whether two capitalized words or more are a name.
func (x *finder) isLongName(i, j int) bool {
	if x.placeName(i, j) {
		return true
	}
	allCaps, general, plain, long := true, true, true, 0
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if t.kind != wordToken {
			continue
		}
		allCaps = allCaps && t.has(upperOnly)
		if t.end-t.start > 3 {
			long++
		}
		plain = plain && x.lexicon.common(t.word)
		general = general && (t.is(noname|role|part|modifier|unit|honorific|royal) || t.end-t.start < 3 && !t.has(upperOnly) || romanNumeral(x.word(k)))
	}
	if last := &x.tokens[j-1]; general || j-i == 2 && last.end-last.start == 1 && x.word(i) != "Group" {
		return false
	}
	seen := x.lexicon.names[x.key(i, j)]
	if allCaps && long > 1 {
		return seen > 0
	}
	// A name of common words alone must stand in the corpus more than once.
	return !plain || seen > 1 || x.learning
}
