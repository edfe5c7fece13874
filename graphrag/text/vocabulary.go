// SPDX-License-Identifier: Apache-2.0

package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
)

// Vocabulary numbers distinct strings in the order of their first appearance. It is a hash table with linear
// probing over one array of bytes: looking up a word does not allocate, and reads only the table unless the
// word is long. The zero value is empty.
type Vocabulary struct {
	table []slot // its length is a power of two; at most 3/4 of it is used
	bytes []byte
	ends  []int // ends[i] is the offset after string i in bytes

	sorted bool // the strings are sorted, and there is no table
}

// Map replaces the strings by the consecutive strings of an array of bytes, such as a file mapped into memory.
// They must be in ascending order; ends[i] is the end of string i. No string can be added afterwards, and the
// caller must not change the arguments.
func (v *Vocabulary) Map(arena []byte, ends []int) {
	*v = Vocabulary{bytes: arena, ends: ends, sorted: true}
}

// slot is empty if its id is 0. Otherwise the low bits of id are the number of a string plus 1, the high bits
// its length. A string of up to inSlot bytes is stored in the slot, of a longer one only its hash.
type slot struct {
	head uint64
	tail uint32
	id   uint32
}

const (
	inSlot      = 12
	longWord    = inSlot + 1 // length recorded for all longer strings
	idBits      = 28
	mostStrings = 1<<idBits - 1
)

// Len returns the number of strings.
func (v *Vocabulary) Len() int { return len(v.ends) }

// At returns string i; it must not be modified.
func (v *Vocabulary) At(i int) []byte {
	start, end := 0, v.ends[i]
	if i > 0 {
		start = v.ends[i-1]
	}
	if uint(start) > uint(end) || uint(end) > uint(len(v.bytes)) {
		return nil // the ends may come from a damaged file
	}
	return v.bytes[start:end:end]
}

// Find returns the number of a string, or -1 if it was not added.
func (v *Vocabulary) Find(word []byte) int {
	if v.sorted {
		i := sort.Search(v.Len(), func(i int) bool { return bytes.Compare(v.At(i), word) >= 0 })
		if i < v.Len() && bytes.Equal(v.At(i), word) {
			return i
		}
		return -1
	}
	if v.table == nil {
		return -1
	}
	key := keyFor(word)
	return int(v.probe(key, hashOf(key), word).id&mostStrings) - 1
}

