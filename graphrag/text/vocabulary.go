// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"sort"
)

// Vocabulary numbers distinct strings in the order of their first appearance. Looking up a word
// allocates nothing. The zero value is empty.
type Vocabulary struct {
	numbers map[string]int32
	bytes   []byte
	ends    []int // ends[i] is where string i ends in bytes

	sorted bool // the strings are in order, and there is no map
}

// Map replaces the strings by the adjacent ones of an arena, such as a file mapped into memory, which are in
// ascending order; ends[i] is the end of string i. None can be added, and the arguments belong to the vocabulary.
func (v *Vocabulary) Map(arena []byte, ends []int) {
	*v = Vocabulary{bytes: arena, ends: ends, sorted: true}
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
	if number, ok := v.numbers[string(word)]; ok {
		return int(number)
	}
	return -1
}

// Add returns the number of a string, giving it the next one when it is new. A
// sorted vocabulary cannot be added to.
func (v *Vocabulary) Add(word []byte) (number int, added bool) {
	if number, ok := v.numbers[string(word)]; ok {
		return int(number), false
	}
	if v.numbers == nil {
		v.numbers = make(map[string]int32)
	}
	number = len(v.ends)
	v.numbers[string(word)] = int32(number)
	v.bytes = append(v.bytes, word...)
	v.ends = append(v.ends, len(v.bytes))
	return number, true
}

// AddAll adds the strings of another vocabulary in their order, and returns the number of each.
func (v *Vocabulary) AddAll(of *Vocabulary) []int32 {
	numbers := make([]int32, of.Len())
	for t := range numbers {
		number, _ := v.Add(of.At(t))
		numbers[t] = int32(number)
	}
	return numbers
}

// clear forgets all strings and keeps the memory.
func (v *Vocabulary) clear() {
	clear(v.numbers)
	v.bytes, v.ends = v.bytes[:0], v.ends[:0]
}

// Numbering leads from words to the numbers of their terms, and asks the analyzer
// once for each distinct word. It is not safe for concurrent use.
type Numbering struct {
	each     map[*Standard]*Numbering // one for each language; nil: this one has a single language
	terms    *Vocabulary
	fixed    bool
	analyzer Analyzer
	words    *Vocabulary
	number   []int32 // of the term of each word; -1 for none

	// Of the text that is being read: numbers that were not yielded yet.
	room  []int32
	yield func(numbers []int32) bool
	going bool
	take  func(word []byte) bool // is add
}

// Numbering returns a numbering that adds new terms to the vocabulary, in the order of their first appearance.
func (v *Vocabulary) Numbering(a Analyzer) *Numbering { return newNumbering(a, v, false) }

// Lookup returns a numbering that knows the terms of the vocabulary only, and does not change it.
func (v *Vocabulary) Lookup(a Analyzer) *Numbering { return newNumbering(a, v, true) }

func newNumbering(a Analyzer, terms *Vocabulary, fixed bool) *Numbering {
	n := &Numbering{terms: terms, fixed: fixed, analyzer: a, words: new(Vocabulary)}
	if s, ok := a.(*Standard); ok && s.each != nil {
		n.each = make(map[*Standard]*Numbering)
	}
	return n
}

// For returns the numbering for the language of a text, with the same terms.
func (n *Numbering) For(s string) *Numbering {
	if n.each == nil {
		return n
	}
	return n.In(LanguageOf(s))
}

// In returns the numbering for a language, with the same terms; see [Standard.In].
func (n *Numbering) In(l Language) *Numbering {
	if n.each == nil {
		return n
	}
	a := n.analyzer.(*Standard).In(l)
	if n.each[a] == nil {
		n.each[a] = newNumbering(a, n.terms, n.fixed)
	}
	return n.each[a]
}

// Terms are the terms by their numbers.
func (n *Numbering) Terms() *Vocabulary { return n.terms }

// Number returns the number of a word's term, or -1: of a stop word, and in a lookup of a term that is not known.
func (n *Numbering) Number(word []byte) int32 { return n.In("").find(word) }

// find looks for a word, and asks the analyzer for the term of one that is new.
func (n *Numbering) find(word []byte) int32 {
	number, added := n.words.Add(word)
	if added {
		n.number = append(n.number, n.look(string(word)))
	}
	return n.number[number]
}

// atOnce is the number of terms that Text yields at a time.
const atOnce = 128

// Text yields the numbers of the words of a text in their order, some at a time, until
// yield returns false, in the language of the text. The slice is only valid until then.
func (n *Numbering) Text(s string, yield func(numbers []int32) bool) {
	n = n.For(s)
	if n.take == nil {
		n.take, n.room = n.add, make([]int32, 0, atOnce)
	}
	n.room, n.yield, n.going = n.room[:0], yield, true
	n.analyzer.Words(s, n.take)
	if n.going && len(n.room) > 0 {
		n.yield(n.room)
	}
	n.yield = nil
}

// add takes the next word of a text.
func (n *Numbering) add(word []byte) bool {
	n.room = append(n.room, n.find(word))
	if len(n.room) == atOnce {
		n.going = n.yield(n.room)
		n.room = n.room[:0]
	}
	return n.going
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

// Trim empties the numbering, but for the terms of a lookup, once it has more than words distinct words.
func (n *Numbering) Trim(words int) {
	known := n.words.Len()
	for _, in := range n.each {
		known += in.words.Len()
	}
	if known <= words {
		return
	}
	n.words.clear()
	n.number = n.number[:0]
	clear(n.each)
	if !n.fixed {
		n.terms.clear()
	}
}
