// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxRead is how many bytes of text are kept as they were read, with some three times
// as many of what was read of them: a passage is evidence for many questions.
const maxRead = 16 << 20

// library is what was read of texts, and the numbers of all terms. It is safe for
// concurrent use.
type library struct {
	analyzer text.Analyzer

	mu       sync.Mutex
	readings map[source]*reading
	size     int
	numbers  *text.Numbering
	seen     []uint32 // of each term, the last text that has it
	texts    uint32
	room     []int32
}

func newLibrary(a text.Analyzer) *library {
	return &library{analyzer: a, readings: make(map[source]*reading), numbers: text.NewNumbering(a)}
}

// full tells whether there should be another library.
func (l *library) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size > maxRead
}

// read reads a text, once.
func (l *library) read(from source) *reading {
	l.mu.Lock()
	r := l.readings[from]
	l.mu.Unlock()
	if r != nil {
		return r
	}
	r = newReading(from, l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readings[from] == nil {
		l.readings[from] = r
		l.size += len(from.lead) + len(from.title) + len(from.text)
	}
	return l.readings[from]
}

// terms are those of a text, each once, in the order in which they come.
func (l *library) terms(s string) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.room, _ = l.list(l.room[:0], s, len(s))
	return slices.Clone(l.room)
}

// first appends the terms of the first words of a text to dst, and tells how many words
// there are, one more than most if there are more.
func (l *library) first(dst []int32, s string, most int) (list []int32, words int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.list(dst, s, most)
}

func (l *library) list(list []int32, s string, most int) (_ []int32, words int) {
	l.texts++
	if l.texts == 0 {
		clear(l.seen)
		l.texts = 1
	}
	l.analyzer.Words(s, func(word []byte) bool {
		words++
		id := l.numbers.Number(word)
		if n := int(id) + 1 - len(l.seen); n > 0 {
			l.seen = append(l.seen, make([]uint32, n)...)
		}
		if id >= 0 && l.seen[id] != l.texts {
			l.seen[id] = l.texts
			list = append(list, id)
		}
		return words <= most
	})
	return list, words
}

// number is that of a word's term, -1 of a stop word.
func (l *library) number(word []byte) int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers.Number(word)
}

// term is the term with a number.
func (l *library) term(number int32) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.numbers.Terms().At(int(number)))
}

// lexicon numbers the terms of one answer from 0 in the order in which they are met,
// those of the question first, whatever was read before.
type lexicon struct {
	known  *library
	number []int32 // of each known term, its number here + 1; 0 of those not met
	met    []int32 // of each number here, that of the known term
	arena  []int32 // terms
}

// begin begins another answer.
func (l *lexicon) begin(known *library) {
	if l.known != known {
		l.known, l.number = known, nil
	}
}

// of is the number of a word's term, -1 of a stop word.
func (l *lexicon) of(word []byte) int32 {
	if id := l.known.number(word); id >= 0 {
		return l.place(id)
	}
	return -1
}

// place is the number of a known term.
func (l *lexicon) place(id int32) int32 {
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
func (l *lexicon) term(number int) string { return l.known.term(l.met[number]) }

// local are the numbers of known terms; they stay until forget.
func (l *lexicon) local(known []int32) []int32 {
	start := len(l.arena)
	for _, id := range known {
		l.arena = append(l.arena, l.place(id))
	}
	return l.arena[start:len(l.arena):len(l.arena)]
}

// forget takes back the terms that were numbered last.
func (l *lexicon) forget(terms []int32) { l.arena = l.arena[:len(l.arena)-len(terms)] }

// reset ends an answer.
func (l *lexicon) reset() {
	for _, id := range l.met {
		l.number[id] = 0
	}
	l.met, l.arena = l.met[:0], l.arena[:0]
}
