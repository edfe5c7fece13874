// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxKnown is how many distinct words are kept from one answer to the next, so that a
// word is not stemmed anew for each question.
const maxKnown = 1 << 16

// lexicon numbers the terms of one answer from 0 in the order in which they are met,
// those of the question first, whatever was read before.
type lexicon struct {
	analyzer text.Analyzer
	known    *text.Numbering // of all that was read
	number   []int32         // of each known term, its number here + 1; 0 of those not met
	met      []int32         // of each number here, that of the known term

	arena []int32 // terms in the order of the words
	words int     // of the text that was read last
	most  int     // words of a text that are read
	add   func(word []byte) bool
}

func newLexicon(a text.Analyzer) *lexicon {
	l := &lexicon{analyzer: a, known: text.NewNumbering(a)}
	l.add = func(word []byte) bool {
		l.words++
		if id := l.of(word); id >= 0 {
			l.arena = append(l.arena, id)
		}
		return l.words <= l.most
	}
	return l
}

// of is the number of a word's term, -1 of a stop word.
func (l *lexicon) of(word []byte) int32 {
	id := l.known.Number(word)
	if id < 0 {
		return -1
	}
	if n := int(id) + 1 - len(l.number); n > 0 {
		l.number = append(l.number, make([]int32, n)...)
	}
	if l.number[id] == 0 {
		l.met = append(l.met, id)
		l.number[id] = int32(len(l.met))
	}
	return l.number[id] - 1
}

// term is the term with a number.
func (l *lexicon) term(number int) string { return string(l.known.Terms().At(int(l.met[number]))) }

// read returns the terms of the first so many words of s, with repetitions; they stay
// until forget. It leaves in words how many were read, one more if there are more.
func (l *lexicon) read(s string, most int) []int32 {
	start := len(l.arena)
	l.words, l.most = 0, most
	l.analyzer.Words(s, l.add)
	return l.arena[start:len(l.arena):len(l.arena)]
}

// forget takes back the terms that were read last.
func (l *lexicon) forget(terms []int32) { l.arena = l.arena[:len(l.arena)-len(terms)] }

// reset begins another answer.
func (l *lexicon) reset() {
	for _, id := range l.met {
		l.number[id] = 0
	}
	l.met, l.arena = l.met[:0], l.arena[:0]
	l.known.Trim(maxKnown)
}
