// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// amount is a number with its unit, or a date.
type amount struct {
	date   date    // set if dim is dated
	value  float64 // number as written
	base   float64 // number in the base unit of the dimension
	factor float64
	dim    dimension
	ranged bool    // one end of a range such as "between 2 and 12"
	side   int8    // +1 in "more than 12", -1 in "fewer than 12"
	given  bool    // the question contains the amount too
	other  float64 // second possible value: 4.500 may be 4500; 0 if there is none
	digits string  // digits of a number that may be a version, such as 2.10
	named  bool    // the number is a version or follows a name
}

const (
	// convertTolerance is the relative error allowed between numbers in different units of one dimension,
	// which are rounded: 5 km is 3.1 miles, but not 3.
	convertTolerance = 0.02
	// sameTolerance is the relative error allowed between equal numbers: decimals are rounded in binary.
	sameTolerance = 1e-9
)

// is reports whether b is equivalent to a.
func (a amount) is(b amount) bool {
	switch {
	case a.dim == dated && b.dim == dated:
		return a.date.within(b.date)
	case a.dim == dated:
		return a.date.bare() && b.dim == noDimension && b.value == float64(a.date.year)
	case b.dim == dated:
		return b.date.bare() && a.dim != ordinal && a.value == float64(b.date.year)
	case a.ranged != b.ranged || a.side*b.side < 0:
		return false
	case (a.named || b.named) && a.digits != "" && b.digits != "":
		return strings.TrimSuffix(a.digits, ".0") == strings.TrimSuffix(b.digits, ".0")
	case a.dim == b.dim && a.factor == b.factor:
		return within(a.value, b.value, sameTolerance) || a.other != 0 && within(a.other, b.value, sameTolerance) || b.other != 0 && within(a.value, b.other, sameTolerance)
	case a.dim == clock && b.dim == noDimension, b.dim == clock && a.dim == noDimension: // the hour alone is a time
		hour, minutes := min(a.value, b.value), max(a.value, b.value)
		return 60*hour == minutes || 60*(hour+12) == minutes
	case a.dim == percent && b.dim == noDimension && b.value < 1, b.dim == percent && a.dim == noDimension && a.value < 1: // 0.5 = 50 %
		return within(a.value, b.value, sameTolerance) || within(max(a.base, b.base), 100*min(a.base, b.base), sameTolerance)
	case a.dim == ordinal || b.dim == ordinal:
		return false
	case a.dim == noDimension || b.dim == noDimension: // one side may omit the unit
		return within(a.value, b.value, sameTolerance)
	}
	return a.dim == b.dim && within(a.base, b.base, convertTolerance)
}

func within(a, b, tolerance float64) bool {
	return math.Abs(a-b) <= tolerance*max(math.Abs(a), math.Abs(b))
}

// in reports whether g has an equivalent amount.
func (a amount) in(g *features) bool { return slices.ContainsFunc(g.amounts, a.is) }

func groupOf3(word string) bool {
	digits, _ := endings(word)
	return len(digits) == 3
}

func startsWithPercent(gap string) bool {
	return strings.HasPrefix(strings.TrimLeft(gap, " \u00a0\u202f"), "%")
}

// currencyBefore returns the currency whose sign is the last character of a gap, blanks aside.
func currencyBefore(gap string) dimension {
	sign, _ := utf8.DecodeLastRuneInString(strings.TrimRight(gap, " "))
	return currencies[string(sign)]
}

// amounts finds the numbers of a statement other than dates, and marks their tokens used.
func (s *scan) amounts() (out []amount) {
	first, last := 0, 0 // first and last token of the previous amount
	for i := 0; i < len(s.tokens); i++ {
		if s.tokens[i].used {
			continue
		}
		a, end, ok := s.number(i)
		if !ok {
			continue
		}
		if a.dim == noDimension {
			a.factor = 1
		}
		if a.dim == dollars && s.gap(i) == "$" && dollarPrefixes[s.word(i-1)] { // as in US$100
			s.tokens[i-1].used = true
		}
		a.side = s.side(i) // "between 2 and 12", "2 to 12" and "2–12" are ranges
		if len(out) > 0 && (i == last+1 && s.joined(i) || i == last+2 && (s.word(last+1) == "to" || s.word(last+1) == "and" && s.word(first-1) == "between")) {
			out[len(out)-1].ranged, a.ranged = true, true
		}
		first, last = i, end
		out = append(out, a)
		i = s.use(i, end)
	}
	return out
}

