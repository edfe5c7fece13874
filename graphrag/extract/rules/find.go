// SPDX-License-Identifier: Apache-2.0

package rules

import "github.com/wildgraph/wildgraph/graphrag/text"

// find fills in the entities of the sentence, in the order of the text.
func (x *finder) find(k layout) {
	x.entities, x.titles = x.entities[:0], x.titles[:0]
	x.entityOf = append(x.entityOf[:0], make([]int32, len(x.tokens))...)
	x.gazetteer.find(&x.mentions)
	if k != fragment {
		x.dates()
	}
	switch k {
	case prose, query:
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
			x.entityOf[t] = int32(i + 1)
		}
	}
}

// confirmed finds the names that prose has elsewhere, in text whose capitals
// mean nothing: the longest first.
func (x *finder) confirmed() {
	for i := 0; i < len(x.tokens); i++ {
		if x.entityOf[i] != 0 || !x.nameStart(i) {
			continue
		}
		end := i + 1
		for end < len(x.tokens) && end-i < maxNameTokens && x.entityOf[end] == 0 && !x.lineBreak(end) &&
			(x.tokens[end].isWord() || x.tokens[end].isMark('&')) {
			end++
		}
		for j := end; j > i; j-- {
			if j-i > 1 && !x.nameStart(j-1) {
				continue
			}
			n := x.lexicon.names[x.key(i, j)]
			if n == 0 || x.partOfLonger(i, j) || j-i == 1 && (n < 3 || !x.lexicon.proper(x.tokens[i].word) || !x.isName(i, unknown)) {
				continue
			}
			if x.claim(i, j, x.typeOf(i, j)) {
				i = j - 1
			}
			break
		}
	}
}

// partOfLonger reports whether a word that is no common one stands beside the tokens from
// i up to j: then they are likely a part of another name.
func (x *finder) partOfLonger(i, j int) bool {
	z := x.tokens
	beside := func(k int) bool {
		if z[k].has(initials) && z[k].has(dotted) {
			return true
		}
		return x.entityOf[k] == 0 && x.nameStart(k) && !z[k].functional() && !x.lexicon.common(z[k].word) && !z[k].is(chrome|noname|role|modifier|anyVerb)
	}
	return i > 0 && !x.lineBreak(i) && beside(i-1) || j < len(z) && !x.lineBreak(j) && beside(j)
}

// lookUp claims the known names, the longest first.
func (x *finder) lookUp(known func(string) bool) {
	for i := 0; i < len(x.tokens); i++ {
		for j := min(i+maxNameTokens, len(x.tokens)); j > i; j-- {
			first, last := &x.tokens[i], &x.tokens[j-1]
			if first.kind == markToken || last.kind == markToken || j-i == 1 && first.is(function|adverb) && !first.has(upperOnly) {
				continue
			}
			if last.end-first.start <= maxNameBytes && known(text.FoldName(x.text[first.start:last.end])) {
				if x.claim(i, j, x.typeOf(i, j)) {
					i = j - 1
				}
				break
			}
		}
	}
}

// free reports whether no token of e is part of an entity.
func (x *mentions) free(e entity) bool {
	for i := e.first; i < e.last; i++ {
		if x.entityOf[i] != 0 {
			return false
		}
	}
	return true
}
