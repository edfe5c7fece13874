// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// find finds the entities of the current sentence, in the order of the text.
func (x *finder) find(k layout) {
	x.entities, x.offices = x.entities[:0], x.offices[:0]
	x.entityOf = append(x.entityOf[:0], make([]int32, len(x.tokens))...)
	x.placeholders()
	switch k {
	case prose, query:
		x.dates()
		x.quotedTitles()
		x.runs()
		x.years()
		x.quantities()
	case foreignProse:
		x.dates()
		x.foreignRuns()
	case fragment:
		x.confirmed()
		if len(x.entities) > 0 {
			x.dates() // dates without any name are an archive list or a calendar
		}
	}
	x.sortEntities()
}

func (x *finder) sortEntities() {
	slices.SortFunc(x.entities, func(a, b entity) int { return a.first - b.first })
	for i, e := range x.entities {
		for t := e.first; t < e.last; t++ {
			x.entityOf[t] = int32(i + 1)
		}
	}
}

// placeholders finds replacements for hidden names: PERSON#12, a word in capitals, a # and a number.
func (x *finder) placeholders() {
	for i := 0; i+2 < len(x.tokens); i++ {
		word, mark, number := &x.tokens[i], &x.tokens[i+1], &x.tokens[i+2]
		if word.isWord() && word.has(upperOnly) && x.text[mark.start] == '#' && mark.gap == glued && number.kind == numberToken && number.gap == glued && x.entityOf[i] == 0 {
			x.claim(i, i+3, placeholderTypes[x.text[word.start:word.end]])
		}
	}
}

// placeholderTypes maps the word of a placeholder to the type of its entity.
var placeholderTypes = map[string]typ{"PERSON": person, "LOCATION": location, "ORGANIZATION": organization}

// runs finds names by their capitals.
func (x *finder) runs() {
	for i := 0; i < len(x.tokens); {
		switch {
		case i > 0 && x.tokens[i].isMark(':') && x.word(i-1) == "headline":
			return
		case x.entityOf[i] != 0 || !x.nameStart(i):
			i++
		default:
			j := x.extend(i)
			x.split(i, j)
			i = j
		}
	}
}

// foreignRuns finds names in a language other than English, whose words are in no table: two capitalized words
// or more inside a sentence, or one word that the corpus nearly always writes with a capital.
func (x *finder) foreignRuns() {
	for i := 0; i < len(x.tokens); i++ {
		if x.entityOf[i] != 0 || !x.nameStart(i) {
			continue
		}
		j := x.extend(i)
		repeated := x.learning || !x.lexicon.large || x.seen(i, j) > 1
		if !x.atStart(i) && j-i > 1 && repeated || x.written(i, proper) {
			x.emit(i, j, unknown)
		}
		i = j - 1
	}
}

// confirmed finds names that the corpus's prose contains, in text with meaningless capitals, the longest first.
func (x *finder) confirmed() {
	for i := 0; i < len(x.tokens); i++ {
		if x.entityOf[i] != 0 || !x.nameStart(i) {
			continue
		}
		end := i + 1
		for end < len(x.tokens) && end-i < maxNameTokens && x.entityOf[end] == 0 && !x.lineBreak(end) && (x.tokens[end].isWord() || x.tokens[end].isMark('&')) {
			end++
		}
		for j := end; j > i; j-- {
			n := x.seen(i, j)
			if n == 0 || !x.nameStart(j-1) || x.partOfLonger(i, j) || j-i == 1 && (n < 3 || !x.written(i, proper) || !x.isName(i, unknown)) {
				continue
			}
			if x.claim(i, j, x.typeOf(i, j)) {
				i = j - 1
			}
			break
		}
	}
}

// partOfLonger reports whether an uncommon capitalized word is next to the tokens from i up to j, so that these
// are probably part of a longer name.
func (x *finder) partOfLonger(i, j int) bool {
	beside := func(k int) bool {
		t := &x.tokens[k]
		return t.has(initials) && t.has(dotted) ||
			x.entityOf[k] == 0 && x.nameStart(k) && !t.functional() && !x.written(k, common) && !t.is(chrome|noname|role|modifier|anyVerb)
	}
	return i > 0 && !x.lineBreak(i) && beside(i-1) || j < len(x.tokens) && !x.lineBreak(j) && beside(j)
}

