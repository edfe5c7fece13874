// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"maps"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// lexicon is learned from a corpus: how its words are written where a capital means something,
// which names its prose contains, and which lines its pages share. While chunks are read it does
// not change, and is safe for concurrent use.
type lexicon struct {
	words   map[string]int32 // lower case → number, from 1; words of the tables first
	class   []class          // by number
	counts  []counts         // by number
	writing []writing        // by number
	names   map[uint64]int32 // key of a name → how often prose has it
	total   int              // of all names
	large   bool             // enough names that a word seen once means little
	lines   map[uint64]bool  // hashes of lines that several documents share
	tables  *tables
	places  map[uint64]bool // keys of the places of the tables; true for those that contain others
}

// counts of a word inside sentences: in small letters, and with a capital.
type counts struct{ small, capital uint32 }

// writing is how a corpus writes a word inside sentences, as far as rules go by it: a set of
// bits. No rule goes by the counts themselves, so what was read stays true until a bit changes.
type writing uint8

const (
	known         writing = 1 << iota // it is in the tables or in a sentence
	everSmall                         // in small letters
	everCapital                       // with a capital
	oftenCapital                      // with a capital, twice
	halfCapital                       // with a capital as often as in small letters
	mostlyCapital                     // with a capital four times as often
	common                            // mostly in small letters
	proper                            // nearly always with a capital, and seen so
)

func (n counts) writing() (w writing) {
	for i, is := range [...]bool{
		n.small+n.capital > 0, n.small > 0, n.capital > 0, n.capital > 1, n.capital >= n.small, n.capital >= 4*n.small,
		n.small >= 2 && n.small*2 > n.capital, n.capital >= 2 && n.capital >= 9*n.small,
	} {
		if is {
			w |= 1 << i
		}
	}
	return w
}

// newLexicon returns a lexicon of the closed tables alone, to be filled.
func newLexicon() *lexicon {
	l := *tableLexicon()
	l.words, l.class = maps.Clone(l.words), slices.Clone(l.class)
	l.counts, l.writing = make([]counts, len(l.class)), slices.Clone(l.writing)
	l.names, l.lines = map[uint64]int32{}, map[uint64]bool{}
	return &l
}

// tableLexicon numbers the words of the tables and keys their places, once.
var tableLexicon = sync.OnceValue(func() *lexicon {
	t := loadTables()
	l := &lexicon{words: make(map[string]int32, 2*len(t.classes)), class: make([]class, 1, len(t.classes)+1), places: map[uint64]bool{}, tables: t}
	for _, word := range t.words {
		l.words[word] = int32(len(l.class))
		l.class = append(l.class, t.classes[word])
	}
	l.writing = slices.Repeat([]writing{known | counts{}.writing()}, len(l.class))
	l.writing[0] = counts{}.writing()
	x := newSentence(l)
	for i, name := range t.places {
		x.cut(name, text.Span{End: len(name)})
		l.places[x.key(0, len(x.tokens))] = i < t.regions
	}
	return l
})

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
