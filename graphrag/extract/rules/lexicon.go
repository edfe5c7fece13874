// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Lexicon is what [Learn] found out about a corpus: how its words are written
// where a capital means something, which names its prose holds, and which lines
// its pages share. It does not change and is safe for concurrent use.
type Lexicon struct {
	words   map[string]int32 // lower case → number, from 1
	class   []class          // by number
	small   []uint32         // inside sentences: in small letters
	capital []uint32         // inside sentences: with a capital
	names   map[uint64]int32 // key of a name → how often prose has it
	large   bool             // enough names that a word seen once means little
	lines   map[uint64]bool  // hashes of lines that several documents share
	tables  *tables
	places  map[uint64]bool // keys of the places of the tables; true for those that hold others
}

// newLexicon returns a lexicon of the closed tables alone, to be filled.
func newLexicon() *Lexicon {
	l := *tableLexicon()
	l.words, l.class = maps.Clone(l.words), slices.Clone(l.class)
	l.small, l.capital = make([]uint32, len(l.class)), make([]uint32, len(l.class))
	l.names, l.lines = map[uint64]int32{}, map[uint64]bool{}
	return &l
}

// tableLexicon numbers the words of the tables and keys their places, once.
var tableLexicon = sync.OnceValue(func() *Lexicon {
	t := loadTables()
	l := &Lexicon{words: make(map[string]int32, 2*len(t.classes)), class: make([]class, 1, len(t.classes)+1), places: map[uint64]bool{}, tables: t}
	for _, word := range t.words {
		l.words[word] = int32(len(l.class))
		l.class = append(l.class, t.classes[word])
	}
	l.small, l.capital = make([]uint32, len(l.class)), make([]uint32, len(l.class))
	x := newSentence(l)
	for i, name := range t.places {
		x.cut(name, text.Span{End: len(name)})
		l.places[x.key(0, len(x.tokens))] = i < t.regions
	}
	return l
})

// common reports whether a word is mostly written in small letters.
func (l *Lexicon) common(word int32) bool {
	return l.small[word] >= 2 && l.small[word]*2 > l.capital[word]
}

// proper reports whether a word is nearly always written with a capital, and was
// seen so.
func (l *Lexicon) proper(word int32) bool {
	return l.capital[word] >= 2 && l.capital[word] >= 9*l.small[word]
}

// hashLine is FNV-1a over the bytes of a line.
func hashLine(s string) uint64 {
	h := uint64(fnvOffset)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * fnvPrime
	}
	return h
}

const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// sharedLine reports whether the line of a text that holds the byte at stands in
// several documents.
func (l *Lexicon) sharedLine(s string, at int) bool {
	if len(l.lines) == 0 {
		return false
	}
	start := strings.LastIndexByte(s[:at], '\n') + 1
	line, _, _ := strings.Cut(s[start:], "\n")
	return l.lines[hashLine(strings.TrimSpace(line))]
}