// lookUp makes entities of the names for which isKnown returns true, the longest first, in any case.
func (x *finder) lookUp(isKnown func(folded string) bool) {
	for i := 0; i < len(x.tokens); i++ {
		for j := min(i+maxNameTokens, len(x.tokens)); j > i; j-- {
			first, last := &x.tokens[i], &x.tokens[j-1]
			if first.kind == markToken || last.kind == markToken || j-i == 1 && first.is(function|adverb) && !first.has(upperOnly) {
				continue
			}
			if last.end-first.start > maxNameBytes {
				continue
			}
			if isKnown(text.FoldName(x.text[first.start:last.end])) {
				if x.claim(i, j, x.typeOf(i, j)) {
					i = j - 1
				}
				break
			}
		}
	}
}

// nameStart reports whether a word can begin or continue a name.
func (x *finder) nameStart(i int) bool {
	t := &x.tokens[i]
	if t.kind != wordToken || !t.has(upperFirst|innerUpper) || t.has(lowerTail) || t.is(weekday) || !t.has(upperFirst) && t.has(hyphened) {
		return false
	}
	w := x.word(i)
	switch {
	case !t.has(innerUpper) || t.class != 0:
		return true
	case !t.has(upperFirst): // eBay is a name; agoAsia is two words that lost their blank
		return x.written(i, oftenCapital) && strings.IndexFunc(w, unicode.IsUpper) < 3
	}
	return x.written(i, oftenCapital) || hasPrefix(w, "Mc", "Mac", "De", "Di", "La", "Le", "Van", "Fitz", "O'", "O’", "D'", "D’")
}

// nameAt reports whether a name can continue at token i.
func (x *finder) nameAt(i int) bool {
	return i < len(x.tokens) && x.entityOf[i] == 0 && x.nameStart(i) && !x.lineBreak(i) && !x.tokens[i].functional()
}

// extend returns the token after the run of capitalized words that begins at token i.
func (x *finder) extend(i int) int {
	j := i + 1
	for j < len(x.tokens) && x.entityOf[j] == 0 && !x.lineBreak(j) {
		next := j
		switch t := &x.tokens[j]; {
		case x.nameStart(j):
			if !x.endsRun(j) {
				next = j + 1
			}
		case t.isMark('&') && x.nameAt(j+1), t.isMark(',') && x.nameAt(j+1) && x.legalForm(j+1), t.isMark(markPossessive) && x.nameAt(j+1) && x.possessiveInside(j):
			next = j + 2
		case t.lower() && t.is(connector):
			next = x.afterConnectors(i, j)
		case t.lower() && t.is(joining) && x.nameAt(j+1) && x.joins(i, j):
			next = j + 2
		}
		if next == j {
			break
		}
		j = next
	}
	return j
}

// endsRun reports whether the capitalized word at token j is not part of the name before it: a function word,
// the verb of a headline ("Trump Opens Talks"), the month of a date.
func (x *finder) endsRun(j int) bool {
	t := &x.tokens[j]
	verb := t.is(verbS) && !t.has(upperOnly) && !t.is(anyHead|noun) && x.written(j, common)
	return t.functional() || t.is(chrome) || verb || t.is(month) && j+1 < len(x.tokens) && x.tokens[j+1].kind == numberToken
}

func (x *finder) legalForm(i int) bool {
	return slices.Contains([]string{"inc", "ltd", "llc", "corp", "plc", "gmbh"}, strings.ToLower(strings.TrimSuffix(x.word(i), ".")))
}

// possessiveInside reports whether the possessive at token j is inside a name: "Women's World Cup", "Teachers'
// Union", "St. John's Church".
func (x *finder) possessiveInside(j int) bool {
	if x.wordIs(j-1, "Women", "Men", "People", "Children", "Girls", "Boys", "Workers", "Writers", "King", "Queen", "Veterans", "Ladies", "World") {
		return true
	}
	if x.wordIs(j-2, "St.", "St") {
		return x.tokens[j+1].is(organizationHead | placeHead | workHead)
	}
	return x.tokens[j].end-x.tokens[j].start < 2 && x.tokens[j+1].is(organizationHead)
}

