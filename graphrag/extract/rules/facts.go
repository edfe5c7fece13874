// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
)

// openFact is a triple of the current sentence; head and tail are indexes of its entities.
type openFact struct {
	head, tail int
	relation   string
}

const (
	// hedgedWeight is the weight of facts in a sentence of reported speech: "officials said that …".
	hedgedWeight = 0.5
	// maxRelationWords and maxRelationBytes limit the length of a relation.
	maxRelationWords, maxRelationBytes = 9, 120
)

// state finds the triples that the current sentence states by one of the patterns below. Questions, and
// sentences with "if", "whether" or "unless", state nothing.
func (x *reader) state() {
	x.facts, x.hedged = x.facts[:0], false
	conditional := strings.HasSuffix(x.tail(), "?")
	for i := range x.tokens {
		x.hedged = x.hedged || x.tokens[i].lower() && x.tokens[i].is(report)
		conditional = conditional || x.wordIs(i, "if", "If", "whether", "unless", "Unless")
	}
	if x.mixed || conditional {
		return
	}
	for _, o := range x.offices {
		if o.body < 0 && o.first > 1 && x.tokens[o.first-1].isMark(markPossessive) { // the possessive in "Y's President X"
			o.body = o.first - 2
		}
		if holder := x.entityIn(o.person); holder >= 0 && o.body >= 0 && x.entityIn(o.body) >= 0 {
			x.addFact(holder, "is "+x.wording(o.first, o.last)+" of", x.entityIn(o.body))
		}
	}
	for e := range x.entities {
		if !x.entities[e].numeric() {
			x.officer(e)
			x.apposition(e)
			x.lifetime(e)
			x.clause(e)
		}
	}
}

// addFact records a triple unless the sentence has it already.
func (x *reader) addFact(head int, relation string, tail int) {
	h, t := &x.entities[head], &x.entities[tail]
	if head == tail || len(relation) > maxRelationBytes || strings.EqualFold(x.text[h.start:h.end], x.text[t.start:t.end]) {
		return
	}
	if f := (openFact{head, tail, relation}); !slices.Contains(x.facts, f) {
		x.facts = append(x.facts, f)
	}
}

// officer finds "Y's president X" and "Y president X", where Y is entity e.
func (x *reader) officer(e int) {
	z, i := x.tokens, x.entities[e].last
	if i < len(z) && z[i].isMark(markPossessive) {
		i++
	}
	from := i
	for i < len(z) && i-from < 5 && z[i].lower() && z[i].is(noun|modifier) {
		i++
	}
	holder := x.entityAt(i)
	if i > from && holder >= 0 && z[i-1].is(role|kin) && !x.entities[holder].numeric() && x.endsObject(holder) {
		x.addFact(holder, "is "+x.wording(from, i)+" of", e)
	}
}

// apposition finds "X, the capital of Y,", where X is entity e.
func (x *reader) apposition(e int) {
	z, i := x.tokens, x.entities[e].last
	listed := e > 0 && x.wordIs(x.entities[e].first-1, ",") && x.entities[e-1].last == x.entities[e].first-1
	if i+1 >= len(z) || !z[i].isMark(',') || listed || !z[i+1].lower() || !z[i+1].is(role|kin|modifier) && !x.wordIs(i+1, "the", "a", "an") {
		return
	}
	from := i + 1
	for i = from; i < len(z) && i-from < maxRelationWords && x.nominal(i); i++ {
		tail := x.afterArticle(i + 1)
		if !z[i].is(preposition) || i == from || tail < 0 {
			continue
		}
		if end := x.entities[tail].last; x.endsPhrase(end) && x.wordIs(i, "of", "in", "at", "for") {
			x.addFact(e, "is "+x.wording(from, i+1), tail)
		}
		return
	}
}

