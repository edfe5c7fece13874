// SPDX-License-Identifier: Apache-2.0

package text

import (
	"hash/maphash"
	"sync"
)

// memory holds the terms of words that were asked for: the same words come again in every
// index, and a stem takes a microsecond. Each word has one place, which it shares with
// others: who comes last has it. It changes no result. There are no pointers in its shelves.
type memory struct {
	seed    maphash.Seed
	make    func(word string) string
	shelves [1 << 8]shelf
}

// shelf is a part of a memory.
type shelf struct {
	mu    sync.Mutex
	words [1 << 10]stemmed
}

// stemmed is a word and its term, which is the beginning of the word and a tail: happ(y), i;
// both are empty of a stop word. Longer ones are stemmed each time. Two have place in a line
// of a cache.
type stemmed struct {
	word  [24]byte
	tail  [5]byte
	size  uint8 // of the word, 0 for none
	begin uint8
	tails uint8
}

func newMemory(make func(word string) string) *memory {
	return &memory{seed: maphash.MakeSeed(), make: make}
}

// of is what is made of a word.
func (m *memory) of(word string) string {
	if len(word) > len(stemmed{}.word) {
		return m.make(word)
	}
	h := maphash.String(m.seed, word)
	s := &m.shelves[h%uint64(len(m.shelves))]
	at := &s.words[h>>32%uint64(len(s.words))]
	s.mu.Lock()
	last := *at
	s.mu.Unlock()
	if last.size > 0 && string(last.word[:last.size]) == word {
		return last.of(word)
	}
	term := m.make(word)
	if next, ok := remember(word, term); ok {
		s.mu.Lock()
		*at = next
		s.mu.Unlock()
	}
	return term
}

// remember puts down a word and its term; not ok if there is no room.
func remember(word, term string) (s stemmed, ok bool) {
	begin := 0
	for begin < min(len(word), len(term)) && word[begin] == term[begin] {
		begin++
	}
	s.size, s.begin = uint8(copy(s.word[:], word)), uint8(begin)
	s.tails = uint8(copy(s.tail[:], term[begin:]))
	return s, int(s.tails) == len(term)-begin
}

// of is the term of the word. Most are a part of it.
func (s *stemmed) of(word string) string {
	if s.tails == 0 {
		return word[:s.begin]
	}
	return word[:s.begin] + string(s.tail[:s.tails])
}
