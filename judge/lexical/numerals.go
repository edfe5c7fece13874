// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// rewriting is a form of numbers and the plain one of each match. A text without any of some
// characters has none.
type rewriting struct {
	needs string
	form  *regexp.Regexp
	plain func(groups []string) string
}

// rewritings are tried in this order. None crosses a digit, a point or a slash at its ends.
var rewritings = []rewriting{
	{"⁰¹²³⁴⁵⁶⁷⁸⁹", regexp.MustCompile(`(10)([⁺⁻]?[⁰¹²³⁴-⁹]+)`), func(g []string) string { return g[1] + "^" + norm.NFKC.String(g[2]) }},
	{"^", regexp.MustCompile(`(?:(\d+(?:[.,]\d+)?)\s*[×x·*⋅]\s*)?10\^\{?([-−+]?\d{1,3})\}?`), func(g []string) string { return power(g[1], g[2]) }},
	{"eE", regexp.MustCompile(`(\d+(?:\.\d+)?)[eE]\+?(\d{1,2})`), func(g []string) string { return power(g[1], g[2]) }},
	{"¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", regexp.MustCompile(`(?:(\d{1,3})[ \x{a0}\x{2009}]?)?([¼½¾⅐-⅞])`), func(g []string) string {
		above, below, _ := strings.Cut(norm.NFKC.String(g[2]), "⁄")
		return mixed(g[0], g[1], above, below)
	}},
	{"/", regexp.MustCompile(`(?:(\d{1,3}) )?([1-9])/([2-9])`), func(g []string) string { return mixed(g[0], g[1], g[2], g[3]) }},
	{".,", regexp.MustCompile(`[.,](\d{1,9})`), func(g []string) string { return "0." + g[1] }},
	{",", regexp.MustCompile(`(\d{1,3}(?:\.\d{3})+),(\d{1,9})`), func(g []string) string { return digitsOf(g[1]) + "." + g[2] }},
	{" .'’\u00a0\u202f\u2009", regexp.MustCompile(`(\d{1,3}(?:(?:[ .]\d{3}){2,}|(?:[\x{a0}\x{202f}\x{2009}'’]\d{3})+| 000))(\.\d{1,9})?`), func(g []string) string { return digitsOf(g[1]) + g[2] }},
	{",", regexp.MustCompile(`(\d{1,9}),(\d{1,2})`), func(g []string) string { return g[1] + "." + g[2] }},
}

// plainNumbers writes powers of ten, fractions, groups and decimals of a text with digits and a point
// alone: 10⁶, 2½, 1 500 000, 0,5.
func plainNumbers(text string) string {
	for _, r := range rewritings {
		if !strings.ContainsAny(text, r.needs) {
			continue
		}
		var out strings.Builder
		from := 0
		for _, at := range r.form.FindAllStringSubmatchIndex(text, -1) {
			if begin, end := text[:at[0]], text[at[1]:]; touches(begin[max(0, len(begin)-1):]) || end != "" && (touches(end[:1]) && end[0] != '.' && end[0] != ',' || len(end) > 1 && (end[0] == '.' || end[0] == ',') && end[1] >= '0' && end[1] <= '9') {
				continue
			}
			groups := make([]string, len(at)/2)
			for i := range groups {
				if at[2*i] >= 0 {
					groups[i] = text[at[2*i]:at[2*i+1]]
				}
			}
			out.WriteString(text[from:at[0]] + r.plain(groups))
			from = at[1]
		}
		if from > 0 {
			text = out.String() + text[from:]
		}
	}
	return text
}

// touches reports whether a character continues an adjacent number or word.
func touches(c string) bool {
	return c != "" && strings.ContainsAny(c, "0123456789./,:") || c != "" && (c[0]|0x20 >= 'a' && c[0]|0x20 <= 'z')
}

func digitsOf(s string) string {
	return strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, s)
}