// afterConnectors returns the token after "of the X", "de la X" or "von X" at token j, or j if the name that
// begins at token i ends there.
func (x *finder) afterConnectors(i, j int) int {
	of := x.word(j) == "of"
	if x.word(j) == "the" || of && !x.ofJoins(i, j) {
		return j
	}
	n := j + 1
	if n < len(x.tokens) && x.tokens[n].lower() && x.tokens[n].is(connector) && !x.lineBreak(n) {
		n++
	}
	if !x.nameAt(n) || x.tokens[n].is(month) || of && x.tokens[n].is(demonym) && n == j+1 && !x.nameAt(n+1) {
		return j
	}
	return n + 1
}

// ofJoins reports whether "X of Y" is one name: not if X is a person, a place or an organization's own name.
func (x *finder) ofJoins(i, j int) bool {
	last := &x.tokens[j-1]
	switch {
	case last.is(anyHead | role):
		return true
	case x.nameAt(j+1) && x.written(j+1, common) && !last.is(given|place|demonym): // as in "Chiefs of Staff"
		return true
	case last.is(place | demonym | given | month | kin), last.has(upperOnly), last.kind != wordToken, j-i > 1 && x.tokens[i].is(given):
		return false
	}
	return x.written(j-1, common) || !x.written(j-1, everCapital) && j-i == 1
}

// joins reports whether "for", "on" or "and" at token j continues the name that begins at token i: "Department
// of Health and Human Services".
func (x *finder) joins(i, j int) bool {
	const heads = organizationHead | workHead | eventHead
	before, after := &x.tokens[j-1], &x.tokens[j+1]
	both := x.written(j-1, common) && x.written(j+1, common)
	switch {
	case !x.hasHead(i, j, heads): // as in "National Oceanic and Atmospheric Administration"
		return j-i > 1 && both && (x.word(j) == "for" || x.hasHead(j+1, min(j+4, len(x.tokens)), organizationHead))
	case x.word(j) != "and":
		return before.is(heads) && !after.is(given|place|month)
	}
	return !after.is(place|demonym|given|organizationHead) && both
}

// office is a title beside a person's name: "FIFA President Gianni Infantino". The title is the tokens first to
// last-1; person and body are the first tokens of the person and of the organization, -1 if there is none.
type office struct{ first, last, person, body int }

// split cuts a run of capitalized words into names: it separates titles from persons and adjectives from
// titles, and drops first words whose capital means nothing.
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

// drops reports whether the first word of a run is not part of the name, and whether it is a "Mr." or similar.
func (x *finder) drops(i, j int) (drop, courtesy bool) {
	t := &x.tokens[i]
	switch {
	case t.functional(), t.is(adverb) && !t.has(upperOnly) && x.atStart(i), t.is(connector) && i > 0 && x.entityOf[i-1] != 0:
		return true, false
	case t.is(honorific) && !t.is(organizationHead|placeHead) && i+1 < j:
		saint := x.wordIs(i, "St.", "St")
		return !saint, !saint
	case t.is(demonym) && i+1 < j && (x.tokens[i+1].is(role) || j-i == 3 && !t.has(upperOnly) && x.tokens[i+1].is(given)):
		return true, false
	case t.is(chrome) && i+1 < j && !x.written(i, proper):
		return true, false
	}
	return x.atStart(i) && x.dropsOpening(i, j), false
}

// dropsOpening reports whether the first word of a sentence and of the run from i up to j has its capital only
// from its position: it begins no place name of the tables and no name that the corpus has inside sentences.
func (x *finder) dropsOpening(i, j int) bool {
	for k := min(j, i+maxNameTokens); k > i+1; k-- {
		if x.placeName(i, k) || x.seen(i, k) > 1 {
			return false
		}
	}
	t := &x.tokens[i]
	single := i+1 == j
	switch {
	case t.has(upperOnly):
		return false
	case x.written(i, common) && !t.is(given|place|role):
		return single || !x.written(i+1, common) || !x.hasHead(i, j, organizationHead|workHead|eventHead)
	case !x.written(i, known) && !t.has(foreign) && !single && hasSuffix(x.word(i), "ing", "ed", "ly"):
		return true
	}
	return t.is(noname) && !t.is(given|place|placeHead) && !single
}

