// SPDX-License-Identifier: Apache-2.0

package lexical

import "strings"

// date is a day, a month, a year, or parts of these; missing parts are 0. A decade is a year with a span.
type date struct {
	year       int32
	month, day int8
	span       int16 // years covered from year on: 0, 10 or 100
}

// within reports whether e is at least as precise as d: 17 September 2012 is within September 2012, and 1995
// within the 1990s, but not vice versa.
func (d date) within(e date) bool {
	switch {
	case d.month != 0 && d.month != e.month, d.day != 0 && d.day != e.day:
		return false
	case d.year == 0:
		return true
	case d.span == 0:
		return e.span == 0 && d.year == e.year
	}
	return e.year >= d.year && e.year+int32(max(e.span, 1)) <= d.year+int32(d.span)
}

// bare reports whether d is only a number that may be a year, such as 1200.
func (d date) bare() bool { return d.year != 0 && d.month == 0 && d.day == 0 && d.span == 0 }

// The range of numbers of four digits that are read as years.
const (
	firstYear = 1000
	lastYear  = 2099
)

func year(word string) (int32, bool) {
	n, ok := wholeIn(word, 4, firstYear, lastYear)
	return int32(n), ok
}

// dayOf reads 1..31, with or without an ordinal ending.
func dayOf(word string) (int8, bool) {
	digits, rest := endings(word)
	n, ok := wholeIn(digits, 2, 1, 31)
	return int8(n), ok && (rest == "" || isOrdinalEnding(rest))
}

// dates finds the dates of a statement and marks their tokens used.
func (s *scan) dates() (out []date) {
	for i := 0; i < len(s.tokens); i++ {
		t := s.tokens[i]
		if t.used {
			continue
		}
		n, end := len(out), i
		if m, ok := monthsByName[t.word]; ok && t.upper {
			out, end = s.aroundMonth(out, i, m)
		} else if t.digits {
			out, end = s.numericDate(out, i)
		}
		if len(out) == n {
			continue
		}
		i = s.use(i, end)
	}
	return out
}

// aroundMonth reads day and year around the name of a month at i.
func (s *scan) aroundMonth(out []date, i int, month int8) ([]date, int) {
	d := date{month: month}
	end := i
	k := i - 1
	if s.word(k) == "of" {
		k--
	}
	if day, ok := dayOf(s.word(k)); ok && k >= 0 && !s.tokens[k].used && (k < i-1 || s.near(i, "")) {
		d.day = day
		s.tokens[k].used = true
	} else if day, ok := dayOf(s.word(i + 1)); ok && s.near(i+1, ".") {
		d.day, end = day, i+1
	}
	if y, ok := year(s.word(end + 1)); ok && s.near(end+1, ",.") {
		d.year, end = y, end+1
	}
	if d.day == 0 && d.year == 0 && i == 0 {
		return out, i // "May" and "March" begin sentences as verbs do
	}
	return append(out, d), end
}

// numericDate reads dates that begin with a digit: 2012-09-17, 1939–45, 1990s, and bare years.
func (s *scan) numericDate(out []date, i int) ([]date, int) {
	w := s.word(i)
	if y, ok := year(w); ok {
		if m, ok := wholeIn(s.word(i+1), 2, 1, 12); ok && s.between(i+1, "-/.") {
			if d, ok := dayOf(s.word(i + 2)); ok && s.between(i+2, "-/.") {
				return append(out, date{year: y, month: int8(m), day: d}), i + 2
			}
		}
		if end, ok := s.rangeEnd(i+1, y); ok {
			return append(out, date{year: y}, date{year: end}), i + 1
		}
		if s.measured(i) {
			return out, i
		}
		return append(out, date{year: y}), i
	}
	digits, rest := endings(w)
	n, ok := wholeNumber(digits)
	switch {
	case !ok || rest != "s":
	case len(digits) == 4 && n%100 == 0 && n < 2000: // the 1900s are a century
		out = append(out, date{year: int32(n), span: 100})
	case len(digits) == 4:
		out = append(out, date{year: int32(n), span: 10})
	case len(digits) == 2 && n >= 20 && n%10 == 0:
		out = append(out, date{year: int32(1900 + n), span: 10})
	}
	return out, i
}

// between reports whether exactly one of the marks precedes token i.
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
	n, ok := wholeNumber(s.word(i))
	y := first/100*100 + int32(n)
	return y, ok && len(s.word(i)) == 2 && y > first
}

// measured reports whether the number at i is a quantity and no year: it has a currency before it, or a unit,
// a magnitude or decimals after it.
func (s *scan) measured(i int) bool {
	next := s.word(i + 1)
	_, isUnit := units[next]
	_, isMagnitude := magnitudes[next]
	gap := s.gap(i + 1)
	return currencyBefore(s.gap(i)) != noDimension || (isUnit || isMagnitude) && s.near(i+1, "-") ||
		gap == "." && i+1 < len(s.tokens) && s.tokens[i+1].digits || gap == "," && groupOf3(next) || startsWithPercent(gap)
}