// power is a number times a power of ten, written out where that has few digits.
func power(times, exponent string) string {
	value, err := strconv.ParseFloat(strings.ReplaceAll(times, ",", "."), 64)
	if times == "" {
		value, err = 1, nil
	}
	n, err2 := strconv.Atoi(strings.ReplaceAll(strings.TrimPrefix(exponent, "+"), "−", "-"))
	switch value *= math.Pow10(n); {
	case err != nil || err2 != nil || n < 0 || value >= 1e24:
		return strings.TrimSpace(times + " 10^" + strings.ReplaceAll(exponent, "−", "-"))
	case value >= 1e12:
		return strconv.FormatFloat(value/1e12, 'f', -1, 64) + " trillion"
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// mixed is a whole number and a fraction below one as a decimal; others stay.
func mixed(written, units, above, below string) string {
	n, _ := strconv.Atoi("0" + units) // digits
	a, err := strconv.Atoi(above)
	b, err2 := strconv.Atoi(below)
	if err != nil || err2 != nil || a >= b {
		return written
	}
	return fmt.Sprint(float64(n) + float64(a)/float64(b))
}

// clock reads the time of day that begins at token i, in minutes: 9 am, 9:30, 21:00, noon.
func (s *scan) clock(i int) (a amount, end int, ok bool) {
	at := func(minutes, end int) (amount, int, bool) {
		v := float64(minutes)
		return amount{value: v, base: v, factor: 1, dim: clock}, end, true
	}
	switch w, next := s.word(i), s.word(i+1); {
	case w == "noon", w == "midday":
		return at(720, i)
	case w == "midnight":
		return at(0, i)
	case (w == "half" || w == "quarter") && (next == "past" || next == "to") && (numberWordsOf[s.word(i+2)] > 0 || i+2 < len(s.tokens) && s.tokens[i+2].digits):
		if a, end, ok = s.number(i + 2); ok && a.dim == noDimension && a.value <= 12 {
			past := map[string]int{"halfpast": 30, "quarterpast": 15, "quarterto": -15}[w+next]
			a, end, ok = at(60*int(a.value)+past, end)
			a.other = a.value + 720
		}
		return a, end, ok && a.dim == clock
	}
	hours, half := endings(s.word(i))
	hour, ok := wholeNumber(hours, 24)
	if !ok || half != "" && half != "am" && half != "pm" || s.gap(i) == ":" {
		return a, i, false
	}
	end = i
	colon := half == "" && s.between(i+1, ":")
	minute := 0
	if digits, rest := endings(s.word(i + 1)); half == "" && len(digits) == 2 && s.between(i+1, ":.") {
		if minute, ok = wholeNumber(digits, 59); ok && s.gap(i+2) != ":" && (rest == "" || rest == "am" || rest == "pm") {
			end, half = i+1, rest
		} else {
			colon, minute = false, 0
		}
	} else {
		colon = false
	}
	next := s.word(end+1) + s.word(end+2)
	switch {
	case half != "":
	case !s.near(end+1, ""):
	case s.word(end+1) == "am" || s.word(end+1) == "pm" || s.word(end+1) == "a.m" || s.word(end+1) == "p.m":
		half, end = s.word(end+1), end+1
	case next == "am" || next == "pm" || next == "oclock":
		half, end = next, end+2
	}
	switch {
	case half == "" && !colon || half != "" && hour > 12 && half != "oclock":
		return a, i, false
	case half == "oclock" && hour < 12:
		a, end, ok = at(60*hour+minute, end)
		a.other = a.value + 720
		return a, end, ok
	case half != "" && half[0] == 'p' && hour < 12:
		hour += 12
	case half != "" && half[0] == 'a' && hour == 12:
		hour = 0
	}
	return at(60*hour+minute, end)
}

// wholeNumber reads a number of at most two digits up to a limit.
func wholeNumber(digits string, most int) (int, bool) {
	n, ok := whole(digits)
	return n, ok && len(digits) <= 2 && n <= most
}