// titleIn returns the tokens of a person's title in the run from i up to j: roles and their modifiers. last is
// 0 if there is none.
func (x *finder) titleIn(i, j int) (first, last int) {
	z := x.tokens
	for k := i; k < j; k++ {
		if k > i && k+1 < j && z[k].is(honorific) && z[k].has(dotted) && !z[k].is(organizationHead|placeHead) && !hasPrefix(x.word(k), "St", "Jr", "Sr", "Col") {
			return k, k + 1 // as in "Florida Gov. X"
		}
		found := false
		for last = k; last < j && z[last].is(role|modifier) && !z[last].is(given) && (!z[last].has(upperOnly) || z[last].is(role)); last++ {
			found = found || z[last].is(role)
		}
		switch {
		case !found || z[last-1].is(organizationHead|eventHead) && !z[last-1].is(role):
			k = max(k, last-1)
		case last == k+1 && z[k].is(royal) && x.royalName(i, k, j):
			return 0, 0
		default:
			return k, last
		}
	}
	return 0, 0
}

// royalName reports whether the royal title at token k is part of a name: "Stephen King", "King Charles III",
// "Prince of Wales".
func (x *finder) royalName(i, k, j int) bool {
	last := k + 1
	rest := j - last
	if k != i {
		return rest == 0 && k == i+1 && !x.tokens[i].is(demonym)
	}
	return rest == 1 || rest == 2 && romanNumeral(x.word(j-1)) || rest > 1 && x.word(last) == "of"
}

// splitTitle makes names of the words before and after the title from token first up to last.
func (x *finder) splitTitle(i, first, last, j int) {
	body, holder := -1, last
	if first > i && x.emit(i, first, unknown) {
		body = i
	}
	if last < j && x.tokens[last].lower() { // as in "Secretary of State X" or "President of Russia X"
		from := last
		for from < j && x.tokens[from].lower() {
			from++
		}
		for holder = from; holder < j && !x.tokens[holder].is(given); holder++ {
		}
		switch {
		case x.written(from, common):
			last = holder // "of State" belongs to the title
		case x.emit(from, holder, unknown):
			body = from
		}
	}
	switch {
	case holder >= j, j-holder == 1 && (x.written(holder, common) || x.tokens[holder].is(organizationHead|eventHead)):
	case x.hasHead(holder, j, role|modifier|organizationHead) && !x.tokens[holder].is(given):
		x.emit(holder, j, unknown)
	case x.emit(holder, j, person):
		x.offices = append(x.offices, office{first, last, holder, body})
	}
}

// emit makes an entity of the tokens from i up to j if they can be a name.
func (x *finder) emit(i, j int, kind typ) bool {
	if i, j = x.trim(i, j); i >= j || x.torn(i, j) || j-i == 1 && !x.isName(i, kind) || j-i > 1 && !x.isLongName(i, j) {
		return false
	}
	if i > 0 && x.tokens[i-1].kind == numberToken && x.entityOf[i-1] == 0 && isYear(x.word(i-1)) && x.hasHead(i, j, eventHead) {
		i-- // the year in "2022 FIFA World Cup"
	}
	if kind == unknown {
		kind = x.typeOf(i, j)
	}
	return x.claim(i, j, kind)
}

// trim returns the tokens from i up to j without words at both ends that are not part of a name.
func (x *finder) trim(i, j int) (int, int) {
	z := x.tokens
	for i < j && (z[i].lower() || z[i].functional() || z[i].kind == markToken) {
		i++
	}
	for i < j && (z[j-1].lower() || z[j-1].kind == markToken || j-i > 1 && z[j-1].functional()) {
		j--
	}
	for j-i > 1 && z[j-1].is(verbBase|verbIng) && !z[j-1].is(given|anyHead|noun) && !z[j-1].has(upperOnly) && x.written(j-1, common) {
		j-- // headlines: "Trump and Kim Meet"
	}
	for j-i > 1 && z[j-1].is(part) && !z[j-1].is(given|organizationHead|workHead|eventHead) {
		j--
	}
	for j-i > 1 && (romanNumeral(x.word(i)) || x.word(i) != "I" && z[i].end-z[i].start == 1) && !z[i+1].is(organizationHead) {
		i++ // drops the numeral and letter before "Lamsdorf" in "stalag VIII B Lamsdorf"
	}
	return i, j
}

// torn reports whether the tokens from i up to j are a piece of a word or name that the page's markup tore
// apart: "Grot- Rowecki", "Mo ścicki".
func (x *finder) torn(i, j int) bool {
	z := x.tokens
	dash := func(k, word int) bool {
		return k > 0 && k < len(z) && z[k].isMark(markDash) && z[k].gap == glued && word < len(z) && word >= 0 && z[word].isWord()
	}
	return dash(i-1, i-2) || dash(j, j+1) ||
		j < len(z) && z[j].lower() && x.text[z[j].start] >= 0x80 && !z[j].has(foreign) && !z[j].is(connector)
}

