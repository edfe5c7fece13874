// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// quotedTitles finds titles between quotation or emphasis marks: two words or
// more, all but the small ones with a capital.
func (x *finder) quotedTitles() {
	z := x.tokens
	for i := 0; i+2 < len(z); i++ {
		q := &z[i]
		if q.kind != markToken || !(q.isMark(markQuote) || q.isMark(markApostrophe) || q.isMark(markBullet)) || z[i+1].gap != glued || z[i+1].kind != wordToken ||
			q.isMark(markBullet) && q.end-q.start > 1 ||
			q.gap == glued && i > 0 && z[i-1].kind == wordToken {
			continue
		}
		j := i + 1
		for j < len(z) && j-i <= maxTitleTokens && !z[j].isMark(q.mark) {
			j++
		}
		if j >= len(z) || !z[j].isMark(q.mark) || !x.titleCase(i+1, j) {
			continue
		}
		first, last := i+1, j
		for last > first && z[last-1].kind == markToken && !z[last-1].isMark(')') {
			last--
		}
		if last-first > 1 && x.entitled(i, first, last) {
			x.claim(first, last, work)
		}
		i = j
	}
}

// entitled reports whether what stands between marks is a title and no slogan or
// headline: three words or more, or a word such as "film" or "called" before, or
// the same name elsewhere; not all in capitals.
func (x *finder) entitled(i, first, last int) bool {
	allCaps, words := true, 0
	for k := first; k < last; k++ {
		t := &x.tokens[k]
		if t.isWord() {
			words++
			allCaps = allCaps && t.has(upperOnly)
		}
	}
	if allCaps {
		return false
	}
	if words > 2 || x.learning || x.lexicon.names[x.key(first, last)] > 1 {
		return true
	}
	for k := max(0, i-4); k < i; k++ {
		if t := &x.tokens[k]; t.lower() && (t.is(workHead) || x.word(k) == "called" || x.word(k) == "titled" || x.word(k) == "entitled") {
			return true
		}
	}
	return false
}

// maxTitleTokens bounds titles.
const maxTitleTokens = 14

// titleCase reports whether the words from i up to j are written like a title.
func (x *finder) titleCase(i, j int) bool {
	capitals, others := 0, 0
	for k := i; k < j; k++ {
		t := &x.tokens[k]
		if x.entityOf[k] != 0 {
			return false
		}
		switch {
		case t.kind == numberToken || t.kind == markToken && strings.IndexByte(",:'-s!?.&", t.mark) >= 0:
		case t.kind != wordToken:
			return false
		case t.has(upperFirst | innerUpper):
			capitals++
		case !t.is(function|connector|adverb) || k == i:
			return false
		default:
			others++
		}
	}
	last := j - 1
	for last > i && x.tokens[last].kind == markToken {
		last--
	}
	return capitals >= 2 && others <= capitals+1 && !x.tokens[last].lower()
}
