// SPDX-License-Identifier: Apache-2.0

package lexical

import "strings"

// date is a day, a month, a year, or parts of these; 0 is not said. A decade
// or a century is a year with a span.
type date struct {
	year       int32
	month, day int8
	span       int16 // years covered from year on: 0, 10 or 100
	bound      int8  // -1 before or until, +1 after or since
	given      bool  // the question says it too
}

// bare reports whether d is nothing but a number that may be a year.
func (d date) bare() bool { return d.month == 0 && d.day == 0 && d.span == 0 }

// within reports whether e says at least what d does: 17 September 2012 says
// September 2012, and 1995 the 1990s, but not the other way round.
func (d date) within(e date) bool {
	switch {
	case d.bound*e.bound < 0,
		d.month != 0 && d.month != e.month,
		d.day != 0 && d.day != e.day:
		return false
	case d.year == 0:
		return true
	case d.span == 0:
		return e.span == 0 && d.year == e.year
	}
	return e.year >= d.year && e.year+int32(max(e.span, 1)) <= d.year+int32(d.span)
}

// agrees reports whether both can be the same date: what both say is equal.
func (d date) agrees(e date) bool {
	switch {
	case d.month != 0 && e.month != 0 && d.month != e.month, d.day != 0 && e.day != 0 && d.day != e.day:
		return false
	case d.year == 0 || e.year == 0:
		return true
	}
	return d.year < e.year+int32(max(e.span, 1)) && e.year < d.year+int32(max(d.span, 1))
}

// The years a number of four digits can be.
const (
	firstYear = 1000
	lastYear  = 2099
)

func year(word string) (int32, bool) {
	n, ok := whole(word)
	return int32(n), ok && len(word) == 4 && n >= firstYear && n <= lastYear
}

// dayOf reads 1..31, with or without an ordinal ending.
func dayOf(word string) (int8, bool) {
	digits, rest := endings(word)
	n, ok := whole(digits)
	return int8(n), ok && len(digits) <= 2 && n >= 1 && n <= 31 && (rest == "" || isOrdinalEnding(rest))
}

func monthNumber(word string) (int8, bool) {
	n, ok := whole(word)
	return int8(n), ok && len(word) <= 2 && n >= 1 && n <= 12
}

// dates finds the dates of a statement and marks their tokens used.
func (s *scan) dates(out []date) []date {
	from := len(out)
	last := -10 // where the last date ended
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if t.used {
			continue
		}
		n := len(out)
		end := i
		if m, ok := monthsByName[t.word]; ok && t.upper {
			out, end = s.aroundMonth(out, i, m)
		} else if t.digits && !s.ofName(i) {
			out, end = s.numericDate(out, i)
		} else if century, ok := ordinals[t.word]; ok && s.word(i+1) == "century" {
			out, end = append(out, s.century(int32(century), i+1)), i+1
		}
		if len(out) == n {
			continue
		}
		bound := s.dateBound(i)
		for k := n; k < len(out); k++ {
			out[k].bound = bound
		}
		// "August 30 to September 2, 1939": the year belongs to both.
		if y := out[len(out)-1].year; y != 0 && n > from && out[n-1].year == 0 && i-last <= 3 {
			out[n-1].year = y
		}
		for k := i; k <= end; k++ {
			s.tokens[k].used = true
		}
		i, last = end, end
	}
	return out
}

// dateBound looks for before, until, since … left of a date.
func (s *scan) dateBound(i int) int8 {
	for k := i - 1; k >= max(0, i-3); k-- {
		switch w := s.word(k); {
		case s.tokens[k].used, w == "of", w == "the", w == "early", w == "late", w == "mid":
		case datesBefore[w], w == "to" && s.word(k-1) == "prior":
			return -1
		case datesAfter[w]:
			return 1
		default:
			return 0
		}
	}
	return 0
}

// aroundMonth reads day and year around the name of a month at i.
func (s *scan) aroundMonth(out []date, i int, month int8) ([]date, int) {
	d := date{month: month}
	end := i
	var others []int8 // further days of a range or list
	k := i - 1
	if s.word(k) == "of" {
		k--
	}
	day, ok := dayOf(s.word(k))
	if n := ordinals[s.word(k)]; !ok && k < i-1 && n > 0 { // the first of February
		day, ok = int8(n), true
	}
	if ok && k >= 0 && !s.tokens[k].used && (k < i-1 || s.near(i, "")) {
		d.day = day
		s.tokens[k].used = true
		others = s.dayBefore(others, k)
	} else if day, ok := dayOf(s.word(i + 1)); ok && s.near(i+1, ".") {
		d.day, end = day, i+1
		if more, ok := dayOf(s.word(end + 1)); ok && s.joined(end+1) {
			others, end = append(others, more), end+1
		}
	}
	if y, ok := year(s.word(end + 1)); ok && s.near(end+1, ",.") {
		d.year, end = y, end+1
	}
	if d.day == 0 && d.year == 0 && i == 0 {
		return out, i // "May" and "March" begin sentences as verbs do
	}
	for _, o := range others {
		out = append(out, date{year: d.year, month: month, day: o})
	}
	return append(out, d), end
}