// isName reports whether the single capitalized word at token i is a name.
func (x *finder) isName(i int, kind typ) bool {
	t := &x.tokens[i]
	word := x.word(i)
	switch {
	case t.has(initials) && !t.has(upperOnly), len(word) < 2, romanNumeral(word), x.inFormula(i):
		return false
	case !x.learning && x.lexicon.large && x.seen(i, i+1) < 2 && !t.is(place|given|demonym):
		return false // in a large corpus a word seen once is probably a misspelling
	case t.is(place):
		return !t.is(pronoun) || t.has(upperOnly|dotted)
	case t.is(month | weekday | noname | unit), kind != person && t.is(role|modifier|part|honorific|anyHead|kin):
		return false
	case t.is(demonym) || t.has(hyphened) && x.hasDemonym(word):
		return x.isPeople(i)
	case hasSuffix(word, "ian", "ean", "ic", "ist", "ish", "ese", "esque") && i+1 < len(x.tokens) && plainWord(&x.tokens[i+1]):
		return false // as "Germanic" in "Germanic nations"
	}
	return x.capitalCounts(i, kind)
}

// capitalCounts reports whether the capital of the word at token i shows that it is a name, judging by how the
// corpus writes the word.
func (x *finder) capitalCounts(i int, kind typ) bool {
	t := &x.tokens[i]
	switch {
	case t.has(upperOnly):
		return t.end-t.start <= 8 && x.written(i, halfCapital) && !t.is(anyVerb)
	case x.atStart(i):
		return x.written(i, proper) || x.written(i, everCapital) && !x.written(i, everSmall)
	}
	return kind == person || !x.written(i, everSmall) || x.written(i, mostlyCapital)
}

// inFormula reports whether the word at token i is a symbol of a formula or a piece of a code: next to = or +,
// or with a digit inside it or glued to it.
func (x *finder) inFormula(i int) bool {
	z := x.tokens
	for _, k := range []int{i - 1, i + 1} {
		if k >= 0 && k < len(z) && z[k].kind == markToken && strings.IndexByte("=<>+^%\\", z[k].mark) >= 0 {
			return true
		}
	}
	w := x.word(i)
	return i+1 < len(z) && z[i+1].gap == glued && z[i+1].kind == numberToken ||
		len(w) <= 4 && !z[i].has(upperOnly) && strings.ContainsAny(w, "0123456789")
}

// hasDemonym reports whether a word with a hyphen contains a demonym or a month ("British-Polish", "May-June"),
// or is a US party and state ("D-Hawaii").
func (x *finder) hasDemonym(word string) bool {
	if hasPrefix(word, "D-", "R-") {
		return true
	}
	x.lower = appendLower(x.lower[:0], word)
	for piece := range strings.SplitSeq(string(x.lower), "-") {
		if n, ok := x.words[piece]; ok && x.class[n]&(demonym|month) != 0 {
			return true
		}
	}
	return false
}

// isPeople reports whether the demonym at token i is a noun for people, unlike in "the German army".
func (x *finder) isPeople(i int) bool {
	if hasSuffix(x.word(i), "ns", "is") || i+1 >= len(x.tokens) {
		return strings.HasSuffix(x.word(i), "s")
	}
	next := &x.tokens[i+1]
	return next.kind == markToken && !next.isMark(markDash) || next.lower() && next.is(function|verbPast)
}

// isLongName reports whether the two or more words from token i up to j are a name.
func (x *finder) isLongName(i, j int) bool {
	if x.placeName(i, j) {
		return true
	}
	last := &x.tokens[j-1]
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
		plain = plain && x.written(k, common)
		general = general && (t.is(noname|role|part|modifier|unit|honorific|royal) || t.end-t.start < 3 && !t.has(upperOnly) || romanNumeral(x.word(k)))
	}
	seen := x.seen(i, j)
	switch {
	case general, j-i == 2 && last.end-last.start == 1 && x.word(i) != "Group", last.is(demonym) && !x.isPeople(j-1):
		return false
	case allCaps && long > 1:
		return seen > 0
	}
	// A name of common words alone must occur in the corpus more than once.
	return !plain || seen > 1 || x.learning
}