// side reads a bound before token i: +1 for "more than", -1 for "fewer than", 0 for none.
func (s *scan) side(i int) int8 {
	k := i - 1
	if w := s.word(k); w == "than" || w == "to" {
		k--
	}
	bound := boundsOf[s.word(k)]
	if w := s.word(k - 1); w == "no" || w == "not" {
		bound = -bound
	}
	return bound
}

// fraction reads a fraction at token i, such as "half of", "a third of" or "two-thirds", as a percentage.
func (s *scan) fraction(i int) (a amount, end int, ok bool) {
	above, start := 1.0, i
	if n, isNumber := numberWordsOf[s.word(i)]; isNumber || s.word(i) == "a" {
		above, i = max(n, 1), i+1
	} else if s.word(i) != "half" {
		return a, i, false
	}
	below := fractionsOf[s.word(i)]
	if next, before := s.word(i+1), s.word(start-1); below == 0 || next != "of" && next != "the" && before != "by" && !(next == "" && above > 1) {
		return a, i, false
	}
	return amount{value: above / below, base: 100 * above / below, factor: 100, dim: percent}, i, true
}

// negative reports whether token i has a minus sign.
func (s *scan) negative(i int) bool {
	g := s.gap(i)
	before := strings.TrimRight(g, "-−–")
	minus := before != g
	return s.word(i-1) == "minus" || minus && (i == 0 || strings.HasSuffix(before, " ") || strings.HasSuffix(before, "("))
}

// number reads the amount that begins at token i and returns its last token.
func (s *scan) number(i int) (a amount, end int, ok bool) {
	t := s.tokens[i]
	rest, next := "", s.word(i+1)
	measure := units[s.word(i+2)].factor != 0 || magnitudes[s.word(i+2)] != 0
	half := t.word == "half" && (next == "a" || next == "an") && measure
	if a, end, ok = s.clock(i); ok {
		return a, end, true
	}
	if a, end, ok = s.fraction(i); ok && !half {
		return a, end, true
	}
	a = amount{factor: 1}
	if half {
		a.value, end, ok = .5, i+1, true
	} else if t.digits {
		if rest, end, ok = s.digits(i, &a); s.negative(i) {
			a.value, a.other = -a.value, 0
		}
	} else {
		a.value, end, ok = s.spelled(i)
		if n, isOrdinal := ordinals[t.word]; !ok && isOrdinal {
			return amount{value: n, base: n, factor: 1, dim: ordinal}, i, true
		}
	}
	if !ok {
		return a, i, false
	}
	a.dim = currencyBefore(s.gap(i))
	magnitude := 1.0
	switch u, isUnit := units[rest]; {
	case rest == "":
	case isOrdinalEnding(rest):
		return amount{value: a.value, base: a.value, factor: 1, dim: ordinal}, end, true
	case rest == "m" && a.dim != noDimension:
		magnitude = 1e6
	case magnitudes[rest] != 0:
		magnitude = magnitudes[rest]
	case isUnit && a.dim == noDimension && (len(rest) > 1 || s.text[s.tokens[end].end-1] == rest[0]): // 3M is not 3 metres
		a.dim, a.factor = u.dim, u.factor
	default:
		return a, i, false // a name like 3M or B52
	}
	for m := magnitudes[s.word(end+1)]; m != 0 && s.near(end+1, "-"); m = magnitudes[s.word(end+1)] {
		magnitude *= m
		end++
	}
	if magnitude != 1 {
		a.value, a.other, a.digits, a.named = a.value*magnitude, 0, "", false
	}
	if a.dim == noDimension {
		end = s.unit(&a, end)
	}
	a.base, a.named = a.value*a.factor, a.named && a.dim == noDimension
	return a, end, true
}

// digits reads a number in digits from token i on into a: 1,200 or 1.5 or 30km or version 1.5.0.
func (s *scan) digits(i int, a *amount) (rest string, end int, ok bool) {
	part, rest := endings(s.word(i))
	if len(part) > 15 {
		return "", i, false
	}
	a.value, a.digits = parse(part), part
	end = i
	for len(part) <= 3 && rest == "" && groupOf3(s.word(end+1)) && (s.between(end+1, ",") || s.gap(end+1) == "\u202f" || s.gap(end+1) == "\u00a0") {
		end++
		part, rest = endings(s.word(end))
		a.value, a.digits = a.value*1000+parse(part), ""
	}
	for first := end; rest == "" && s.between(end+1, ".") && s.tokens[end+1].digits; {
		end++
		if a.digits != "" && len(a.digits) < 64 {
			a.digits += "." + s.word(end)
		}
		if part, rest = endings(s.word(end)); end > first+1 {
			a.named, a.other = true, 0
			continue
		}
		part = part[:min(len(part), 15)] // a float64 has no more digits
		a.value += parse(part) / math.Pow10(len(part))
		if end == i+1 && len(part) == 3 && len(s.word(i)) <= 3 && s.word(i) != "0" {
			a.other = math.Round(a.value * 1000)
		}
	}
	a.named = a.named || a.digits != "" && ((versions[s.word(i-1)] || versions[s.word(i-2)]) || end > i && i > 0 && s.tokens[i-1].upper && !s.tokens[i-1].stop && s.gap(i) == " ")
	return rest, end, true
}

