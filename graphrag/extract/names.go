// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"slices"
	"strings"
)

// entity is a mention in the sentence that is being read: tokens first to
// last-1, bytes start to end-1 of the chunk.
type entity struct {
	first, last int32
	start, end  int32
	typ         typ
	quoted      bool
}

// office is a title found beside a person's name: "FIFA President Gianni
// Infantino". Tokens as in entity; holder is the first token of the person, of
// that of the body or -1.
type office struct {
	first, last int32
	holder      int32
	of          int32
}

// find fills in the entities of the sentence, in the order of the text.
func (x *reader) find(k layout) {
	x.entities, x.offices = x.entities[:0], x.offices[:0]
	x.owner = append(x.owner[:0], make([]int32, len(x.tokens))...)
	x.known()
	if k != fragment {
		x.dates()
	}
	switch k {
	case prose, inquiry:
		x.quotedTitles()
		x.runs(true)
		x.years()
		x.quantities()
	case foreignProse:
		x.runs(false)
	case fragment:
		x.confirmed()
		if len(x.entities) > 0 {
			x.dates() // of something; a date alone is one of an archive or a calendar
		}
	}
	sortEntities(x.entities)
	for i := range x.entities {
		e := &x.entities[i]
		for t := e.first; t < e.last; t++ {
			x.owner[t] = int32(i + 1)
		}
	}
}

func sortEntities(entities []entity) {
	slices.SortFunc(entities, func(a, b entity) int { return int(a.first - b.first) })
}

// claim makes an entity of the tokens from i up to j.
func (x *reader) claim(i, j int, kind typ) *entity {
	start, end := x.tokens[i].start, x.tokens[j-1].end
	if last := &x.tokens[j-1]; last.has(dotted) && !last.has(upperOnly) && !(last.has(initials) && j-i > 1 && kind != person) {
		end-- // the full stop of Inc. and Jr.
	}
	if x.cut && start == 0 || end-start > maxNameBytes {
		return nil
	}
	for t := i; t < j; t++ {
		x.owner[t] = int32(len(x.entities) + 1)
	}
	x.entities = append(x.entities, entity{first: int32(i), last: int32(j), start: start, end: end, typ: kind})
	return &x.entities[len(x.entities)-1]
}

// maxNameBytes bounds names; longer ones are none.
const maxNameBytes = 120

// runs finds the names that show by their capitals. strict sentences are
// English.
func (x *reader) runs(english bool) {
	for i := 0; i < len(x.tokens); {
		if i > 0 && x.tokens[i].isMark(':') && x.word(i-1) == "headline" {
			return
		}
		if x.owner[i] != 0 || !x.nameStart(i) {
			i++
			continue
		}
		j := x.extend(i)
		if english {
			x.split(i, j)
		} else if !x.opens(i) && (j-i > 1 && (x.learning || !x.lexicon.large || x.lexicon.names[x.key(int32(i), int32(j))] > 1) || x.lexicon.proper(x.tokens[i].word)) {
			x.emit(i, j, unknown)
		}
		i = j
	}
}

// nameStart tells whether a word can begin a name or go on with one.
func (x *reader) nameStart(i int) bool {
	t := &x.tokens[i]
	if t.kind != wordToken || !t.has(upperFirst|innerUpper) || t.has(lowerTail) || t.is(weekday) {
		return false
	}
	if !t.has(upperFirst) && t.has(hyphened) || t.has(patched) { // pro-Russia
		return false
	}
	if t.has(innerUpper) && t.class == 0 && x.lexicon.capital[t.word] < 2 {
		return t.has(upperFirst) && hasPrefix(x.word(i), "Mc", "Mac", "De", "Di", "La", "Le", "Van", "Fitz")
	}
	return true
}

// functional tells whether a capitalised word is a word like "The" or "When";
// in capitals only it is rather an acronym: WHO, IT, US.
func (t *token) functional() bool {
	return t.is(function) && !t.has(upperOnly) && !t.is(given)
}