// nominal reports whether the word at token i can be in a noun phrase.
func (x *reader) nominal(i int) bool {
	t := &x.tokens[i]
	return x.entityOf[i] == 0 && t.isWord() && (!t.lower() && t.is(demonym) ||
		t.lower() && !t.is(conjunction|relative|pronoun|interrogative|formOfBe|formOfHave|formOfDo|modal|negation) && (!t.is(finite|verbIng) || t.is(noun|verbBase|verbParticiple)))
}

// endsPhrase reports whether a phrase ends before token i.
func (x *reader) endsPhrase(i int) bool {
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	return t.kind == markToken && !t.isMark(markPossessive) && t.gap == glued && !t.isMark(markDash) || t.lower() && t.is(conjunction|relative)
}

// lifetime finds the dates in brackets after entity e: "X (born 4 May 1950)", "X (1879–1955)".
func (x *reader) lifetime(e int) {
	i := x.entities[e].last
	if !x.wordIs(i, "(") {
		return
	}
	relation := "lived"
	for i++; i < len(x.tokens) && (x.tokens[i].lower() || x.tokens[i].isMark('.')); i++ {
		switch x.word(i) {
		case "born", "b", "b.":
			relation = "born"
		case "died", "d", "d.":
			relation = "died"
		}
	}
	d := x.entityAt(i)
	if d < 0 || x.entities[d].typ != date || !x.wordIs(x.entities[d].last, ")") {
		return
	}
	if span := x.name(&x.entities[d]); relation != "lived" || x.entities[e].typ == person && len(span) >= 9 && isYear(span[:4]) {
		x.addFact(e, relation, d)
	}
}

// clause finds the triples of which entity s is the subject: "In 1994 X founded Y",
// "X, who was born in Y". The relation is the words from the verb to the object, in
// the manner of ReVerb (Fader, Soderland and Etzioni, EMNLP 2011).
func (x *reader) clause(s int) {
	z, i := x.tokens, x.entities[s].last
	if x.wordIs(i, "(") {
		for i++; i < len(z) && !x.wordIs(i-1, ")"); i++ {
		}
	}
	if x.wordIs(i, ",") && x.wordIs(i+1, "who", "which") {
		i++
	}
	related := x.wordIs(i, "who", "which")
	if related {
		i++
	}
	subjects, first := []int{s}, x.entities[s].first
	for !related && first > 1 && x.word(first-1) == "and" && x.entityOf[first-2] != 0 {
		s = x.entityIn(first - 2)
		subjects, first = append(subjects, s), x.entities[s].first
	}
	if verb := x.verbEnd(i); verb > i && (related || x.opensClause(first)) {
		x.objects(subjects, i, verb)
	}
}

// opensClause reports whether a clause can begin with the subject at token i, its
// article and modifiers before it.
func (x *reader) opensClause(i int) bool {
	z := x.tokens
	for i--; i >= 0 && x.entityOf[i] == 0 && z[i].isWord() && z[i].is(role|modifier|determiner) && x.word(i) != "that"; i-- {
	}
	if i < 0 || x.lineBreak(i+1) {
		return true
	}
	t := &z[i]
	switch {
	case x.entityOf[i] != 0:
		return x.entities[x.entityIn(i)].typ == date // as in "In 1994 X founded Y"
	case t.kind == markToken:
		return !t.isMark(markPossessive) && !t.isMark('$') && !t.isMark('/') && !t.isMark('&')
	case x.word(i) == "and":
		return i == 0 || x.entityOf[i-1] == 0
	}
	return t.isWord() && t.is(conjunction|weekday) || x.wordIs(i, "that")
}

// verbEnd returns the token after the verb group that begins at token i, or i if no verb group begins there.
func (x *reader) verbEnd(i int) int {
	from, auxiliary := i, false
	for ; i < len(x.tokens) && x.tokens[i].lower() && x.entityOf[i] == 0; i++ {
		t := &x.tokens[i]
		switch {
		case t.is(formOfBe | formOfHave | formOfDo | modal | negation):
			auxiliary = true
		case t.is(verbPast|verbParticiple) || looksPast(x.text, t), t.is(verbS) && !t.is(noun), auxiliary && t.is(verbBase|verbIng) && !t.is(noun):
			return i + 1
		case t.is(adverb) || strings.HasSuffix(x.word(i), "ly") && t.class == 0:
		case auxiliary:
			return i
		default:
			return from
		}
	}
	if auxiliary {
		return i
	}
	return from
}

