// SPDX-License-Identifier: Apache-2.0

package text

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// memory holds the stems of the words that were asked for last: questions and the
// triples around them have the same few words again and again, and a stem takes a
// microsecond. Each word has one slot, which it shares with others. It changes no
// result, and nobody waits for it.
type memory struct {
	seed  maphash.Seed
	slots [1 << 16]atomic.Pointer[stemmed]
}

type stemmed struct{ word, stem string }

// remembered is the stemmer of a language, with a memory.
func (l lexiconOf) remembered() func(word string) string {
	if l.stem == nil {
		return nil
	}
	m := &memory{seed: maphash.MakeSeed()}
	return func(word string) string {
		slot := &m.slots[maphash.String(m.seed, word)%uint64(len(m.slots))]
		if last := slot.Load(); last != nil && last.word == word {
			return last.stem
		}
		word = strings.Clone(word) // it may be a part of a long text
		s := &stemmed{word, l.stem(word)}
		slot.Store(s)
		return s.stem
	}
}