// dayBefore reads the first day of "17–19 September" or "17 and 19".
func (s *scan) dayBefore(others []int8, k int) []int8 {
	at := k - 1
	if w := s.word(at); w == "and" || w == "to" {
		at--
	} else if !s.joined(k) {
		return others
	}
	if day, ok := dayOf(s.word(at)); ok && !s.tokens[at].used {
		s.tokens[at].used = true
		others = append(others, day)
	}
	return others
}

// numericDate reads dates that begin with a digit: 2012-09-17, 17/9/2012,
// 1939–45, 1990s, 19th century, 44 BC, and bare years.
func (s *scan) numericDate(out []date, i int) ([]date, int) {
	w := s.word(i)
	if y, ok := year(w); ok {
		if m, ok := monthNumber(s.word(i + 1)); ok && s.between(i+1, "-/.") {
			if d, ok := dayOf(s.word(i + 2)); ok && s.between(i+2, "-/.") {
				return append(out, date{year: y, month: m, day: d}), i + 2
			}
		}
		if end, ok := s.rangeEnd(i+1, y); ok {
			return append(out, date{year: y}, date{year: end}), i + 1
		}
		if s.measured(i) {
			return out, i
		}
		if era := s.word(i + 1); era == "bc" || era == "bce" {
			return append(out, date{year: -y}), i + 1
		}
		return append(out, date{year: y}), i
	}
	digits, rest := endings(w)
	n, ok := whole(digits)
	if !ok {
		return out, i
	}
	switch next := s.word(i + 1); {
	case rest == "s" && len(digits) == 4 && n%100 == 0 && n < 2000:
		return append(out, date{year: int32(n), span: 100}), i // the 1900s are a century
	case rest == "s" && len(digits) == 4:
		return append(out, date{year: int32(n), span: 10}), i
	case rest == "s" && len(digits) == 2 && n >= 20 && n%10 == 0:
		return append(out, date{year: int32(1900 + n), span: 10}), i
	case isOrdinalEnding(rest) && next == "century":
		return append(out, s.century(int32(n), i+1)), i + 1
	case rest == "" && (next == "bc" || next == "bce") && len(digits) <= 4:
		return append(out, date{year: int32(-n)}), i + 1
	case rest == "" && s.between(i+1, "/") && s.between(i+2, "/"):
		return s.slashed(out, i)
	}
	return out, i
}

// slashed reads 17/9/2012 and 9/17/2012; where both orders are possible, the
// year alone is certain.
func (s *scan) slashed(out []date, i int) ([]date, int) {
	y, ok := year(s.word(i + 2))
	a, okA := dayOf(s.word(i))
	b, okB := dayOf(s.word(i + 1))
	switch {
	case !ok || !okA || !okB:
		return out, i
	case a > 12 && b <= 12:
		return append(out, date{year: y, month: b, day: a}), i + 2
	case b > 12 && a <= 12:
		return append(out, date{year: y, month: a, day: b}), i + 2
	}
	return append(out, date{year: y}), i + 2
}

// between reports whether exactly one of the marks stands before token i.
func (s *scan) between(i int, marks string) bool {
	return i > 0 && i < len(s.tokens) && len(s.gap(i)) == 1 && strings.Contains(marks, s.gap(i))
}

// rangeEnd reads the second year of 1939–1945 and 1939–45.
func (s *scan) rangeEnd(i int, first int32) (int32, bool) {
	if i >= len(s.tokens) || !s.joined(i) {
		return 0, false
	}
	if y, ok := year(s.word(i)); ok {
		return y, true
	}
	n, ok := whole(s.word(i))
	if y := first/100*100 + int32(n); ok && len(s.word(i)) == 2 && y > first {
		return y, true
	}
	return 0, false
}

// century is the span of the n-th century, as people count: the 20th is the 1900s.
// Next is the token "century".
func (s *scan) century(n int32, next int) date {
	if era := s.word(next + 1); era == "bc" || era == "bce" {
		return date{year: -100 * n, span: 100}
	}
	return date{year: 100 * (n - 1), span: 100}
}

// measured reports whether the number at i counts something, so that it is no
// year: a currency before it, a unit, a magnitude or decimals behind it.
func (s *scan) measured(i int) bool {
	next := s.word(i + 1)
	_, isUnit := units[next]
	_, isMagnitude := magnitudes[next]
	gap := s.gap(i + 1)
	return currencyBefore(s.gap(i)) != noDimension || (isUnit || isMagnitude) && s.near(i+1, "-") ||
		gap == "." && i+1 < len(s.tokens) && s.tokens[i+1].digits || gap == "," && groupOf3(next) || startsWithPercent(gap)
}
