// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// fact is a triple of the sentence that is being read; head and tail are
// entities of it.
type fact struct {
	head, tail int
	relation   string
	hedged     bool
}

// alias is an attribute of an entity of the sentence: another name of it, or
// what it is said to be.
type alias struct {
	entity     int
	key, value string
}

// relate finds the triples and attributes of the sentence, whose entities are
// known. Questions state nothing, and neither does what follows "if".
func (x *reader) relate() {
	x.facts, x.aliases = x.facts[:0], x.aliases[:0]
	x.acronyms()
	if x.patched || x.asks() {
		return
	}
	x.hedged = x.reports()
	x.officeHolders()
	for e := range x.entities {
		x.belongings(e)
		x.appositions(e)
		x.brackets(e)
		x.located(e)
		x.adjacent(e)
		if !x.doubted(e) {
			x.clauses(e)
		}
	}
}

// state records a triple, once.
func (x *reader) state(head int, relation string, tail int) {
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

// asks tells whether the sentence is a question.
func (x *reader) asks() bool {
	return strings.HasSuffix(strings.TrimRight(x.span.In(x.text), " *_)]\"'”’»"), "?")
}

// reports tells whether somebody is quoted in the sentence: a verb of saying, or
// "according to".
func (x *reader) reports() bool {
	for i := range x.tokens {
		t := &x.tokens[i]
		if t.small() && (t.is(report) && t.is(verbPast|verbS) && x.lemma(i) != "write" || x.word(i) == "according") {
			return true
		}
	}
	return false
}

// doubted tells whether what entity e does is put in doubt before it: "if X
// won", "claimed that X won".
func (x *reader) doubted(e int) bool {
	for i := int(x.entities[e].first) - 1; i >= 0; i-- {
		t := &x.tokens[i]
		if t.isMark(';') {
			return false
		}
		if !t.isWord() || x.owner[i] != 0 {
			continue
		}
		switch w := x.word(i); {
		case strings.EqualFold(w, "if"), strings.EqualFold(w, "whether"), strings.EqualFold(w, "unless"):
			return true
		case t.is(doubt) && int(x.entities[e].first)-i <= 4 && t.small():
			return true
		}
	}
	return false
}

// brackets finds the dates in brackets after a name: "X (born 4 May 1950)",
// "X (1879–1955)".
func (x *reader) brackets(e int) {
	z := x.tokens
	i := int(x.entities[e].last)
	if i+2 >= len(z) || !z[i].isMark('(') {
		return
	}
	i++
	relation := ""
	switch x.word(i) {
	case "born", "b", "b.":
		relation = "born"
		i++
	case "died", "d", "d.":
		relation = "died"
		i++
	}
	if i < len(z) && z[i].isMark('.') {
		i++
	}
	if i >= len(z) || x.owner[i] == 0 {
		return
	}
	d := int(x.owner[i]) - 1
	if in := &x.entities[d]; relation == "" && x.entities[e].typ == person && in.typ == organization && in.last-in.first > 1 &&
		int(in.first) == i && int(in.last) < len(z) && z[in.last].isMark(')') {
		x.state(e, "is of", d) // X (University of Y)
		return
	}
	if x.entities[d].typ != date || int(x.entities[d].first) != i || int(x.entities[d].last) >= len(z) || !z[x.entities[d].last].isMark(')') {
		return
	}
	if relation == "" {
		years := x.yearsOf(d)
		switch {
		case x.entities[e].typ == person && years >= 15 && years < 110:
			relation = "lived"
		case x.entities[e].typ == event && years >= 0 && years < 10:
			relation = "took place in"
		default:
			return
		}
	}
	x.state(e, relation, d)
}

// located finds "in Honolulu, Hawaii" with Honolulu entity e.
func (x *reader) located(e int) {
	z := x.tokens
	h := &x.entities[e]
	i := int(h.last)
	if h.first == 0 || h.typ == person || h.typ == date || h.typ == quantity || i+1 >= len(z) || !z[i].isMark(',') || x.owner[i+1] == 0 {
		return
	}
	tail := int(x.owner[i+1]) - 1
	t := &x.entities[tail]
	if int(t.first) != i+1 || !x.region(tail) || x.region(e) || !x.closesPlace(int(t.last)) {
		return
	}
	switch x.word(int(h.first) - 1) {
	case "in", "In", "at", "At", "near", "Near", "from", "of", "to", "the":
		x.state(e, "is in", tail)
	}
}

func (x *reader) region(e int) bool {
	return x.lexicon.places[x.key(x.entities[e].first, x.entities[e].last)]
}

// closesPlace tells whether "Honolulu, Hawaii" is not the beginning of a list.
func (x *reader) closesPlace(i int) bool {
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	if t.isMark(',') && i+1 < len(x.tokens) {
		if w := x.word(i + 1); w == "the" || w == "and" || w == "or" {
			return false
		}
		return x.owner[i+1] == 0 || x.entities[x.owner[i+1]-1].typ == date
	}
	return x.closes(i) || t.small() && t.is(preposition)
}

// acronyms finds "World Health Organization (WHO)": the letters are those its
// words begin with.
func (x *reader) acronyms() {
	z := x.tokens
	for e := 0; e+1 < len(x.entities); e++ {
		long, short := &x.entities[e], &x.entities[e+1]
		i := int(long.last)
		if long.last-long.first < 2 || short.last-short.first != 1 || i+2 >= len(z) || !z[i].isMark('(') {
			continue
		}
		for i++; i < int(short.first) && z[i].isMark(markQuote); i++ {
		}
		if i != int(short.first) || !x.abbreviates(short, long) {
			continue
		}
		x.aliases = append(x.aliases, alias{e, "alias", x.name(short)})
	}
}

// abbreviates tells whether the capitals of short are, in order, first letters of
// the words of long, beginning with the first word.
func (x *reader) abbreviates(short, long *entity) bool {
	letters := strings.ToLower(strings.ReplaceAll(x.text[short.start:short.end], ".", ""))
	if len(letters) < 2 || !x.tokens[short.first].has(upperOnly) {
		return false
	}
	words, at := 0, 0
	for i := long.first; i < long.last; i++ {
		w := strings.ToLower(x.word(int(i)))
		if !x.tokens[i].small() {
			words++
		}
		if at < len(letters) && w[0] == letters[at] {
			at++
		} else if i == long.first {
			return false
		}
	}
	return at == len(letters) && at >= words-1
}

// yearsOf returns how many years a date spans: 0 for one year, -1 for a date that
// is no year and no range of years.
func (x *reader) yearsOf(d int) int {
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
