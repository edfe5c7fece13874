// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// acronyms finds "World Health Organization (WHO)": the letters are those its
// words begin with.
func (x *statements) acronyms() {
	z := x.tokens
	for e := 0; e+1 < len(x.entities); e++ {
		long, short := &x.entities[e], &x.entities[e+1]
		i := long.last
		if long.last-long.first < 2 || short.last-short.first != 1 || i+2 >= len(z) || !z[i].isMark('(') {
			continue
		}
		for i++; i < short.first && z[i].isMark(markQuote); i++ {
		}
		if i != short.first || !x.abbreviates(short, long) {
			continue
		}
		x.attributes = append(x.attributes, attribute{e, "alias", x.name(short)})
	}
}

// abbreviates reports whether the capitals of short are, in order, first letters of
// the words of long, beginning with the first word.
func (x *phrases) abbreviates(short, long *entity) bool {
	letters := strings.ToLower(strings.ReplaceAll(x.text[short.start:short.end], ".", ""))
	if len(letters) < 2 || !x.tokens[short.first].has(upperOnly) {
		return false
	}
	words, at := 0, 0
	for i := long.first; i < long.last; i++ {
		w := strings.ToLower(x.word(int(i)))
		if !x.tokens[i].lower() {
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

// brackets finds the dates in brackets after a name: "X (born 4 May 1950)",
// "X (1879–1955)".
func (x *statements) brackets(e int) {
	z := x.tokens
	i := x.entities[e].last
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
	if i >= len(z) || x.entityOf[i] == 0 {
		return
	}
	d := x.entityIn(i)
	if in := &x.entities[d]; relation == "" && x.entities[e].typ == person && in.typ == organization && in.last-in.first > 1 &&
		in.first == i && in.last < len(z) && z[in.last].isMark(')') {
		x.addFact(e, "is of", d) // X (University of Y)
		return
	}
	if x.entities[d].typ != date || x.entities[d].first != i || x.entities[d].last >= len(z) || !z[x.entities[d].last].isMark(')') {
		return
	}
	if relation == "" {
		years := x.yearSpan(d)
		switch {
		case x.entities[e].typ == person && years >= 15 && years < 110:
			relation = "lived"
		case x.entities[e].typ == event && years >= 0 && years < 10:
			relation = "took place in"
		default:
			return
		}
	}
	x.addFact(e, relation, d)
}

// located finds "in Honolulu, Hawaii" with Honolulu entity e.
func (x *statements) located(e int) {
	z := x.tokens
	h := &x.entities[e]
	i := h.last
	if h.first == 0 || h.typ == person || h.numeric() || i+1 >= len(z) || !z[i].isMark(',') || x.entityOf[i+1] == 0 {
		return
	}
	tail := x.entityIn(i + 1)
	t := &x.entities[tail]
	if t.first != i+1 || !x.isRegion(tail) || x.isRegion(e) || !x.endsPlace(t.last) {
		return
	}
	switch x.word(h.first - 1) {
	case "in", "In", "at", "At", "near", "Near", "from", "of", "to", "the":
		x.addFact(e, "is in", tail)
	}
}

// endsPlace reports whether "Honolulu, Hawaii" is not the beginning of a list.
func (x *phrases) endsPlace(i int) bool {
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	if t.isMark(',') && i+1 < len(x.tokens) {
		if w := x.word(i + 1); w == "the" || w == "and" || w == "or" {
			return false
		}
		return x.entityOf[i+1] == 0 || x.entities[x.entityOf[i+1]-1].typ == date
	}
	return x.endsApposition(i) || t.lower() && t.is(preposition)
}
