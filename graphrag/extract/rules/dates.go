// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"
)

// dates finds dates of a month and a day or year, of figures, and of the Chinese and Japanese calendar:
// June 6, 1944 · 6 June · May 2012 · 2012-07-24 · 1939–1945 · the 1970s · 2012年7月24日.
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
				last = first // a month alone
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

// aroundMonth returns the date around the month at i.
func (x *finder) aroundMonth(i int) (first, last int) {
	z := x.tokens
	first, last = i, i+1
	if last < len(z) && z[last].isMark('.') && z[last].gap == glued {
		last++ // Feb. 26
	}
	if last < len(z) && z[last].gap != glued && isDay(x.text, &z[last]) {
		return first, x.afterYear(last + 1)
	}
	if year := x.afterYear(last); year > last {
		last = year
	} else if i > 0 && isDay(x.text, &z[i-1]) && last < len(z) && z[last].kind == numberToken && len(x.word(last)) == 2 && x.word(last) > "31" {
		last++ // 23 Jan 43
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

// afterYear returns the token after the year at i, a comma before it or not; i if there is none.
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

// isDay reports whether a token is a day of a month: 24, 24th.
func isDay(s string, t *token) bool {
	digits := strings.TrimRight(s[t.start:t.end], "thsndr")
	if t.kind != numberToken || len(digits) > 2 || !allDigits(digits) {
		return false
	}
	return len(digits) == 1 && digits != "0" || len(digits) == 2 && "01" <= digits && digits <= "31"
}

// isDateFigure reports whether s is 2012-07-24, 1939–1945, 1939-45 or 1970s.
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

// cjkDate returns the end of 2012年7月24日 at i, i if it is none.
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

// beforeYear are words that go before years.
var beforeYear = strings.Fields("in since until by from of during between before after circa born died early late mid around till through summer winter spring autumn fall")

// years finds years that stand alone, after words that go before years.
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

// quantities finds money, percentages and measures: $1.2 billion · 54% · 40
// percent · 120 km/h · 3.5 million people.
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
				first-- // US$
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

// maxTitleTokens bounds titles.
const maxTitleTokens = 14

// quotedTitles finds titles between quotation or emphasis marks: two words or
// more, all but the small ones with a capital.
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

// entitled reports whether the tokens after the mark at i, up to last, are a title and no slogan: three words or
// more, or a word such as "film" or "called" before them, or the same name elsewhere; not all in capitals.
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