// objects finds the objects of a verb group, directly after it or after a few words and a preposition. The
// relation begins at token from, and the verb group ends before token verb.
func (x *reader) objects(subjects []int, from, verb int) {
	z, i := x.tokens, verb
	for i < len(z) && i-from < maxRelationWords && x.entityAt(i) < 0 && (x.nominal(i) || z[i].isMark(markPossessive)) {
		i++
	}
	tail := x.entityAt(i)
	relation := x.wording(from, i)
	for tail >= 0 && x.endsObject(tail) && !(z[i-1].is(formOfBe) && x.entities[tail].typ == date) {
		for _, s := range subjects {
			x.addFact(s, relation, tail)
		}
		switch i = x.entities[tail].last; {
		case i < len(z) && (z[i].isMark(',') || x.word(i) == "and"): // as in "Y, Z and A"
			for i++; x.wordIs(i, "and", "the"); i++ {
			}
			if tail = x.entityAt(i); tail >= 0 && x.verbEnd(x.entities[tail].last) > x.entities[tail].last {
				return // the entity is the subject of another clause
			}
		case i < len(z) && z[i].lower() && z[i].is(preposition) && x.word(i) != "of": // as in "founded Y in Z"
			relation = x.wording(from, verb) + " " + x.word(i)
			tail = x.afterArticle(i + 1)
		default:
			return
		}
	}
}

// afterArticle returns the entity at token i or after an article at token i, -1 if there is none.
func (x *reader) afterArticle(i int) int {
	if x.wordIs(i, "the", "a", "an") {
		i++
	}
	return x.entityAt(i)
}

// endsObject reports whether entity e can be an object by itself: no noun that it modifies, no possessive and
// no hyphen follows.
func (x *reader) endsObject(e int) bool {
	i := x.entities[e].last
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	return !plainWord(t) && !t.isMark(markPossessive) && !(t.isMark(markDash) && t.gap == glued)
}

// wording returns the tokens from i up to j in lower case, without articles.
func (x *reader) wording(i, j int) string {
	x.phrase = x.phrase[:0]
	for ; i < j; i++ {
		possessive := x.tokens[i].isMark(markPossessive)
		if x.wordIs(i, "the", "a", "an") || x.tokens[i].kind == markToken && !possessive {
			continue
		}
		if len(x.phrase) > 0 && !possessive {
			x.phrase = append(x.phrase, ' ')
		}
		x.phrase = appendLower(x.phrase, x.word(i))
	}
	return string(x.phrase)
}

// dates finds dates: a month with a day or year, digits, and Chinese and Japanese dates: June 6, 1944 · 6 June
// · May 2012 · 2012-07-24 · 1939–1945 · the 1970s · 2012年7月24日.
func (x *finder) dates() {
	z := x.tokens
	for i := 0; i < len(z); i++ {
		if x.entityOf[i] != 0 {
			continue
		}
		first, last := i, i
		switch t := &z[i]; {
		case t.kind == wordToken && t.is(month) && t.has(upperFirst):
			if first, last = x.aroundMonth(i); last-first == 1 {
				last = first // a month without day and year is no date
			}
		case t.kind == numberToken:
			if last = x.cjkDate(i); last == i && isDateFigure(x.word(i)) && !x.wordIs(i-1, ".", "p", "pp", "pages") {
				last++
			}
		}
		if last > first {
			x.claim(first, last, date)
			i = last - 1
		}
	}
}

