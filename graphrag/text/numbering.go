// SPDX-License-Identifier: Apache-2.0

package text

import "encoding/binary"

// Numbering leads from words to the numbers of their terms, and asks the analyzer
// once for each distinct word. It is not safe for concurrent use.
type Numbering struct {
	terms    *Vocabulary
	fixed    bool
	analyzer Analyzer
	words    Vocabulary
	number   []int32 // of the term of each word, or -1
	run      *run    // of words that are looked up together
}

// run are words one after the other. What a slot holds of each is found first for all of
// them, then the slots are read, so that the processor waits for many at a time.
type run struct {
	keys    [64]slot
	hashes  [64]uint64
	numbers [64]int32
	long    []byte // the words that are not in their keys
	ends    []int  // of each in long
	yield   func(numbers []int32) bool
	n       int
	going   bool
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
	key := n.words.key(word)
	s := n.words.probe(key, n.words.hash(key), word)
	if s.id == 0 {
		return n.learn(word, s, key)
	}
	return n.number[s.id&mostStrings-1]
}

// Text yields the numbers of the words of a text in their order, some at a time, until
// yield returns false. The slice is only valid until then.
func (n *Numbering) Text(s string, yield func(numbers []int32) bool) {
	if n.run == nil {
		n.run = new(run)
	}
	r := n.run
	r.n, r.long, r.ends, r.yield, r.going = 0, r.long[:0], r.ends[:0], yield, true
	if a, ok := n.analyzer.(*Standard); ok {
		sc := a.scan(s)
		for r.going && sc.next() {
			n.add(sc.word)
		}
		a.release(sc)
	} else {
		n.analyzer.Words(s, func(word []byte) bool {
			n.add(word)
			return r.going
		})
	}
	if r.going && r.n > 0 {
		n.flush()
	}
	r.yield = nil
}

// add puts a word to the run.
func (n *Numbering) add(word []byte) {
	r := n.run
	key := n.words.key(word)
	if len(word) > inSlot {
		r.long = append(r.long, word...)
		r.ends = append(r.ends, len(r.long))
	}
	r.keys[r.n], r.hashes[r.n] = key, n.words.hash(key)
	if r.n++; r.n == len(r.keys) {
		n.flush()
	}
}

// flush looks up the run and yields its numbers.
func (n *Numbering) flush() {
	r := n.run
	long, start := 0, 0
	var room [inSlot]byte
	for i := range r.n {
		key := r.keys[i]
		var word []byte
		if key.id>>idBits > inSlot {
			word = r.long[start:r.ends[long]]
			start = r.ends[long]
			long++
		}
		s := n.words.probe(key, r.hashes[i], word)
		if s.id == 0 {
			if word == nil {
				binary.LittleEndian.PutUint64(room[:], key.head)
				binary.LittleEndian.PutUint32(room[8:], key.tail)
				word = room[:key.id>>idBits]
			}
			r.numbers[i] = n.learn(word, s, key)
			continue
		}
		r.numbers[i] = n.number[s.id&mostStrings-1]
	}
	of := r.numbers[:r.n]
	r.n, r.long, r.ends = 0, r.long[:0], r.ends[:0]
	r.going = r.yield(of)
}

// learn asks the analyzer for the term of a word that is new and belongs into a slot.
func (n *Numbering) learn(word []byte, s *slot, key slot) int32 {
	n.words.fill(s, key, word)
	t := n.look(string(word))
	n.number = append(n.number, t)
	return t
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