// extend returns the end of the run of capitals that begins at i.
func (x *reader) extend(i int) int {
	z := x.tokens
	j := i + 1
	for j < len(z) && x.owner[j] == 0 && !x.breaks(j) {
		t := &z[j]
		switch {
		case x.nameStart(j):
			if t.functional() || t.is(chrome) || x.headline(j) || t.is(month) && j+1 < len(z) && z[j+1].kind == numberToken {
				return j
			}
			j++
		case t.isMark('&') && x.nameAt(j+1):
			j += 2
		case t.isMark(',') && x.legalForm(j+1):
			j += 2
		case t.isMark(',') && x.listEnd(i, j) > 0:
			j = x.listEnd(i, j)
		case t.isMark(markPossessive) && x.nameAt(j+1) && x.ownsName(j):
			j += 2
		case t.small() && t.is(connector):
			next := x.afterConnectors(i, j)
			if next == 0 {
				return j
			}
			j = next
		case t.small() && t.is(joining) && x.nameAt(j+1) && x.joins(i, j, j+1):
			j += 2
		case t.small() && t.is(joining) && j+2 < len(z) && x.word(j) != "and" && x.word(j+1) == "the" && x.nameAt(j+2) && x.joins(i, j, j+2):
			j += 3 // Centre for the Study of …
		default:
			return j
		}
	}
	return j
}

// listEnd returns the end of ", Y and Z" at token j after "Ministry of X", 0 if
// the name from i is no such body.
func (x *reader) listEnd(i, j int) int {
	if j-i < 3 || x.word(j-2) != "of" || !x.tokens[j-3].is(organizationHead) || x.tokens[j-1].is(place|demonym) {
		return 0
	}
	for n := 0; n < 4 && j+1 < len(x.tokens) && x.tokens[j].isMark(',') && x.nameAt(j+1) && !x.tokens[j+1].is(place|demonym|given); n++ {
		j += 2
		if j+1 < len(x.tokens) && x.tokens[j].isMark(',') && x.word(j+1) == "and" {
			j++
		}
		if j+1 < len(x.tokens) && x.word(j) == "and" && x.nameAt(j+1) && !x.tokens[j+1].is(place|demonym|given) {
			return j + 2
		}
	}
	return 0
}

// ownsName tells whether the possessive at token j stands inside a name:
// "Women's World Cup", "Teachers' Union".
func (x *reader) ownsName(j int) bool {
	switch x.word(j - 1) {
	case "St", "St.":
		return false
	case "Women", "Men", "People", "Children", "Girls", "Boys", "Workers", "Writers", "King", "Queen", "Veterans", "Ladies", "World":
		return true
	}
	if w := x.word(max(j-2, 0)); w == "St." || w == "St" { // St. John's Church
		return x.tokens[j+1].is(organizationHead | placeHead | workHead)
	}
	return x.tokens[j].end-x.tokens[j].start < 2 && x.tokens[j+1].is(organizationHead)
}

// headline tells whether the capitalised word at token j is a verb, as in
// headlines: "Trump Opens Talks".
func (x *reader) headline(j int) bool {
	t := &x.tokens[j]
	return t.is(verbS) && !t.has(upperOnly) && !t.is(organizationHead|placeHead|eventHead|workHead|noun) && x.lexicon.common(t.word)
}

func (x *reader) nameAt(i int) bool {
	return i < len(x.tokens) && x.owner[i] == 0 && x.nameStart(i) && !x.breaks(i) && !x.tokens[i].functional()
}

// breaks tells whether a name cannot go on from token i-1 to i: a short line
// ends between them.
func (x *reader) breaks(i int) bool {
	if x.tokens[i].gap != newline {
		return false
	}
	end := int(x.tokens[i-1].end)
	return end-strings.LastIndexByte(x.text[:end], '\n') < shortLine ||
		strings.Count(x.text[end:x.tokens[i].start], "\n") > 1
}

// shortLine is the length, in bytes, under which a line is not taken for the
// wrapped line of a paragraph.
const shortLine = 40

