// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	_ "embed" // lexicon.txt
	"maps"
	"strconv"
	"strings"
)

//go:embed lexicon.txt
var lexicon string

// rows returns the lines of a kind in the lexicon, without the kind.
func rows(kind string) (out []string) {
	for line := range strings.Lines(lexicon) {
		if row, ok := strings.CutPrefix(strings.TrimSpace(line), kind+" "); ok {
			out = append(out, row)
		}
	}
	return out
}

// tableOf returns the words of a kind with the values after their equals signs.
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

// number reads a number of the lexicon, which a test checks.
func number(s string) float64 {
	f, _ := strconv.ParseFloat(s, 64)
	return f
}

var (
	// negators deny the following words of their clause.
	negators = wordSet("negators")
	// negatorsBefore do so before "to": "failed to win".
	negatorsBefore = wordSet("negatorsBefore")
	// notNegating follow a negator without a denial: "not only", "no fewer than", "not until".
	notNegating = wordSet("notNegating")
	// dollarPrefixes precede the sign of a dollar: US$100, A$100.
	dollarPrefixes = wordSet("dollarPrefixes")
	auxiliaries    = wordSet("auxiliaries")
	nameJoints     = wordSet("nameJoints")
	monthsByName   = signs("months")
	demonymOf      = wordsOf("demonyms")
	isCountry      = countryNames()
	// kin name a person by a relation to another: Carrick's brother.
	kin = wordSet("kin")
	// decisive words are qualifiers that an answer must not omit.
	decisive = wordSet("decisive")
	// directed words connect two names that cannot be exchanged.
	directed = wordSet("directed")
	mutual   = wordSet("mutual")
	passives = wordSet("passives")
	// versions precede numbers whose digits count: version 2.10 is not 2.1.
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
	halves        = wordsOf("halves") // of the day
	// antonymGroups are words that cannot both be true of one thing; each line has two sides. Converses like
	// buy and sell are not listed, since one sale is both. Words are stemmed; irregular forms are listed in
	// full.
	antonymGroups = rows("antonyms")
	// countries map the most frequent names of countries and unions, which are not forms of each other, to
	// one word; demonyms map to it as well.
	countries = wordsOf("countries")
	// countryStarts are the first words of countries.
	countryStarts = wordSet("countryStarts")
	units         = unitTable()
)

// The number of words of the longest country and the longest unit.
const longestCountry, longestUnit = 4, 3

func countryNames() map[string]bool {
	out := make(map[string]bool)
	for _, country := range demonymOf {
		out[country] = true
	}
	return out
}

// dimension is the quantity of a unit; amounts of different dimensions differ. The lexicon has more of them.
type dimension string

const (
	noDimension dimension = ""
	length      dimension = "length"   // metres
	duration    dimension = "duration" // seconds
	speed       dimension = "speed"    // metres per second
	percent     dimension = "percent"
	points      dimension = "points" // of percentages
	clock       dimension = "clock"  // minutes of a day
	dated       dimension = "dated"  // a day, a month or a year
	dollars     dimension = "dollars"
	ordinal     dimension = "ordinal"
)

// unit is a unit of a dimension, as a multiple of its base unit.
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