// Add returns the number of a string, and adds a new one with the next number. The strings must not come from
// Map. There can be 268,435,455 strings.
func (v *Vocabulary) Add(word []byte) (number int, added bool) {
	if v.table == nil {
		v.table = make([]slot, 1<<6)
	}
	key := keyFor(word)
	s := v.probe(key, hashOf(key), word)
	if s.id != 0 {
		return int(s.id&mostStrings) - 1, false
	}
	v.fill(s, key, word)
	return len(v.ends) - 1, true
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

// fill stores a new word in an empty slot.
func (v *Vocabulary) fill(s *slot, key slot, word []byte) {
	if len(v.ends) == mostStrings {
		panic("text: a vocabulary of more than 268,435,455 strings")
	}
	v.bytes = append(v.bytes, word...)
	v.ends = append(v.ends, len(v.bytes))
	key.id |= uint32(len(v.ends))
	*s = key
	if len(v.ends) > len(v.table)/4*3 {
		v.grow()
	}
}

// clear removes all strings and keeps the memory.
func (v *Vocabulary) clear() {
	clear(v.table)
	v.bytes, v.ends = v.bytes[:0], v.ends[:0]
}

// probe returns the slot of a word, or the empty slot where it belongs. It compares bytes of long words only.
func (v *Vocabulary) probe(key slot, hash uint64, word []byte) *slot {
	for i := hash; ; i++ {
		s := &v.table[i&uint64(len(v.table)-1)]
		if s.id == 0 || s.head == key.head && s.tail == key.tail && s.id>>idBits == key.id>>idBits &&
			(key.id>>idBits <= inSlot || string(v.At(int(s.id&mostStrings)-1)) == string(word)) {
			return s
		}
	}
}

// keyFor returns the slot of a word without its number.
func keyFor(word []byte) slot {
	n := len(word)
	if n > inSlot {
		return slot{head: long(word), tail: uint32(n), id: longWord << idBits}
	}
	if cap(word) < inSlot {
		var room [inSlot]byte
		copy(room[:], word)
		word = room[:]
	}
	w, m := word[:inSlot], &keep[n] // reads inSlot bytes and masks those after the word, which avoids a branch on the length
	return slot{head: binary.LittleEndian.Uint64(w) & m.head, tail: binary.LittleEndian.Uint32(w[8:]) & m.tail, id: uint32(n) << idBits}
}

// keep has, for each length up to inSlot, a mask of the bytes of a word in a slot.
var keep = func() (masks [inSlot + 1]slot) {
	for n := range masks {
		masks[n].head = 1<<(8*min(n, 8)) - 1
		masks[n].tail = 1<<(8*max(n-8, 0)) - 1
	}
	return masks
}()

// seeds are chosen once in a process, so that equal vocabularies have equal tables.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64()}

// hashOf mixes a key with the seeds, so that colliding words cannot be constructed. It folds the
// product of two numbers, as wyhash does.
func hashOf(key slot) uint64 {
	hi, lo := bits.Mul64(key.head^seeds[0], (uint64(key.tail)<<32|uint64(key.id>>idBits))^seeds[1])
	return hi ^ lo
}

// long returns the hash of a long word.
func long(word []byte) uint64 {
	h := seeds[1]
	for ; len(word) >= 8; word = word[8:] {
		hi, lo := bits.Mul64(binary.LittleEndian.Uint64(word)^seeds[0], h)
		h = hi ^ lo ^ seeds[1]
	}
	var rest [8]byte
	copy(rest[:], word)
	hi, lo := bits.Mul64(binary.LittleEndian.Uint64(rest[:])^seeds[0], h)
	return hi ^ lo
}

func (v *Vocabulary) grow() {
	old := v.table
	v.table = make([]slot, 2*len(old))
	clear(v.table) // write to new memory first: reading it first costs a second page fault and a TLB shootdown
	v.ends = append(make([]int, 0, len(v.table)/4*3+1), v.ends...)
	v.bytes = slices.Grow(v.bytes, len(v.bytes))
	mask := uint64(len(v.table) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := hashOf(s) & mask
		for v.table[i].id != 0 {
			i = (i + 1) & mask
		}
		v.table[i] = s
	}
}

// Numbering maps words to the numbers of their terms, and asks the analyzer once for each distinct word. It is
// not safe for concurrent use.
type Numbering struct {
	each     map[*Standard]*Numbering // a numbering for each language, nil if there is a single one
	terms    *Vocabulary
	fixed    bool
	analyzer Analyzer
	words    *Vocabulary
	number   []int32 // number of the term of each word, -1 for none

	// The state of a call of Text: numbers that were not yielded yet.
	room  []int32
	yield func(numbers []int32) bool
	going bool
	take  func(word []byte) bool // the method add, kept to avoid allocations
}

// Numbering returns a numbering that adds new terms to the vocabulary, in the order of their first appearance.
func (v *Vocabulary) Numbering(a Analyzer) *Numbering { return newNumbering(a, v, false) }

// Lookup returns a numbering that knows only the terms of the vocabulary, and does not change it.
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

// In returns the numbering for a language, with the same terms (see [Standard.In]).
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

// Terms returns the vocabulary of the terms.
func (n *Numbering) Terms() *Vocabulary { return n.terms }

// Number returns the number of a word's term; -1 for a stop word, and for a term that a lookup does not know.
func (n *Numbering) Number(word []byte) int32 { return n.In("").find(word) }

// find returns the number of a word's term, and asks the analyzer only for a new word.
func (n *Numbering) find(word []byte) int32 {
	number, added := n.words.Add(word)
	if added {
		n.number = append(n.number, n.look(string(word)))
	}
	return n.number[number]
}

// atOnce is the number of terms in one call of yield.
const atOnce = 128

// Text yields the numbers of the terms of a text in the order of its words, several in each call, until yield
// returns false. The language of the text is used. The slice is valid until yield returns.
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

// add adds the number of the next word of a text.
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

// Trim empties the numbering if it has more distinct words than the given number. The terms of a lookup stay.
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
