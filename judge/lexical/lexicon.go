// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

//go:embed lexicon.txt
var lexicon string

// rows returns the lines of the lexicon whose first word is kind, without that word.
func rows(kind string) (out []string) {
	for line := range strings.Lines(lexicon) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), kind+" "); ok {
			out = append(out, row)
		}
	}
	return out
}

// tableOf returns the words in the lines of a kind, each with the value after its equals sign.
func tableOf[T any](kind string, read func(string) T) map[string]T {
	out := make(map[string]T)
	for _, w := range strings.Fields(strings.Join(rows(kind), " ")) {
		word, value, _ := strings.Cut(w, "=")
		out[word] = read(value)
	}
	return out
}

func wordSet(kind string) map[string]bool { return tableOf(kind, func(string) bool { return true }) }

func wordsOf(kind string) map[string]string { return tableOf(kind, strings.Clone) }

func numbersOf(kind string) map[string]float64 { return tableOf(kind, number) }

func signs(kind string) map[string]int8 {
	return tableOf(kind, func(s string) int8 { return int8(number(s)) })
}

// number reads a number of the lexicon. A test checks that all are numbers.
func number(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

var (
	// negators deny the following words of their clause.
	negators = wordSet("negators")
	// negatorsBefore deny the following words if "to" follows: "failed to win".
	negatorsBefore = wordSet("negatorsBefore")
	// notNegating are words after which a negator denies nothing: "not only", "no fewer than", "not until".
	notNegating = wordSet("notNegating")
	// dollarPrefixes are letters before a dollar sign: US$100, A$100.
	dollarPrefixes = wordSet("dollarPrefixes")
	auxiliaries    = wordSet("auxiliaries")
	nameJoints     = wordSet("nameJoints")
	monthsByName   = signs("months")
	demonymOf      = wordsOf("demonyms")
	isCountry      = countryNames()
	// kin are words that identify a person by the relation to another, as in "Carrick's brother".
	kin = wordSet("kin")
	// decisive words are qualifiers that an answer must not omit.
	decisive = wordSet("decisive")
	// directed are words, such as than, between two names that cannot be exchanged.
	directed = wordSet("directed")
	mutual   = wordSet("mutual")
	passives = wordSet("passives")
	// versions are words before a number that is compared by its digits: version 2.10 is not 2.1.
	versions      = wordSet("versions")
	numberWordsOf = numbersOf("numberWordsOf")
	magnitudes    = numbersOf("magnitudes")
	fractionsOf   = numbersOf("fractionsOf")
	degreesOf     = tableOf("degrees", func(s string) dimension { return dimension(s) })
	currencies    = tableOf("currencies", func(s string) dimension { return dimension(s) })
	boundsOf      = signs("boundsOf")
	answers       = signs("answers")
	ordinals      = numbersOf("ordinals")
	timesOfDay    = numbersOf("timesOfDay")
	pastHours     = numbersOf("pastHours")
	halves        = wordsOf("halves") // by name: a for am, p for pm, o for o'clock
	// antonymGroups are words that cannot both be true of one thing; each line has two sides. Converses such as
	// buy and sell are not listed, since one sale is both. Words are stemmed; irregular forms are listed in
	// full.
	antonymGroups = rows("antonyms")
	// countries map frequent names of a country or union, such as U.S. and United States, to one word, to which
	// demonyms map too.
	countries = wordsOf("countries")
	// countryStarts are the first words of the names in countries.
	countryStarts = wordSet("countryStarts")
	units         = unitTable()
)

// The greatest number of words in the name of a country and of a unit.
const longestCountry, longestUnit = 4, 3

func countryNames() map[string]bool {
	out := make(map[string]bool)
	for _, country := range demonymOf {
		out[country] = true
	}
	return out
}

// dimension is the quantity of a unit, such as length; the lexicon has further ones. Amounts of two dimensions
// differ.
type dimension string

const (
	noDimension dimension = ""
	length      dimension = "length"   // in metres
	duration    dimension = "duration" // in seconds
	speed       dimension = "speed"    // in metres per second
	percent     dimension = "percent"
	points      dimension = "points" // percentage points
	clock       dimension = "clock"  // time of day in minutes
	dated       dimension = "dated"  // date in amount.date
	dollars     dimension = "dollars"
	ordinal     dimension = "ordinal"
)

// unit is a unit of measurement: its dimension, and its size in the dimension's base units.
type unit struct {
	dim    dimension
	factor float64
}

func unitTable() map[string]unit {
	out := make(map[string]unit)
	for _, row := range rows("unit") {
		f := strings.Fields(row)
		for _, n := range f[2:] {
			out[n] = unit{dimension(f[0]), number(f[1])}
		}
	}
	words := maps.Clone(out)
	for n, u := range words {
		for m, per := range words {
			if u.dim == length && per.dim == duration {
				out[n+"_per_"+m] = unit{speed, u.factor / per.factor}
			}
		}
	}
	return out
}

// rewriting replaces a notation of numbers by digits with a decimal point. It applies to texts in which one of
// the characters in needs is a numeral or next to a digit.
type rewriting struct {
	needs string
	form  *regexp.Regexp
	plain func(groups []string) string
}

// rewritings are applied in this order. A match is not replaced if a character next to it continues the number.
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
	{",", regexp.MustCompile(`(\d{1,3}(?:\.\d{3})+),(\d{1,9})`), func(g []string) string { return noDigits.ReplaceAllString(g[1], "") + "." + g[2] }},
	{" .'’\u00a0\u202f\u2009", regexp.MustCompile(`(\d{1,3}(?:(?:[ .]\d{3}){2,}|(?:[\x{a0}\x{202f}\x{2009}'’]\d{3})+| 000))(\.\d{1,9})?`), func(g []string) string { return noDigits.ReplaceAllString(g[1], "") + g[2] }},
	{",", regexp.MustCompile(`(\d{1,9}),(\d{1,2})`), func(g []string) string { return g[1] + "." + g[2] }},
}