// aroundMonth returns the tokens of the date around the month at token i.
func (x *finder) aroundMonth(i int) (first, last int) {
	z := x.tokens
	first, last = i, i+1
	if last < len(z) && z[last].isMark('.') && z[last].gap == glued {
		last++ // the full stop in "Feb. 26"
	}
	if last < len(z) && z[last].gap != glued && isDay(x.text, &z[last]) {
		return first, x.afterYear(last + 1)
	}
	if year := x.afterYear(last); year > last {
		last = year
	} else if i > 0 && isDay(x.text, &z[i-1]) && last < len(z) && z[last].kind == numberToken && len(x.word(last)) == 2 && x.word(last) > "31" {
		last++ // the year in "23 Jan 43"
	} else {
		last = i + 1
	}
	if i > 0 && x.entityOf[i-1] == 0 && isDay(x.text, &z[i-1]) {
		first--
	} else if i > 1 && x.word(i-1) == "of" && isDay(x.text, &z[i-2]) {
		first -= 2
	}
	return first, last
}

// afterYear returns the token after the year at token i (or after a comma at i), or i if there is none.
func (x *sentence) afterYear(i int) int {
	year := i
	if i < len(x.tokens) && x.tokens[i].isMark(',') {
		year++
	}
	if year < len(x.tokens) && x.tokens[year].kind == numberToken && isYear(x.word(year)) {
		return year + 1
	}
	return i
}

// isYear reports whether s is a year from 1000 to 2099.
func isYear(s string) bool {
	return len(s) == 4 && allDigits(s) && (s[0] == '1' || s[0] == '2' && s[1] == '0')
}

func allDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// isDay reports whether a token is a day of a month, such as 24 or 24th.
func isDay(s string, t *token) bool {
	digits := strings.TrimRight(s[t.start:t.end], "thsndr")
	if t.kind != numberToken || len(digits) > 2 || !allDigits(digits) {
		return false
	}
	return len(digits) == 1 && digits != "0" || len(digits) == 2 && "01" <= digits && digits <= "31"
}

// isDateFigure reports whether s is a date or span of years in digits: 2012-07-24, 1939–1945, 1939-45 or 1970s.
func isDateFigure(s string) bool {
	if len(s) < 5 || !isYear(s[:4]) {
		return false
	}
	rest := s[4:]
	cut := strings.TrimPrefix(strings.TrimPrefix(rest, "–"), "-")
	switch {
	case rest == "s":
		return true
	case cut == rest:
		return false
	case len(cut) == 5 && rest[0] == '-':
		return cut[2] == '-' && allDigits(cut[:2]) && allDigits(cut[3:])
	}
	return isYear(cut) || len(cut) == 2 && allDigits(cut)
}

// cjkDate returns the token after a date such as 2012年7月24日 at token i, or i if there is none.
func (x *sentence) cjkDate(i int) int {
	j := i
	for k, sign := range []string{"年", "月", "日"} {
		if j+1 >= len(x.tokens) || x.tokens[j].kind != numberToken || x.word(j+1) != sign || k == 0 && !isYear(x.word(j)) {
			break
		}
		j += 2
	}
	return j
}

// beforeYear are the words after which a number of four digits is a year.
var beforeYear = strings.Fields("in since until by from of during between before after circa born died early late mid around till through summer winter spring autumn fall")

// years finds years without day and month, after one of the words of beforeYear or in brackets.
func (x *finder) years() {
	z := x.tokens
	for i := 1; i < len(z); i++ {
		t := &z[i]
		if x.entityOf[i] != 0 || t.kind != numberToken || !isYear(x.word(i)) ||
			i+1 < len(z) && (z[i+1].isWord() && z[i+1].is(unit|scale) || z[i+1].isMark('%')) {
			continue
		}
		before := strings.ToLower(x.word(i - 1))
		if slices.Contains(beforeYear, before) ||
			(before == "and" || before == "to") && i > 1 && z[i-2].kind == numberToken && x.entityOf[i-2] != 0 ||
			before == "(" && i+1 < len(z) && z[i+1].isMark(')') && x.word(i) >= "1500" {
			x.claim(i, i+1, date)
		}
	}
}

