// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxTerms is how many distinct terms of a question are looked for: one bit each. A
// question that is a page long asks what it begins with.
const maxTerms = 63

// set is a set of the question's terms.
type set uint64

func (s set) count() int { return bits.OnesCount64(uint64(s)) }

// first is the lowest term of a set that is not empty.
func (s set) first() int { return bits.TrailingZeros64(uint64(s)) }

// question is what is looked for. Its terms are those of the numbering with the
// lowest numbers.
type question struct {
	text     string
	terms    int // how many
	names    set // those that name something: capital letters, digits
	weak     set // those that say how it is asked rather than what for
	unspaced set // those of scripts without blanks, of which some are no words
	want     shape
	steps    bool              // asks for a procedure or a list
	yesNo    bool              // is answered by yes or no
	weight   [maxTerms]float64 // for ranking
	bare     [maxTerms]float64 // for confidence: by rarity alone
	total    float64
}

// weakPart is what a term that says how is asked counts for confidence, and one of a
// script without blanks that stands nowhere: many pairs of characters are no words.
const weakPart = 0.3

// asking are words that many questions have and few answers: stems of the default
// analyzer would not tell "mean" the verb from "mean" the value, so they only count
// for less.
var asking = strings.Fields(`accord regard concern specif describ explain identifi mean call name use usual happen tell give
	kind type sort exact main primari certain list state provid find get know much mani long old far
	does did do has have had was were is are been will would can could should must may
	cost price pay paid spend spent day year month date time number city countri person team compani
	answer question reason way thing summar overview relat involv includ particular respect`)

// hanziAsking are characters of Chinese questions that say nothing of what is asked.
const hanziAsking = "是谁的什么吗呢哪里有了在几何怎样多少为如能可以我你们请被和与或及个位吧啊这那于从到将把由"

// newQuestion reads a question and numbers its terms.
func newQuestion(s string, l *lexicon) *question {
	q := &question{text: s, want: wanted(s), steps: asksSteps(s), yesNo: asksYesNo(s)}
	words := capitalized(s)
	l.known.analyzer.Words(s, func(word []byte) bool {
		if unspacedAsking(string(word)) {
			return true
		}
		id := int(l.of(word))
		if id < 0 || id >= maxTerms {
			return id < maxTerms
		}
		q.terms = max(q.terms, id+1)
		if words[string(word)] {
			q.names |= 1 << id
		}
		if r, _ := utf8.DecodeRune(word); text.Unspaced(r) {
			q.unspaced |= 1 << id
		}
		if slices.Contains(asking, l.term(id)) {
			q.weak |= 1 << id
		}
		return true
	})
	return q
}

// unspacedAsking tells whether a word of a script without blanks has a character that
// only asks.
func unspacedAsking(word string) bool {
	return strings.ContainsAny(word, hanziAsking)
}

// capitalized are the words of a question, folded, that have a digit or a capital
// letter and are not its first.
func capitalized(s string) map[string]bool {
	out := make(map[string]bool)
	for i, w := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		if strings.IndexFunc(w, unicode.IsNumber) >= 0 || i > 0 && strings.IndexFunc(w, unicode.IsUpper) >= 0 {
			out[strings.ToLower(w)] = true
		}
	}
	return out
}

// weigh sets the weights of the terms by how many of n candidates have each.
func (q *question) weigh(df *[maxTerms]int, n int) {
	q.total = 0
	for t := range q.terms {
		w := rarity(float64(df[t]), float64(n))
		q.bare[t] = w
		if q.weak&(1<<t) != 0 {
			q.bare[t] *= weakPart
		}
		if q.unspaced&(1<<t) != 0 && df[t] == 0 {
			q.bare[t] *= weakPart
		}
		if q.names&(1<<t) != 0 {
			w *= namePart
		}
		q.weight[t] = w
		q.total += w
	}
}

// of is the weight of the terms in a set.
func (q *question) of(s set) float64 {
	sum := 0.0
	for ; s != 0; s &= s - 1 {
		sum += q.weight[s.first()]
	}
	return sum
}

// plain is the weight of the terms in a set as confidence counts them.
func (q *question) plain(s set) float64 {
	sum := 0.0
	for ; s != 0; s &= s - 1 {
		sum += q.bare[s.first()]
	}
	return sum
}

// asksSteps tells whether a question asks for a procedure or for everything on a list.
func asksSteps(question string) bool {
	q := strings.ToLower(question)
	for _, p := range []string{"how do i", "how do you", "how can i", "how to ", "what steps", "which steps", "what are the steps", "what do i need", "who attended", "who was there", "怎么", "如何"} {
		if strings.Contains(q, p) {
			return true
		}
	}
	return false
}

// asksYesNo tells whether a question is answered by yes or no.
func asksYesNo(question string) bool {
	first, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(question)), " ")
	return slices.Contains(strings.Fields("is are was were do does did can could may must should will would has have had"), first) ||
		strings.ContainsAny(question, "吗")
}