func (x *reader) legalForm(i int) bool {
	if !x.nameAt(i) {
		return false
	}
	switch strings.ToLower(strings.TrimSuffix(x.word(i), ".")) {
	case "inc", "ltd", "llc", "corp", "plc", "gmbh":
		return true
	}
	return false
}

func (x *reader) word(i int) string { return x.text[x.tokens[i].start:x.tokens[i].end] }

// afterConnectors returns the end of "of the X", "de la X", "von X" at j, 0 if
// the run from i does not go on there.
func (x *reader) afterConnectors(i, j int) int {
	of := x.word(j) == "of"
	if x.word(j) == "the" || of && !x.ofJoins(i, j) {
		return 0
	}
	n := j + 1
	if n < len(x.tokens) && x.tokens[n].small() && x.tokens[n].is(connector) && !x.breaks(n) {
		n++
	}
	if !x.nameAt(n) || x.tokens[n].is(month) || of && x.tokens[n].is(demonym) && n == j+1 && !x.nameAt(n+1) {
		return 0
	}
	return n + 1
}

// ofJoins tells whether "X of Y" is one name: not after a person, a place or a
// body with a name of its own.
func (x *reader) ofJoins(i, j int) bool {
	last := &x.tokens[j-1]
	switch {
	case last.is(organizationHead | placeHead | eventHead | workHead | role):
		return true
	case x.nameAt(j+1) && x.lexicon.common(x.tokens[j+1].word) && !last.is(given|place|demonym): // Chiefs of Staff
		return true
	case last.is(place | demonym | given | month | kin), last.has(upperOnly), last.kind != wordToken:
		return false
	case j-i > 1 && x.tokens[i].is(given):
		return false
	}
	return x.lexicon.common(last.word) || x.lexicon.capital[last.word] == 0 && j-i == 1
}

// joins tells whether "for", "on" or "and" at j goes on with the name of a
// body: "Department of Health and Human Services".
func (x *reader) joins(i, j, next int) bool {
	head := false
	for k := i; k < j; k++ {
		head = head || x.tokens[k].is(organizationHead|workHead|eventHead)
	}
	before, after := &x.tokens[j-1], &x.tokens[next]
	if !head && j-i > 1 && x.lexicon.common(before.word) && x.lexicon.common(after.word) {
		for k := j + 1; k < j+4 && k < len(x.tokens) && x.nameStart(k); k++ {
			head = head || x.tokens[k].is(organizationHead) // Tourism Improvement and Development Authority
		}
		return head || x.word(j) == "for" // Investor Advocates for Social Justice
	}
	if !head {
		return false
	}
	if x.word(j) != "and" {
		return before.is(organizationHead|workHead|eventHead) && !after.is(given|place|month)
	}
	return !after.is(place|demonym|given|organizationHead) && x.lexicon.common(before.word) && x.lexicon.common(after.word)
}

