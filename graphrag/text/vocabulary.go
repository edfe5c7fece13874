// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"hash/maphash"
	"sort"
)

// Vocabulary numbers distinct strings in the order of their first appearance. It
// is a table with linear probing over one arena of bytes: looking up a word
// allocates nothing.
type Vocabulary struct {
	seed  maphash.Seed
	table []slot // length a power of two, at most 3/4 full
	bytes []byte
	ends  []int // ends[i] is where string i ends in bytes

	sorted bool // the strings are in order, and there is no table
}

// SortedVocabulary is the vocabulary of strings that lie one after the other in an
// arena, such as a file mapped into memory, in ascending order; ends[i] is where
// string i ends. None can be added, and the arguments belong to the vocabulary.
func SortedVocabulary(arena []byte, ends []int) *Vocabulary {
	return &Vocabulary{bytes: arena, ends: ends, sorted: true}
}

// slot is empty when its id is 0; otherwise it holds string id-1.
type slot struct {
	hash uint32
	id   uint32
}

// NewVocabulary returns an empty vocabulary.
func NewVocabulary() *Vocabulary {
	return &Vocabulary{seed: maphash.MakeSeed(), table: make([]slot, 1<<10)}
}

// Len is the number of strings.
func (v *Vocabulary) Len() int { return len(v.ends) }

// At returns string i; it must not be modified.
func (v *Vocabulary) At(i int) []byte {
	start, end := 0, v.ends[i]
	if i > 0 {
		start = v.ends[i-1]
	}
	if uint(start) > uint(end) || uint(end) > uint(len(v.bytes)) {
		return nil // the ends of a file are not trusted
	}
	return v.bytes[start:end:end]
}

// Find returns the number of a string, or -1.
func (v *Vocabulary) Find(word []byte) int {
	if v.sorted {
		i := sort.Search(v.Len(), func(i int) bool { return bytes.Compare(v.At(i), word) >= 0 })
		if i < v.Len() && bytes.Equal(v.At(i), word) {
			return i
		}
		return -1
	}
	return int(v.slot(uint32(maphash.Bytes(v.seed, word)), word).id) - 1
}

// Add returns the number of a string, giving it the next one when it is new. A
// sorted vocabulary cannot be added to.
func (v *Vocabulary) Add(word []byte) (number int, added bool) {
	h := uint32(maphash.Bytes(v.seed, word))
	s := v.slot(h, word)
	if s.id != 0 {
		return int(s.id) - 1, false
	}
	v.bytes = append(v.bytes, word...)
	v.ends = append(v.ends, len(v.bytes))
	*s = slot{hash: h, id: uint32(len(v.ends))}
	if len(v.ends) > len(v.table)/4*3 {
		v.grow()
	}
	return len(v.ends) - 1, true
}

// clear forgets all strings and keeps the memory.
func (v *Vocabulary) clear() {
	clear(v.table)
	v.bytes, v.ends = v.bytes[:0], v.ends[:0]
}

// slot returns where the word is, or the empty slot where it belongs.
func (v *Vocabulary) slot(h uint32, word []byte) *slot {
	mask := uint32(len(v.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &v.table[i]
		if s.id == 0 || s.hash == h && string(v.At(int(s.id)-1)) == string(word) {
			return s
		}
	}
}

func (v *Vocabulary) grow() {
	old := v.table
	v.table = make([]slot, 2*len(old))
	mask := uint32(len(v.table) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash & mask
		for v.table[i].id != 0 {
			i = (i + 1) & mask
		}
		v.table[i] = s
	}
}

// Numbering leads from words to the numbers of their terms, and asks the analyzer
// once for each distinct word. It is not safe for concurrent use.
type Numbering struct {
	terms    *Vocabulary
	fixed    bool
	analyzer Analyzer
	words    Vocabulary
	number   []int32 // of the term of each word, or -1
}

// NewNumbering numbers the terms in the order of their first appearance.
func NewNumbering(a Analyzer) *Numbering {
	return &Numbering{terms: NewVocabulary(), analyzer: a, words: *NewVocabulary()}
}

// NewLookup knows the terms of a vocabulary only, which it does not change.
func NewLookup(a Analyzer, terms *Vocabulary) *Numbering {
	return &Numbering{terms: terms, fixed: true, analyzer: a, words: *NewVocabulary()}
}

// Terms are the terms by their numbers.
func (n *Numbering) Terms() *Vocabulary { return n.terms }

// Number returns the number of a word's term, or -1: of a stop word, and in a
// lookup of a term that is not known.
func (n *Numbering) Number(word []byte) int32 {
	w, added := n.words.Add(word)
	if added {
		n.number = append(n.number, n.look(string(word)))
	}
	return n.number[w]
}

func (n *Numbering) look(word string) int32 {
	term, ok := n.analyzer.Term(word)
	if !ok {
		return -1
	}
	if n.fixed {
		return int32(n.terms.Find([]byte(term)))
	}
	t, _ := n.terms.Add([]byte(term))
	return int32(t)
}

// Trim forgets everything, but the terms of a lookup, once it knows more than so
// many distinct words.
func (n *Numbering) Trim(words int) {
	if n.words.Len() <= words {
		return
	}
	n.words.clear()
	n.number = n.number[:0]
	if !n.fixed {
		n.terms.clear()
	}
}
