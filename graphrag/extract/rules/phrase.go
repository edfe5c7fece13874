// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// phrases reads the phrases around the entities of a sentence.
type phrases struct {
	*mentions
	phrase []byte // a buffer
}

// argument returns the entity that begins at token i, its article and
// modifiers before it; -1 if there is none that can be an object.
func (x *phrases) argument(i int) int {
	z := x.tokens
	if i < len(z) && z[i].lower() && z[i].is(determiner) {
		switch x.word(i) {
		case "the", "a", "an", "its", "their", "his", "her", "both":
			i++
		default:
			return -1
		}
	}
	for n := 0; i < len(z) && n < 4 && x.entityOf[i] == 0; n++ {
		t := &z[i]
		if i > 0 && x.word(i-1) == "to" && t.lower() && !t.is(noun|modifier) { // to scrutinize Y
			return -1
		}
		if !t.isWord() || t.lower() && t.is(function|finite|verbIng|adverb) && !t.is(noun) || !t.lower() && !t.is(role|modifier|honorific|demonym) {
			return -1
		}
		i++
	}
	if e := x.entityAt(i); e >= 0 && x.endsArgument(x.entities[e].last) {
		return e
	}
	return -1
}

// endsArgument reports whether an entity that ends before token i is an object by
// itself, and not the beginning of a longer one or of a clause.
func (x *phrases) endsArgument(i int) bool {
	z := x.tokens
	if i >= len(z) {
		return true
	}
	t := &z[i]
	switch {
	case t.kind == markToken:
		return strings.IndexByte(",.;:)(\"'?!*", t.mark) >= 0 || t.mark == markDash && t.gap != glued
	case t.kind == numberToken && x.entityOf[i] == 0: // beat Y 2-1
		return i+1 < len(z) && !isYear(x.word(i)) && (z[i+1].kind == markToken && !z[i+1].isMark('%') || z[i+1].lower() && z[i+1].is(preposition|conjunction))
	case t.kind != wordToken:
		return false
	case x.entityOf[i] != 0:
		return x.inDate(i)
	case t.is(weekday):
		return true
	case !t.lower(), t.is(formOfBe | formOfHave | formOfDo | modal | verbPast | negation):
		return false
	case t.is(adverb) && i+1 < len(z) && z[i+1].lower() && z[i+1].is(finite|formOfBe|formOfHave|modal|negation) && !z[i+1].is(noun):
		return false
	case x.word(i) == "to" && i+1 < len(z) && z[i+1].is(verbBase):
		return false
	case x.word(i) == "a", x.word(i) == "an", x.word(i) == "the", x.word(i) == "his", x.word(i) == "its", x.word(i) == "their": // gave Y a prize
		return false
	case t.is(function|adverb|weekday) || strings.HasSuffix(x.word(i), "ly"):
		return true
	}
	return t.is(verbIng) && !t.is(noun)
}

// conjuncts calls do for the entity and for those bound to it by commas and
// "and", and returns the token after the last. "A beat B and C beat D" binds
// nothing.
func (x *phrases) conjuncts(e int, do func(e int)) int {
	do(e)
	i := x.entities[e].last
	var more []int
	for len(more) < maxConjuncts {
		j := i
		if j < len(x.tokens) && x.tokens[j].isMark(',') {
			j++
		}
		last := j < len(x.tokens) && (x.word(j) == "and" || x.word(j) == "or")
		if last {
			j++
		}
		if j == i || j >= len(x.tokens) {
			break
		}
		next := x.argument(j)
		if next < 0 || x.entities[next].typ == date != (x.entities[e].typ == date) {
			break
		}
		more = append(more, next)
		i = x.entities[next].last
		if last {
			for _, m := range more {
				do(m)
			}
			return i
		}
	}
	return x.entities[e].last
}

// maxConjuncts bounds lists.
const maxConjuncts = 12

// partialDate reports whether the preposition at token i with a date says only one
// end of a time: "from 1990 to 2006".
func (x *phrases) partialDate(i, tail int) bool {
	switch x.word(i) {
	case "to", "between", "from":
		return x.entities[tail].typ == date
	}
	return false
}

// endsApposition reports whether an apposition can end before token i.
func (x *sentence) endsApposition(i int) bool {
	if i >= len(x.tokens) {
		return true
	}
	t := &x.tokens[i]
	return t.kind == markToken && (t.mark == ',' || t.mark == '.' || t.mark == ';' || t.mark == ')' || t.mark == markDash && t.gap != glued)
}

// skipBrackets returns the token after "( … )" at i.
func (x *sentence) skipBrackets(i int) int {
	if i < len(x.tokens) && x.tokens[i].isMark('(') {
		for j := i + 1; j < len(x.tokens) && j < i+maxAside; j++ {
			if x.tokens[j].isMark(')') {
				return j + 1
			}
		}
	}
	return i
}

// maxAside bounds, in tokens, what stands between a subject and its verb.
const maxAside = 16

// inList reports whether entity e is an item of a list: another goes before.
func (x *phrases) inList(e int) bool {
	i := x.entities[e].first - 1
	for i > 0 && x.tokens[i].is(determiner|conjunction) {
		i--
	}
	return i > 0 && x.tokens[i].isMark(',') && x.entityOf[i-1] != 0 && !x.inDate(i-1)
}

// maxRelationWords bounds the words between a verb and its object.
const maxRelationWords = 9

// isModifier reports whether entity e stands before a noun that it modifies.
func (x *phrases) isModifier(e int) bool {
	i := x.entities[e].last
	return x.entities[e].typ != date && i < len(x.tokens) && plainWord(&x.tokens[i])
}

// wording returns the tokens from i up to j in lower case, without articles.
func (x *phrases) wording(i, j int) string {
	x.phrase = x.phrase[:0]
	for ; i < j; i++ {
		w := x.word(i)
		if w == "the" || w == "a" || w == "an" || x.tokens[i].kind == markToken && x.tokens[i].mark != markPossessive {
			continue
		}
		if len(x.phrase) > 0 && !x.tokens[i].isMark(markPossessive) {
			x.phrase = append(x.phrase, ' ')
		}
		x.phrase = appendLower(x.phrase, w)
	}
	return string(x.phrase)
}
