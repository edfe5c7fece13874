// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// dates finds dates of a month and a day or year, of figures, and of the
// Chinese and Japanese calendar: June 6, 1944 · 6 June · May 2012 · 2012-07-24 ·
// 1939–1945 · the 1970s · 2012年7月24日.
func (x *mentions) dates() {
	z := x.tokens
	for i := 0; i < len(z); i++ {
		if x.entityOf[i] != 0 {
			continue
		}
		switch t := &z[i]; {
		case t.kind == wordToken && t.is(month) && t.has(upperFirst):
			first, last := x.aroundMonth(i)
			if last-first > 1 {
				x.claim(first, last, date)
				i = last - 1
			}
		case t.kind == numberToken:
			if j := x.cjkDate(i); j > i {
				x.claim(i, j, date)
				i = j - 1
			} else if isDateFigure(x.word(i)) && !x.afterPage(i) {
				x.claim(i, i+1, date)
			}
		}
	}
}

// afterPage reports whether the number at i counts pages: p. 1187-1193.
func (x *sentence) afterPage(i int) bool {
	if i == 0 {
		return false
	}
	w := x.word(i - 1)
	return w == "." || w == "p" || w == "pp" || w == "pages"
}

// aroundMonth returns the date around the month at i.
func (x *mentions) aroundMonth(i int) (first, last int) {
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
	} else if last < len(z) && i > 0 && isDay(x.text, &z[i-1]) && z[last].kind == numberToken && len(x.word(last)) == 2 && x.word(last) > "31" && allDigits(x.word(last)) {
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

// afterYear returns the token after the year at i, a comma before it or not; i if
// there is none.
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

// isDateFigure reports whether s is 2012-07-24, 1939–1945, 1939-45 or 1970s.
func isDateFigure(s string) bool {
	if len(s) < 5 || !isYear(s[:4]) {
		return false
	}
	rest := s[4:]
	if rest == "s" {
		return true
	}
	cut := strings.TrimPrefix(strings.TrimPrefix(rest, "–"), "-")
	switch {
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
		if j+1 >= len(x.tokens) || x.tokens[j].kind != numberToken || x.word(j+1) != sign ||
			k == 0 && !isYear(x.word(j)) {
			break
		}
		j += 2
	}
	return j
}

// years finds years that stand alone, after words that go before years.
func (x *mentions) years() {
	z := x.tokens
	for i := 1; i < len(z); i++ {
		t := &z[i]
		if x.entityOf[i] != 0 || t.kind != numberToken || !isYear(x.word(i)) {
			continue
		}
		if i+1 < len(z) && (z[i+1].isWord() && z[i+1].is(unit|scale) || z[i+1].isMark('%')) {
			continue
		}
		switch x.word(i - 1) {
		case "in", "In", "since", "Since", "until", "Until", "by", "By", "from", "From", "of", "during", "During", "between", "before", "after", "After", "circa",
			"born", "died", "early", "late", "mid", "around", "till", "through", "summer", "winter", "spring", "autumn", "fall":
			x.claim(i, i+1, date)
		case "and", "to":
			if i > 1 && z[i-2].kind == numberToken && x.entityOf[i-2] != 0 {
				x.claim(i, i+1, date)
			}
		case "(":
			if i+1 < len(z) && z[i+1].isMark(')') && x.word(i) >= "1500" {
				x.claim(i, i+1, date)
			}
		}
	}
}

// quantities finds money, percentages and measures: $1.2 billion · 54% · 40
// percent · 120 km/h · 3.5 million people.
func (x *mentions) quantities() {
	z := x.tokens
	for i := 0; i < len(z); i++ {
		if x.entityOf[i] != 0 || z[i].kind != numberToken || z[i].has(suffixed) && !money(z, i) {
			continue
		}
		first, last := i, i+1
		measured := false
		if money(z, i) {
			first, measured = i-1, true
			if first > 0 && z[first].gap == glued && z[first-1].isWord() && z[first-1].has(upperOnly|upperFirst) && x.entityOf[first-1] == 0 {
				first-- // US$
			}
		}
		if last < len(z) && z[last].isWord() && z[last].lower() && z[last].is(scale) {
			last++
		}
		switch {
		case last < len(z) && z[last].isMark('%') && z[last].gap == glued:
			last, measured = last+1, true
		case last < len(z) && z[last].isWord() && z[last].lower() && z[last].is(unit) && !money(z, i):
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
