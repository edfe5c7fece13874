// SPDX-License-Identifier: Apache-2.0

package text

import "encoding/binary"

// Numbering leads from words to the numbers of their terms, and asks the analyzer
// once for each distinct word. It is not safe for concurrent use.
type Numbering struct {
	terms    *Vocabulary
	fixed    bool
	analyzer Analyzer
	words    *Vocabulary // the terms, where each word is its own
	number   []int32     // of the term of each word, or -1, where it is not
	run      *run        // of words that are looked up together
}

// run are words one after the other. The slots where they belong are read for all of them
// before anything is decided, so that the processor waits for many at a time.
type run struct {
	keys    [128]slot
	hashes  [128]uint64
	numbers [128]int32
	long    []byte // the words that are not in their keys
	ends    []int  // of each in long
	yield   func(numbers []int32) bool
	n       int
	going   bool
	scanner scanner
}

// NewNumbering numbers the terms in the order of their first appearance.
func NewNumbering(a Analyzer) *Numbering {
	n := &Numbering{terms: NewVocabulary(), analyzer: a}
	if n.words = n.terms; !verbatim(a) {
		n.words = NewVocabulary()
	}
	return n
}

// verbatim reports whether each word is its own term.
func verbatim(a Analyzer) bool {
	s, ok := a.(*Standard)
	return ok && s.stems == nil && len(s.stop) == 0
}

// NewLookup knows the terms of a vocabulary only, which it does not change.
func NewLookup(a Analyzer, terms *Vocabulary) *Numbering {
	return &Numbering{terms: terms, fixed: true, analyzer: a, words: NewVocabulary()}
}

// Terms are the terms by their numbers.
func (n *Numbering) Terms() *Vocabulary { return n.terms }

// Number returns the number of a word's term, or -1: of a stop word, and in a
// lookup of a term that is not known.
func (n *Numbering) Number(word []byte) int32 {
	key := keyFor(word)
	return n.find(key, hash(key), word)
}

// find looks for a word, and asks the analyzer for the term of one that is new.
func (n *Numbering) find(key slot, hash uint64, word []byte) int32 {
	s := n.words.probe(key, hash, word)
	if s.id != 0 {
		return n.of(int32(s.id&mostStrings) - 1)
	}
	n.words.fill(s, key, word)
	if n.words != n.terms {
		n.number = append(n.number, n.look(string(word)))
	}
	return n.of(int32(n.words.Len()) - 1)
}

// of is the number of a word's term.
func (n *Numbering) of(word int32) int32 {
	if n.words == n.terms {
		return word
	}
	return n.number[word]
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
		sc := &r.scanner
		sc.begin(a, s)
		for r.going {
			if n.addShort(sc); r.n == len(r.keys) {
				n.flush()
			} else if sc.next() {
				n.add(sc.word)
			} else {
				break
			}
		}
		sc.s = ""
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
	key := keyFor(word)
	if len(word) > inSlot {
		r.long = append(r.long, word...)
		r.ends = append(r.ends, len(r.long))
	}
	r.keys[r.n], r.hashes[r.n] = key, hash(key)
	if r.n++; r.n == len(r.keys) {
		n.flush()
	}
}

// addShort puts the words to the run that come next in the page and are in their keys, as far
// as there is room.
func (n *Numbering) addShort(sc *scanner) {
	const above = 0x8080808080808080
	r := n.run
	edges := sc.page.edges[sc.edge:sc.edges]
	for ; sc.pos == sc.limit && len(edges) >= 2 && r.n < len(r.keys); edges = edges[2:] {
		from := edges[0]
		size := edges[1] - from
		if size > inSlot {
			break
		}
		key := keyOf((*[inSlot]byte)(sc.lower[from:]), int(size))
		if (key.head|uint64(key.tail))&above != 0 {
			break
		}
		r.keys[r.n], r.hashes[r.n] = key, hash(key)
		r.n++
	}
	sc.edge = sc.edges - len(edges)
}

// flush looks up the run and yields its numbers.
func (n *Numbering) flush() {
	r := n.run
	n.words.guess(r.keys[:r.n], r.hashes[:r.n], r.numbers[:r.n])
	long, start := 0, 0
	var room [inSlot]byte
	for i, known := range r.numbers[:r.n] {
		if known >= 0 {
			r.numbers[i] = n.of(known)
			continue
		}
		key := r.keys[i]
		binary.LittleEndian.PutUint64(room[:], key.head)
		binary.LittleEndian.PutUint32(room[8:], key.tail)
		word := room[:min(key.id>>idBits, inSlot)]
		if key.id>>idBits > inSlot {
			word = r.long[start:r.ends[long]]
			start = r.ends[long]
			long++
		}
		r.numbers[i] = n.find(key, r.hashes[i], word)
	}
	of := r.numbers[:r.n]
	r.n, r.long, r.ends = 0, r.long[:0], r.ends[:0]
	r.going = r.yield(of)
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
	if !n.fixed && n.words != n.terms {
		n.terms.clear()
	}
}