func parse(digits string) float64 {
	n, _ := wholeNumber(digits)
	return float64(n)
}

// spelled reads a number in words: "twenty-five", "one hundred and twenty thousand", "a dozen". A single "one"
// may be a pronoun and is ignored.
func (s *scan) spelled(i int) (value float64, end int, ok bool) {
	total, current := 0.0, 0.0
	end = i - 1
words:
	for k := i; k < len(s.tokens); k++ {
		w := s.word(k)
		n, isNumber := numberWordsOf[w]
		m := magnitudes[w]
		switch {
		case k > i && !s.near(k, "-‑"):
			break words
		case isNumber && (current == 0 || math.Mod(current, 10) == 0 && n < 10 && current >= 20 || math.Mod(current, 100) == 0 && n < 100):
			current += n
		case m == 12 || m == 100 && (current > 0 || s.word(k-1) == "a"):
			current, ok = max(current, 1)*m, true
		case m >= 1e3 && len(w) > 2 && (current > 0 || s.word(k-1) == "a"):
			total, current, ok = total+max(current, 1)*m, 0, true
		case w == "and" && ok && k > i && numberWordsOf[s.word(k+1)] > 0:
			continue
		default:
			break words
		}
		end = k
		ok = ok || n > 1 || w == "zero" || k > i
	}
	return total + current, end, ok && end >= i
}

// unit reads the unit after a number that ends at token end, and returns the unit's last token.
func (s *scan) unit(a *amount, end int) int {
	next := end + 1
	switch w := s.word(next); {
	case startsWithPercent(s.gap(next)) && (w == "point" || w == "points"):
		a.dim, end = points, next
	case startsWithPercent(s.gap(next)):
		a.dim = percent
	case !s.near(next, "-‑°"):
	case strings.HasSuffix(s.gap(next), "°"):
		a.dim, end = degreesOf[w], next
	default:
		for n := min(longestUnit, len(s.tokens)-next); n > 0; n-- {
			if u, ok := units[phrase(s.tokens[next:next+n])]; ok {
				a.dim, a.factor = u.dim, u.factor
				return end + n
			}
		}
	}
	return end
}

// date is a year, a month, a day, or some of these; missing parts are 0. A decade or century has a span.
type date struct {
	year       int32
	month, day int8
	span       int16 // number of years that begin with year: 0, 10 or 100
}

// within reports whether e lies within d: 17 September 2012 lies within September 2012, and 1995 within the
// 1990s, but not the other way round.
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

// aroundMonth reads the day and the year next to the name of a month at token i.
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
		return out, i // "May" or "March" alone at the start may be a verb
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
	case len(digits) == 4 && n%100 == 0 && n < 2000: // 1800s and 1900s name a century, 2000s a decade
		out = append(out, date{year: int32(n), span: 100})
	case len(digits) == 4:
		out = append(out, date{year: int32(n), span: 10})
	case len(digits) == 2 && n >= 20 && n%10 == 0:
		out = append(out, date{year: int32(1900 + n), span: 10})
	}
	return out, i
}

// between reports whether exactly one of the marks is between token i and the previous one.
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

// measured reports whether the number at token i is a quantity, not a year: it has a currency before it, or a
// unit, a magnitude or decimals after it.
func (s *scan) measured(i int) bool {
	next := s.word(i + 1)
	_, isUnit := units[next]
	_, isMagnitude := magnitudes[next]
	gap := s.gap(i + 1)
	return currencyBefore(s.gap(i)) != noDimension || (isUnit || isMagnitude) && s.near(i+1, "-") ||
		gap == "." && i+1 < len(s.tokens) && s.tokens[i+1].digits || gap == "," && groupOf3(next) || startsWithPercent(gap)
}