// quantities finds amounts of money, percentages and measures: $1.2 billion · 54% · 40 percent · 120 km/h · 3.5
// million people.
func (x *finder) quantities() {
	z := x.tokens
	is := func(i int, c class) bool { return i < len(z) && z[i].lower() && z[i].is(c) }
	for i := 0; i < len(z); i++ {
		money := i > 0 && z[i].gap == glued && z[i-1].isMark('$')
		if x.entityOf[i] != 0 || z[i].kind != numberToken || z[i].has(suffixed) && !money {
			continue
		}
		first, last, measured := i, i+1, money
		if money {
			first--
			if first > 0 && z[first].gap == glued && z[first-1].isWord() && z[first-1].has(upperOnly|upperFirst) && x.entityOf[first-1] == 0 {
				first-- // the letters in US$
			}
		}
		if is(last, scale) {
			last++
		}
		switch {
		case last < len(z) && z[last].isMark('%') && z[last].gap == glued:
			last, measured = last+1, true
		case !money && is(last, unit):
			last, measured = last+1, true
			if last+1 < len(z) && z[last].isMark('/') && z[last+1].isWord() && z[last].gap == glued {
				last += 2
			}
		}
		if measured {
			x.claim(first, last, quantity)
			i = last - 1
		}
	}
}

// maxTitleTokens limits the length of a title.
const maxTitleTokens = 14

// quotedTitles finds titles of works between quotation or emphasis marks: at least two words, all with a
// capital except function words.
func (x *finder) quotedTitles() {
	z := x.tokens
	for i := 0; i+2 < len(z); i++ {
		q := &z[i]
		opens := q.isMark(markQuote) || q.isMark(markApostrophe) || q.isMark(markBullet) && q.end-q.start == 1
		if !opens || z[i+1].gap != glued || z[i+1].kind != wordToken || q.gap == glued && i > 0 && z[i-1].kind == wordToken {
			continue
		}
		j := i + 1
		for j < len(z) && j-i <= maxTitleTokens && !z[j].isMark(q.mark) {
			j++
		}
		if j >= len(z) || !z[j].isMark(q.mark) || !x.titleCase(i+1, j) {
			continue
		}
		last := j
		for z[last-1].kind == markToken && !z[last-1].isMark(')') {
			last--
		}
		if x.entitled(i, last) {
			x.claim(i+1, last, work)
		}
		i = j
	}
}

// entitled reports whether the tokens after the mark at token i, up to last, are a title and no slogan: at
// least three words, or two words after a word such as "film" or "called", or that the corpus also has
// elsewhere; and not all in capitals.
func (x *finder) entitled(i, last int) bool {
	allCaps, words := true, 0
	for k := i + 1; k < last; k++ {
		if t := &x.tokens[k]; t.isWord() {
			words++
			allCaps = allCaps && t.has(upperOnly)
		}
	}
	if allCaps || words < 2 {
		return false
	}
	if words > 2 || x.learning || x.seen(i+1, last) > 1 {
		return true
	}
	for k := max(0, i-4); k < i; k++ {
		if x.tokens[k].lower() && (x.tokens[k].is(workHead) || x.wordIs(k, "called", "titled", "entitled")) {
			return true
		}
	}
	return false
}

// titleCase reports whether the words from i up to j are written like a title.
func (x *finder) titleCase(i, j int) bool {
	capitals, others := 0, 0
	lastLower := false
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		switch {
		case x.entityOf[k] != 0:
			return false
		case t.kind == numberToken || t.kind == markToken && strings.IndexByte(",:'-s!?.&", t.mark) >= 0:
			continue
		case t.kind != wordToken:
			return false
		case t.has(upperFirst | innerUpper):
			capitals++
			lastLower = false
		case !t.is(function|connector|adverb) || k == i:
			return false
		default:
			others++
			lastLower = true
		}
	}
	return capitals >= 2 && others <= capitals+1 && !lastLower
}
