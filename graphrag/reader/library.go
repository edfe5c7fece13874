// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxRead bounds the cached texts in bytes; the parsed readings take about three
// times as much. A passage is evidence for many questions.
const maxRead = 16 << 20

// library caches parsed texts and numbers all their terms. It is safe for concurrent use.
type library struct {
	analyzer text.Analyzer

	mu       sync.Mutex
	readings map[shownText]*reading
	size     int
	numbers  *text.Numbering
	seen     []uint32 // by term: the last text that contains it
	texts    uint32
	room     []int32
}

func newLibrary(a text.Analyzer) *library {
	return &library{analyzer: a, readings: make(map[shownText]*reading), numbers: new(text.Vocabulary).Numbering(a)}
}

// full reports whether the library should be replaced by an empty one.
func (l *library) full() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.size > maxRead
}

// read parses a text, or returns its cached reading.
func (l *library) read(from shownText) *reading {
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

// terms returns the terms of a text, each once, in the order of the text.
func (l *library) terms(s string) []int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.room, _ = l.list(l.room[:0], s, len(s))
	return slices.Clone(l.room)
}

// first appends the terms of the first most words of a text to dst, and returns the number
// of words, most+1 if there are more.
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

// number returns the number of a word's term, -1 for a stop word.
func (l *library) number(word []byte) int32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.numbers.Number(word)
}

// term returns the term with a number.
func (l *library) term(number int32) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.numbers.Terms().At(int(number)))
}

// lexicon numbers the terms of one answer from 0 in the order of their occurrence, those
// of the question first, independently of the library's numbers.
type lexicon struct {
	known  *library
	number []int32 // by number in the library: the number here + 1, or 0
	met    []int32 // by number here: the number in the library
	arena  []int32 // memory of the lists that local returns
}

// begin prepares the lexicon for an answer.
func (l *lexicon) begin(known *library) {
	if l.known != known {
		l.known, l.number = known, nil
	}
}

// place returns the number here of a term of the library.
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

// local returns the numbers here of terms of the library, in memory of the arena.
func (l *lexicon) local(known []int32) []int32 {
	start := len(l.arena)
	for _, id := range known {
		l.arena = append(l.arena, l.place(id))
	}
	return l.arena[start:len(l.arena):len(l.arena)]
}

// forget frees the last list that local returned.
func (l *lexicon) forget(terms []int32) { l.arena = l.arena[:len(l.arena)-len(terms)] }

// reset ends an answer.
func (l *lexicon) reset() {
	for _, id := range l.met {
		l.number[id] = 0
	}
	l.met, l.arena = l.met[:0], l.arena[:0]
}
