// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// features is what the lexical judge sees of a statement: its distinct stems
// with weights, sorted by stem, its numbers, and whether it denies something.
type features struct {
	terms   []term
	weight  float64 // sum over terms
	numbers []string
	negated bool
}

// term is a stem and its weight. Names and numbers decide whether two
// statements speak of the same thing, so they weigh more.
type term struct {
	stem   string
	weight float64
}

const (
	wordWeight   = 1.0
	firstWeight  = 1.5 // a capital at the start: a name or just a beginning
	nameWeight   = 2.0
	numberWeight = 2.0
)

// features reads a statement.
func (j *Lexical) features(s string) features {
	s = withoutSeparators(s)
	f := features{negated: strings.Contains(s, "n't") || strings.Contains(s, "n’t")}
	first := true
	j.words.Spans(s, func(word []byte, start, _ int) {
		raw := string(word)
		if isNegation(raw) {
			f.negated = true
			return
		}
		if n, ok := numeral(raw); ok {
			f.numbers = append(f.numbers, n)
			f.terms = append(f.terms, term{n, numberWeight})
			first = false
			return
		}
		stem, ok := j.words.Term(raw)
		if !ok {
			return
		}
		weight := wordWeight
		if r, _ := utf8.DecodeRuneInString(s[start:]); unicode.IsUpper(r) {
			weight = nameWeight
			if first {
				weight = firstWeight
			}
		}
		f.terms = append(f.terms, term{stem, weight})
		first = false
	})
	f.tidy()
	return f
}

// tidy sorts the terms and keeps each once, with its largest weight.
func (f *features) tidy() {
	slices.SortFunc(f.terms, func(a, b term) int {
		return cmp.Or(strings.Compare(a.stem, b.stem), cmp.Compare(b.weight, a.weight))
	})
	f.terms = slices.CompactFunc(f.terms, func(a, b term) bool { return a.stem == b.stem })
	slices.Sort(f.numbers)
	f.numbers = slices.Compact(f.numbers)
	f.weight = 0
	for _, t := range f.terms {
		f.weight += t.weight
	}
}

func (f *features) merge(g features) {
	f.terms = append(f.terms, g.terms...)
	f.numbers = append(f.numbers, g.numbers...)
	f.negated = f.negated || g.negated
	f.tidy()
}

// shareIn is the share of f's weight whose stems g holds.
func (f features) shareIn(g features) float64 {
	if f.weight == 0 {
		return 0
	}
	var held float64
	for i, k := 0, 0; i < len(f.terms) && k < len(g.terms); {
		switch c := strings.Compare(f.terms[i].stem, g.terms[k].stem); {
		case c < 0:
			i++
		case c > 0:
			k++
		default:
			held += f.terms[i].weight
			i++
			k++
		}
	}
	return held / f.weight
}

// numbersIn reports whether g holds all numbers of f.
func (f features) numbersIn(g features) bool {
	for _, n := range f.numbers {
		if _, ok := slices.BinarySearch(g.numbers, n); !ok {
			return false
		}
	}
	return true
}

// verdictIn says whether an answer states the reference f.
func (f features) verdictIn(answer features) Verdict {
	held := f.shareIn(answer)
	switch {
	case held < factShare:
		return Score(0, fmt.Sprintf("%.0f %% of the reference", 100*held))
	case !f.numbersIn(answer):
		return Score(0, "another number")
	case f.negated != answer.negated:
		return Score(0, "one side denies it")
	}
	return Score(1, fmt.Sprintf("%.0f %% of the reference", 100*held))
}

// same reports whether a predicted statement says what the gold one f says.
// Sentences of an answer often say more than one thing, so it is enough that
// f is in it.
func (f features) same(predicted features) bool {
	return f.weight > 0 && f.verdictIn(predicted).Value == 1
}

func isNegation(word string) bool {
	switch word {
	case "not", "no", "never", "without", "neither", "nor", "none", "nobody", "nothing", "cannot":
		return true
	}
	return false
}

// numberWords are the numbers that texts spell out.
var numberWords = map[string]string{
	"zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
	"seven": "7", "eight": "8", "nine": "9", "ten": "10", "eleven": "11", "twelve": "12",
	"first": "1", "second": "2", "third": "3", "fourth": "4", "fifth": "5", "sixth": "6",
	"seventh": "7", "eighth": "8", "ninth": "9", "tenth": "10", "twenty": "20", "thirty": "30",
	"forty": "40", "fifty": "50", "hundred": "100", "thousand": "1000", "million": "1000000", "billion": "1000000000",
}

// withoutSeparators joins the groups of large numbers: 1,000 becomes 1000.
func withoutSeparators(s string) string {
	return groupSeparator.ReplaceAllString(s, "$1$2")
}

var groupSeparator = regexp.MustCompile(`([0-9]),([0-9]{3})\b`)

// numeral reads a word as a number: digits with an ordinal ending, or a
// spelled number. "One" is left a word, it is a pronoun as often.
func numeral(word string) (string, bool) {
	if n, ok := numberWords[word]; ok {
		return n, true
	}
	digits := strings.TrimRight(word, "abcdefghijklmnopqrstuvwxyz")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	switch word[len(digits):] {
	case "", "st", "nd", "rd", "th", "s":
		if n := strings.TrimLeft(digits, "0"); n != "" {
			return n, true
		}
		return "0", true
	}
	return "", false
}
