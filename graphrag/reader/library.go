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