// plainNumbers rewrites numbers such as 10⁶, 2½, 1 500 000 and 0,5 as digits with a decimal point.
func plainNumbers(text string) string {
	near := nearNumbers(text)
	for _, r := range rewritings {
		if !strings.ContainsAny(string(near), r.needs) {
			continue
		}
		var out strings.Builder
		from := 0
		for _, at := range r.form.FindAllStringIndex(text, -1) {
			if begin, end := text[:at[0]], text[at[1]:]; touches(begin[max(0, len(begin)-1):]) || end != "" && (touches(end[:1]) && end[0] != '.' && end[0] != ',' || len(end) > 1 && (end[0] == '.' || end[0] == ',') && end[1] >= '0' && end[1] <= '9') {
				continue
			}
			out.WriteString(text[from:at[0]] + r.plain(r.form.FindStringSubmatch(text[at[0]:at[1]])))
			from = at[1]
		}
		if from > 0 {
			text = out.String() + text[from:]
			near = nearNumbers(text)
		}
	}
	return text
}

// nearNumbers returns the digits and numerals of a text and the characters next to them.
func nearNumbers(text string) (near []rune) {
	all := []rune(text)
	for i, c := range all {
		if unicode.IsNumber(c) {
			near = append(near, all[max(0, i-1):min(i+2, len(all))]...)
		}
	}
	return near
}

// touches reports whether a character belongs to the number or word next to it.
func touches(c string) bool {
	return c != "" && strings.ContainsAny(c, "0123456789./,:") || c != "" && (c[0]|0x20 >= 'a' && c[0]|0x20 <= 'z')
}

var noDigits = regexp.MustCompile(`[^0-9]`)

// power returns a number times a power of ten: in digits, with "trillion", or unchanged if it is too large or the
// exponent negative.
func power(times, exponent string) string {
	value, err := strconv.ParseFloat(strings.ReplaceAll(cmp.Or(times, "1"), ",", "."), 64)
	n, err2 := strconv.Atoi(strings.ReplaceAll(strings.TrimPrefix(exponent, "+"), "−", "-"))
	switch value *= math.Pow10(n); {
	case err != nil || err2 != nil || n < 0 || value >= 1e24:
		return strings.TrimSpace(times + " 10^" + strings.ReplaceAll(exponent, "−", "-"))
	case value >= 1e12:
		return strconv.FormatFloat(value/1e12, 'f', -1, 64) + " trillion"
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

// mixed returns a whole number and a proper fraction as a decimal number; improper fractions are unchanged.
func mixed(written, whole, above, below string) string {
	n, _ := strconv.Atoi("0" + whole) // cannot fail: the pattern matches only digits
	a, _ := strconv.Atoi(above)
	b, _ := strconv.Atoi(below)
	if a >= b {
		return written
	}
	return fmt.Sprint(float64(n) + float64(a)/float64(b))
}

// clock reads the time of day that begins at token i, in minutes: 9 am, 9:30, 21:00, noon.
func (s *scan) clock(i int) (a amount, end int, ok bool) {
	w, next := s.word(i), s.word(i+1)
	if minutes, ok := timesOfDay[w]; ok {
		return timeOfDay(minutes, 0), i, true
	}
	if past, ok := pastHours[w+"_"+next]; ok && i+2 < len(s.tokens) && (s.tokens[i+2].digits || numberWordsOf[s.word(i+2)] > 0) {
		a, end, ok = s.number(i + 2)
		return timeOfDay(60*math.Trunc(a.value)+past, 720), end, ok && a.dim == noDimension && a.value <= 12
	}
	hours, half := endings(w)
	hour, ok := wholeIn(hours, 2, 0, 24)
	if !ok || half != "" && half != "am" && half != "pm" || s.gap(i) == ":" {
		return a, i, false
	}
	end = i
	minute, colon := 0, false
	if digits, rest := endings(next); half == "" && len(digits) == 2 && s.between(i+1, ":.") && s.gap(i+2) != ":" {
		if n, ok := wholeIn(digits, 2, 0, 59); ok && (rest == "" || rest == "am" || rest == "pm") {
			minute, colon, half, end = n, s.gap(i+1) == ":", rest, i+1
		}
	}
	half = halves[half]
	for n := 1; n <= 2 && half == "" && s.near(end+1, "") && end+n < len(s.tokens); n++ {
		if half = halves[strings.ReplaceAll(phrase(s.tokens[end+1:end+1+n]), "_", "")]; half != "" {
			end += n
		}
	}
	other := 0.0
	switch {
	case half == "" && !colon || (half == "a" || half == "p") && hour > 12:
		return a, i, false
	case half == "o" && hour < 12:
		other = 720
	case half == "p" && hour < 12:
		hour += 12
	case half == "a" && hour == 12:
		hour = 0
	}
	return timeOfDay(float64(60*hour+minute), other), end, true
}

// timeOfDay returns a time in minutes, with a second possible time that is later by the given minutes.
func timeOfDay(minutes, later float64) amount {
	return amount{value: minutes, base: minutes, other: minutes + later, factor: 1, dim: clock}
}
