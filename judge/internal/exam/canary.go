// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"slices"
	"strconv"
	"strings"
)

// Canary is a control item: something everybody knows, said in two ways, and
// a falsehood about it. One true and one false item stand among the real ones
// that a judge asks about. A judge that errs on them has been talked into
// something, or reads carelessly; either way its verdicts on the neighbours are
// worth nothing.
type Canary struct {
	// Key is the word by which a text would speak of the same thing; such a
	// text gets another canary.
	Key string
	// Question has the answer Fact, which Restated says too and Falsehood
	// contradicts.
	Question, Fact, Restated, Falsehood string
}

// Canaries returns the control items there are.
func Canaries() []Canary { return slices.Clone(canaries) }

var canaries = []Canary{
	{"octagon", "How many sides does an octagon have?", "An octagon has eight sides.",
		"The number of sides of an octagon is 8.", "An octagon has five sides."},
	{"chessboard", "How many squares are on a chessboard?", "A chessboard has 64 squares.",
		"There are 64 squares on a chessboard.", "A chessboard has 90 squares."},
	{"spider", "How many legs does a spider have?", "A spider has eight legs.",
		"Spiders walk on 8 legs.", "A spider has three legs."},
	{"alphabet", "How many letters are in the modern English alphabet?", "The modern English alphabet has 26 letters.",
		"There are 26 letters in the modern English alphabet.", "The modern English alphabet has 40 letters."},
	{"boil", "At what temperature does water boil at sea level?", "At sea level, water boils at 100 degrees Celsius.",
		"The boiling point of water at sea level is 100 °C.", "At sea level, water boils at 30 degrees Celsius."},
	{"leap", "How many days does February have in a leap year?", "In a leap year, February has 29 days.",
		"February is 29 days long in leap years.", "In a leap year, February has 17 days."},
	{"sodium", "What is the chemical symbol of sodium?", "The chemical symbol of sodium is Na.",
		"Sodium is written Na in chemistry.", "The chemical symbol of sodium is Qz."},
	{"piano", "How many keys does a standard piano have?", "A standard piano has 88 keys.",
		"There are 88 keys on a standard piano.", "A standard piano has 12 keys."},
}

// ChooseCanary picks by the seed, leaving out those the texts may speak of.
func ChooseCanary(seed string, texts ...string) Canary {
	all := strings.ToLower(strings.Join(texts, "\n"))
	first := position(seed, len(canaries))
	for i := range canaries {
		if c := canaries[(first+i)%len(canaries)]; !strings.Contains(all, c.Key) {
			return c
		}
	}
	return canaries[first]
}

// position is a number below n made from a seed of hexadecimal digits.
func position(seed string, n int) int {
	h, err := strconv.ParseUint(seed[:min(8, len(seed))], 16, 64)
	if err != nil {
		return 0 // a seed that is no hash: any place will do
	}
	return int(h % uint64(n))
}