// split takes a run of capitals apart: titles off persons, adjectives off
// titles, words off beginnings where the capital means nothing.
func (x *reader) split(i, j int) {
	courtesy := false
strip:
	for i < j {
		t := &x.tokens[i]
		next := &token{}
		if i+1 < j {
			next = &x.tokens[i+1]
		}
		switch {
		case t.functional(), t.is(adverb) && x.opens(i) && !t.has(upperOnly), t.is(connector) && i > 0 && x.owner[i-1] != 0:
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
func (x *reader) titleNext(i, j int) bool {
	for i < j && x.tokens[i].is(modifier) && !x.tokens[i].is(role) {
		i++
	}
	return i < j && x.tokens[i].is(role)
}

// knownPrefix tells whether the run begins with a place of the tables or a name
// the corpus has inside sentences.
func (x *reader) knownPrefix(i, j int) bool {
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
func (x *reader) titleIn(i, j int) (first, last int) {
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
func (x *reader) splitTitle(i, first, last, j int) {
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
		x.offices = append(x.offices, office{int32(first), int32(last), int32(holder), int32(body)})
	}
}

func romanNumeral(s string) bool { return s != "" && strings.Trim(s, "IVX") == "" }

// emit claims the tokens from i up to j as a name if they can be one.
func (x *reader) emit(i, j int, kind typ) bool {
	z := x.tokens
	for i < j && (z[i].small() || z[i].functional() || z[i].kind == markToken) {
		i++
	}
	for i < j && (z[j-1].small() || z[j-1].kind == markToken || j-i > 1 && z[j-1].functional()) {
		j--
	}
	for j-i > 1 && z[j-1].is(verbBase|verbIng) && !z[j-1].is(given|organizationHead|placeHead|eventHead|workHead|noun) && !z[j-1].has(upperOnly) && x.lexicon.common(z[j-1].word) {
		j-- // headlines: "Trump and Kim Meet"
	}
	for j-i > 1 && z[j-1].is(part) && !z[j-1].is(given|organizationHead|workHead|eventHead) {
		j--
	}
	for j-i > 1 && (romanNumeral(x.word(i)) || x.word(i) != "I" && z[i].end-z[i].start == 1 && z[i].has(initials)) && !z[i+1].is(organizationHead) {
		i++ // stalag VIII B Lamsdorf
	}
	switch {
	case i >= j, x.torn(i, j):
		return false
	case j-i > 1 && z[j-1].is(demonym) && x.adjective(j-1):
		return false
	case j-i == 1:
		if !x.single(i, kind) {
			return false
		}
	case !x.several(i, j):
		return false
	}
	if i > 0 && x.tokens[i-1].kind == numberToken && x.owner[i-1] == 0 && isYear(x.word(i-1)) && x.hasHead(i, j, eventHead) {
		i-- // 2022 FIFA World Cup
	}
	if kind == unknown {
		kind = x.typeOf(i, j)
	}
	return x.claim(i, j, kind) != nil
}

// torn tells whether the tokens from i up to j are a piece of a word or name that
// the making of the page tore apart: "Grot- Rowecki", "Mo ścicki".
func (x *reader) torn(i, j int) bool {
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
	return j < len(z) && z[j].small() && x.text[z[j].start] >= 0x80 && !z[j].has(foreign) && !z[j].is(connector)
}

func (x *reader) hasHead(i, j int, c class) bool {
	for ; i < j; i++ {
		if x.tokens[i].is(c) {
			return true
		}
	}
	return false
}

// single tells whether one capitalised word is a name.
func (x *reader) single(i int, kind typ) bool {
	t := &x.tokens[i]
	word := x.word(i)
	switch {
	case t.has(initials) && !t.has(upperOnly), len(word) < 2, romanNumeral(word), x.formula(i):
		return false
	case !x.learning && x.lexicon.large && x.lexicon.names[x.key(int32(i), int32(i+1))] < 2 && !t.is(place|given|demonym):
		return false // a word seen once among thousands of names is rather a slip
	case len(word) <= 3 && !t.has(upperOnly) && (t.has(innerUpper) || len(word) == 2) && t.class == 0 && !x.lexicon.proper(t.word):
		return false
	case t.is(place):
		return !t.is(pronoun) || t.has(upperOnly|dotted)
	case t.is(month|weekday|noname|role|modifier|part|unit|honorific|organizationHead|placeHead|eventHead|workHead|kin) && kind != person:
		return false
	case t.is(month | weekday | noname | unit):
		return false
	case t.is(demonym):
		return !x.adjective(i)
	case t.has(hyphened) && x.compound(word):
		return false
	case hasSuffix(word, "ian", "ean", "ic", "ist", "ish", "ese", "esque") && i+1 < len(x.tokens) && plainWord(&x.tokens[i+1]):
		return false // Germanic nations
	}
	small, capital := x.lexicon.small[t.word], x.lexicon.capital[t.word]
	switch {
	case t.has(upperOnly) && i+1 < len(x.tokens) && x.opens(i) && x.tokens[i+1].isMark(':'): // who speaks
		return false
	case t.has(upperOnly):
		return len(word) <= 8 && capital >= small && !t.is(anyVerb)
	case x.opens(i):
		return x.lexicon.proper(t.word) || capital > 0 && small == 0
	case kind == person:
		return true
	}
	return small == 0 || capital >= 4*small
}

// formula tells whether the word at i is a symbol of a formula or a piece of a
// code: beside = or +, with a digit within, or with digits glued to it.
func (x *reader) formula(i int) bool {
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

// compound tells whether a word with a hyphen is an adjective or a span of time:
// "British-Polish", "May-June", or a party and a state: "D-Hawaii".
func (x *reader) compound(word string) bool {
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

// adjective tells whether the demonym at i stands before a noun: "the German
// army".
func (x *reader) adjective(i int) bool {
	if i+1 >= len(x.tokens) {
		return !strings.HasSuffix(x.word(i), "s")
	}
	if strings.HasSuffix(x.word(i), "ns") || strings.HasSuffix(x.word(i), "is") && !strings.HasSuffix(x.word(i), "ish") {
		return false
	}
	next := &x.tokens[i+1]
	return next.kind != markToken && !(next.small() && next.is(function|verbPast)) || next.isMark(markDash)
}

// several tells whether two capitalised words or more are a name.
func (x *reader) several(i, j int) bool {
	shouted, general, plain, long := true, true, true, 0
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if t.kind != wordToken {
			continue
		}
		shouted = shouted && t.has(upperOnly)
		if t.end-t.start > 3 {
			long++
		}
		plain = plain && x.lexicon.common(t.word)
		general = general && (t.is(noname|role|part|modifier|unit|honorific|royal) || t.end-t.start < 3 && !t.has(upperOnly) || romanNumeral(x.word(k)))
	}
	if last := &x.tokens[j-1]; general || j-i == 2 && last.end-last.start == 1 && x.word(i) != "Group" {
		return false
	}
	seen := x.lexicon.names[x.key(int32(i), int32(j))]
	if shouted && long > 1 {
		return seen > 0
	}
	// A name of common words alone must stand in the corpus more than once.
	return !plain || seen > 1 || x.learning
}

// key is the hash of a name, under which [Lexicon.names] counts it: its words
// in lower case.
func (x *reader) key(first, last int32) uint64 {
	h := uint64(fnvOffset)
	for i := first; i < last; i++ {
		x.lower = appendLower(x.lower[:0], x.word(int(i)))
		for _, c := range x.lower {
			h = (h ^ uint64(c)) * fnvPrime
		}
		h = (h ^ ' ') * fnvPrime
	}
	return h
}

// confirmed finds the names that prose has elsewhere, in text whose capitals
// mean nothing: the longest first.
func (x *reader) confirmed() {
	for i := 0; i < len(x.tokens); i++ {
		if x.owner[i] != 0 || !x.nameStart(i) {
			continue
		}
		end := i + 1
		for end < len(x.tokens) && end-i < maxNameTokens && x.owner[end] == 0 && !x.breaks(end) &&
			(x.tokens[end].isWord() || x.tokens[end].isMark('&')) {
			end++
		}
		for j := end; j > i; j-- {
			if j-i > 1 && !x.nameStart(j-1) {
				continue
			}
			n := x.lexicon.names[x.key(int32(i), int32(j))]
			if n == 0 || x.goesOn(i, j) || j-i == 1 && (n < 3 || !x.lexicon.proper(x.tokens[i].word) || !x.single(i, unknown)) {
				continue
			}
			if x.claim(i, j, x.typeOf(i, j)) != nil {
				i = j - 1
			}
			break
		}
	}
}

// goesOn tells whether a word that is no common one stands beside the tokens from
// i up to j: then they are likely a part of another name.
func (x *reader) goesOn(i, j int) bool {
	z := x.tokens
	beside := func(k int) bool {
		if z[k].has(initials) && z[k].has(dotted) {
			return true
		}
		return x.owner[k] == 0 && x.nameStart(k) && !z[k].functional() && !x.lexicon.common(z[k].word) && !z[k].is(chrome|noname|role|modifier|anyVerb)
	}
	return i > 0 && !x.breaks(i) && beside(i-1) || j < len(z) && !x.breaks(j) && beside(j)
}

// maxNameTokens bounds the names that are looked up.
const maxNameTokens = 8
