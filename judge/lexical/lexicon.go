// SPDX-License-Identifier: Apache-2.0

package lexical

import "strings"

// The small tables of the lexical judge. They hold closed classes of English
// words and the commonest open ones; they were written down, not learnt.

// wordSet makes a set of a list of words.
func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

var (
	// negators deny what follows in their clause.
	negators = wordSet("not no never without neither nor none nobody nothing cannot lack lacks lacked lacking absence hardly")
	// negatorsBefore deny it when "to" comes next: "failed to win".
	negatorsBefore = wordSet("failed fails fail refused refuses refuse declined declines unable")
	// notNegating follow a negator that denies nothing: "not only", "no fewer
	// than", "not until".
	notNegating = wordSet("only just merely simply fewer less more later earlier until")
	// dollarPrefixes precede the sign of a dollar: US$100, A$100.
	dollarPrefixes = wordSet("america a au c ca nz hk")
	auxiliaries    = wordSet("did does do is was were are has have had can could will would should may might must shall")
	nameJoints     = wordSet("of the de van von di da del la le al bin du der den y")
	monthsByName   = monthNames()
	demonymOf      = pairsOf(demonyms)
	isCountry      = countryNames()
	// kin name a person by a relation to another one: Carrick's brother.
	kin = wordSet("brother sister son daughter father mother wife husband widow widower uncle aunt nephew niece cousin grandson granddaughter " +
		"grandfather grandmother assistant pupil student secretary deputy successor predecessor")
	// decisive words are qualifiers that an answer must not leave out.
	decisive = wordSet("dark light pale bright black white red blue green yellow brown grey gray orange purple pink silver gold golden vice deputy assistant former acting")
	// directed words connect two names that cannot change places.
	directed      = wordSet("before after than against from to into above below over under")
	mutual        = wordSet("and or with between meet met marry married")
	passives      = wordSet("was were is are been be being has had have did by the a an")
	numberWordsOf = map[string]float64{
		"zero": 0, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
		"eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
		"eighteen": 18, "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
		"eighty": 80, "ninety": 90, "one": 1, "couple": 2, "twice": 2,
	}
	magnitudes = map[string]float64{
		"dozen": 12, "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "bn": 1e9, "mn": 1e6, "k": 1e3,
	}
	fractionsOf = map[string]float64{"half": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fifth": 5, "fifths": 5}
	degreesOf   = map[string]dimension{"c": celsius, "celsius": celsius, "centigrade": celsius, "f": fahrenheit, "fahrenheit": fahrenheit}
	boundsOf    = map[string]int8{
		"more": 1, "over": 1, "above": 1, "exceeding": 1, "larger": 1, "greater": 1, "least": 1,
		"fewer": -1, "less": -1, "under": -1, "below": -1, "smaller": -1, "most": -1, "up": -1, "almost": -1, "nearly": -1,
	}
	ordinals = map[string]float64{
		"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
		"eleventh": 11, "twelfth": 12, "thirteenth": 13, "fourteenth": 14, "fifteenth": 15, "sixteenth": 16, "seventeenth": 17,
		"eighteenth": 18, "nineteenth": 19, "twentieth": 20,
	}
)

func monthNames() map[string]int8 {
	out := make(map[string]int8)
	for i, names := range strings.Split("january jan,february feb,march mar,april apr,may,june jun,july jul,august aug,"+
		"september sept sep,october oct,november nov,december dec", ",") {
		for _, n := range strings.Fields(names) {
			out[n] = int8(i + 1)
		}
	}
	return out
}

func countryNames() map[string]bool {
	out := make(map[string]bool)
	for _, country := range demonymOf {
		out[country] = true
	}
	return out
}

func pairsOf(list string) map[string]string {
	out := make(map[string]string)
	for _, p := range strings.Fields(list) {
		from, to, _ := strings.Cut(p, "=")
		out[from] = to
	}
	return out
}

// demonyms lead from people and languages to the country.
const demonyms = `american=america americans=america british=britain english=england scottish=scotland welsh=wales irish=ireland
french=france german=germany germans=germany italian=italy italians=italy spanish=spain portuguese=portugal dutch=netherlands
belgian=belgium swiss=switzerland austrian=austria polish=poland czech=czechia hungarian=hungary romanian=romania
bulgarian=bulgaria greek=greece greeks=greece turkish=turkey russian=russia russians=russia ukrainian=ukraine swedish=sweden
danish=denmark norwegian=norway finnish=finland icelandic=iceland japanese=japan chinese=china korean=korea koreans=korea
indian=india indians=india pakistani=pakistan vietnamese=vietnam thai=thailand filipino=philippines philippine=philippines
western=west eastern=east northern=north southern=south indonesian=indonesia australian=australia canadian=canada canadians=canada mexican=mexico brazilian=brazil argentine=argentina
egyptian=egypt israeli=israel iranian=iran iraqi=iraq syrian=syria european=europe europeans=europe african=africa asian=asia
qatari=qatar qataris=qatar israelis=israel iranians=iran iraqis=iraq saudi=arabia saudis=arabia emirati=emirates kuwaiti=kuwait
afghan=afghanistan afghans=afghanistan moroccan=morocco moroccans=morocco tunisian=tunisia ghanaian=ghana nigerian=nigeria kenyan=kenya
croatian=croatia croatians=croatia serbian=serbia serbs=serbia slovak=slovakia slovenian=slovenia estonian=estonia latvian=latvia
lithuanian=lithuania ecuadorian=ecuador colombian=colombia chilean=chile peruvian=peru cuban=cuba cubans=cuba swedes=sweden poles=poland`

// antonymGroups are words that cannot both be true of one thing; each line has two sides.
// Converses like buy and sell are not listed, since one sale is both. Words are stemmed;
// irregular forms are listed in full.
var antonymGroups = strings.Split(`rise rose risen raise increase grow grew gain|cut fall fell fallen decrease decline drop shrink shrank
win won winner|lose lost loser
accept approve|reject
support|oppose
include|exclude
north northern|south southern
east eastern|west western
legal|illegal
guilty convicted|innocent acquitted
largest biggest|smallest
highest|lowest
longest|shortest
oldest|youngest newest
earliest|latest
best|worst
maximum|minimum
majority|minority
public|private
male|female
father|mother
son|daughter
husband|wife
brother|sister
succeed successful success|fail failure unsuccessful
begin began begun start|end finish cease
born|died
alive|dead
enter|leave left exit
appoint|dismiss
construct build built|demolish destroy
allow permit|ban prohibit forbid forbade forbidden
positive|negative
upper|lower
urban|rural
open|close shut
summer|winter
survive|destroy
keep retain preserve|abolish scrap
hot|cold
dark|light pale bright
deep|shallow
domestic|foreign
strengthen intensify|weaken
true|false`, "\n")

// countries lead from the commonest names of countries and unions, which are not
// forms of each other, to one word; people and things of them lead there as demonyms.
var countries = pairsOf(`united_states_of_america=america united_states=america u_s_a=america u_s=america usa=america us=america
united_kingdom=britain great_britain=britain u_k=britain uk=britain soviet_union=soviet u_s_s_r=soviet ussr=soviet
european_union=eu e_u=eu united_nations=un u_n=un`)

// countryStarts are the first words of them.
var countryStarts = wordSet("united u usa us great uk soviet ussr european e eu")

// longestCountry is how many words the longest of them has.
const longestCountry = 4

// dimension is the quantity that a unit measures; amounts of different dimensions differ.
type dimension uint8

const (
	noDimension dimension = iota
	length                // metres
	area                  // square metres
	volume                // litres
	mass                  // kilograms
	duration              // seconds
	calendar              // months
	speed                 // metres per second
	percent
	points // of percentages
	clock  // minutes of a day
	celsius
	fahrenheit
	bytes
	dollars
	euros
	pounds
	yen
	ordinal
)

// unit is a measure: a factor times the dimension's own.
type unit struct {
	dim    dimension
	factor float64
}

var units = unitTable()

func unitTable() map[string]unit {
	out := make(map[string]unit)
	for _, u := range []struct {
		dim    dimension
		factor float64
		names  string
	}{
		{length, 1, "m metre metres meter meters"}, {length, 1e3, "km kilometre kilometres kilometer kilometers"},
		{length, 1e-2, "cm centimetre centimetres centimeter centimeters"}, {length, 1e-3, "mm millimetre millimetres millimeter millimeters"},
		{length, 1609.344, "mi mile miles"}, {length, 0.3048, "ft foot feet"}, {length, 0.0254, "inch inches"}, {length, 0.9144, "yd yard yards"},
		{area, 1e6, "km² km2"}, {area, 1, "m² m2"}, {area, 1e4, "ha hectare hectares"}, {area, 4046.8564224, "acre acres"},
		{volume, 1, "litre litres liter liters"}, {volume, 1e3, "m³ m3"}, {volume, 3.785411784, "gallon gallons"},
		{mass, 1, "kg kilogram kilograms kilogramme kilogrammes"}, {mass, 1e-3, "g gram grams"}, {mass, 1e-6, "mg"},
		{mass, 1e3, "tonne tonnes ton tons"}, {mass, 0.45359237, "lb lbs"}, {mass, 0.028349523125, "oz ounce ounces"},
		{duration, 1, "second seconds"}, {duration, 60, "minute minutes"}, {duration, 3600, "hour hours"},
		{duration, 86400, "day days"}, {duration, 7 * 86400, "week weeks"},
		{calendar, 1, "month months"}, {calendar, 12, "year years"}, {calendar, 120, "decade decades"}, {calendar, 1200, "centuries"},
		{speed, 1 / 3.6, "kmh kph"}, {speed, 0.44704, "mph"}, {speed, 1852.0 / 3600, "knot knots kt"},
		{percent, 1, "percent percentage"}, {points, 1, "pp"}, {bytes, 1e3, "kb kilobyte kilobytes"}, {bytes, 1e6, "mb megabyte megabytes"}, {bytes, 1e9, "gb gigabyte gigabytes"},
		{dollars, 1, "dollar dollars usd"}, {euros, 1, "euro euros eur"}, {pounds, 1, "pound pounds gbp"}, {yen, 1, "yen"},
	} {
		for _, n := range strings.Fields(u.names) {
			out[n] = unit{u.dim, u.factor}
		}
	}
	return out
}
