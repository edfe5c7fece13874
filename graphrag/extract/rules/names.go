// SPDX-License-Identifier: Apache-2.0

package rules

import "slices"

// entity is a mention in the sentence that is being read: tokens first to
// last-1, bytes start to end-1 of the chunk.
type entity struct {
	first, last int32
	start, end  int32
	typ         typ
	quoted      bool
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

// runs finds the names that show by their capitals, in English or in another
// language, about whose words nothing is known.
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

func (x *reader) word(i int) string { return x.text[x.tokens[i].start:x.tokens[i].end] }

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
