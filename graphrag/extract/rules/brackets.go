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
		w := strings.ToLower(x.word(i))
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
// "X (1879–1955)"; and "X (University of Y)".
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
	in := x.entityAt(i)
	if in < 0 || x.entities[in].last >= len(z) || !z[x.entities[in].last].isMark(')') {
		return
	}
	kind, d := x.entities[e].typ, &x.entities[in]
	if relation == "" {
		years := x.yearSpan(in)
		switch {
		case kind == person && d.typ == organization && d.last-d.first > 1:
			x.addFact(e, "is of", in)
			return
		case kind == person && years >= 15 && years < 110:
			relation = "lived"
		case kind == event && years >= 0 && years < 10:
			relation = "took place in"
		default:
			return
		}
	}
	if d.typ == date {
		x.addFact(e, relation, in)
	}
}

// located finds "in Honolulu, Hawaii" with Honolulu entity e.
func (x *statements) located(e int) {
	z := x.tokens
	h := &x.entities[e]
	i := h.last
	if h.first == 0 || h.typ == person || h.numeric() || i >= len(z) || !z[i].isMark(',') {
		return
	}
	tail := x.entityAt(i + 1)
	if tail < 0 || !x.isRegion(tail) || x.isRegion(e) || !x.endsPlace(x.entities[tail].last) {
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
		return x.entityOf[i+1] == 0 || x.inDate(i+1)
	}
	return x.endsApposition(i) || t.lower() && t.is(preposition)
}
