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

// Vocabulary numbers distinct strings in the order of their first appearance. It
// is a table with linear probing over one arena of bytes: looking up a word
// allocates nothing, and reads the table alone unless the word is long. The zero value is empty.
type Vocabulary struct {
	table []slot // length a power of two, at most 3/4 full
	bytes []byte
	ends  []int // ends[i] is where string i ends in bytes

	sorted bool // the strings are in order, and there is no table
}

// Map replaces the strings by the adjacent ones of an arena, such as a file mapped into memory, which are in
// ascending order; ends[i] is the end of string i. None can be added, and the arguments belong to the vocabulary.
func (v *Vocabulary) Map(arena []byte, ends []int) {
	*v = Vocabulary{bytes: arena, ends: ends, sorted: true}
}

// slot is empty when its id is 0. Otherwise the low bits of id are the number of a string plus 1, and the high bits its
// length. A string of up to inSlot bytes is in the slot; of a longer one its hash is.
type slot struct {
	head uint64
	tail uint32
	id   uint32
}

const (
	inSlot      = 12
	longWord    = inSlot + 1 // the length of a longer one
	idBits      = 28
	mostStrings = 1<<idBits - 1
)

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
	if v.table == nil {
		return -1
	}
	key := keyFor(word)
	return int(v.probe(key, hashOf(key), word).id&mostStrings) - 1
}

// Add returns the number of a string, giving it the next one when it is new. A
// sorted vocabulary cannot be added to. It has room for 268,435,455 strings.
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

// fill puts a word that is new into its slot.
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

// clear forgets all strings and keeps the memory.
func (v *Vocabulary) clear() {
	clear(v.table)
	v.bytes, v.ends = v.bytes[:0], v.ends[:0]
}

// probe returns the slot of a word, or the empty one where it belongs. Only of a long word the bytes are read.
func (v *Vocabulary) probe(key slot, hash uint64, word []byte) *slot {
	for i := hash; ; i++ {
		s := &v.table[i&uint64(len(v.table)-1)]
		if s.id == 0 || s.head == key.head && s.tail == key.tail && s.id>>idBits == key.id>>idBits &&
			(key.id>>idBits <= inSlot || string(v.At(int(s.id&mostStrings)-1)) == string(word)) {
			return s
		}
	}
}

// keyFor is the slot of a word without its number.
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
	w, m := word[:inSlot], &keep[n] // what is behind the word is read, which needs no look at its length, and cut off
	return slot{head: binary.LittleEndian.Uint64(w) & m.head, tail: binary.LittleEndian.Uint32(w[8:]) & m.tail, id: uint32(n) << idBits}
}

// keep has the bits of a word of each length that is in a slot.
var keep = func() (masks [inSlot + 1]slot) {
	for n := range masks {
		masks[n].head = 1<<(8*min(n, 8)) - 1
		masks[n].tail = 1<<(8*max(n-8, 0)) - 1
	}
	return masks
}()

// seeds are of the process, so that the tables of all vocabularies have one order.
var seeds = [2]uint64{rand.Uint64(), rand.Uint64()}

// hashOf mixes a key with the seeds, so that colliding words cannot be constructed: the product
// of two numbers, folded, as in wyhash.
func hashOf(key slot) uint64 {
	hi, lo := bits.Mul64(key.head^seeds[0], (uint64(key.tail)<<32|uint64(key.id>>idBits))^seeds[1])
	return hi ^ lo
}

// long hashes a long word.
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
	clear(v.table) // touch new memory by writing: reading first costs a second page fault and a TLB shootdown
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
