// SPDX-License-Identifier: Apache-2.0

package text

import (
	"fmt"
	"strings"
	"sync"
	"testing"
)

// The memory says what the stemmer says, the first time and again, of words that have one
// place, that are too long for it, and whose stem is no beginning of them.
func TestMemory(t *testing.T) {
	for _, l := range Languages() {
		lexicon, _ := lexicon(l)
		if lexicon.stem == nil {
			continue
		}
		m := newMemory(lexicon.stem)
		words := strings.Fields("happy skies running généralement häuser archaïque étés ёлками " + strings.Repeat("long", 20))
		for i := range 1 << 12 {
			words = append(words, fmt.Sprintf("word%cing", 'a'+i%26)+strings.Repeat("e", i%32)+fmt.Sprint(i))
		}
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				for _, w := range append(words, words...) {
					if got, want := m.of(w), lexicon.stem(w); got != want {
						t.Errorf("%s: the stem of %q is %q, want %q", l, w, got, want)
						return
					}
				}
			})
		}
		all.Wait()
	}
}

func TestRemember(t *testing.T) {
	for _, c := range []struct {
		word, stem string
		ok         bool
	}{
		{"running", "run", true}, {"happy", "happi", true}, {"abcdef", "xyzab", true}, {"abcdef", "xyzabc", false}, {"run", "run", true}, {"the", "", true},
	} {
		s, ok := remember(c.word, c.stem)
		if ok != c.ok || ok && s.of(c.word) != c.stem {
			t.Errorf("%s: %q, %t; want %q, %t", c.word, s.of(c.word), ok, c.stem, c.ok)
		}
	}
}

// What is remembered takes no memory, a stop word neither.
func TestTermAllocates(t *testing.T) {
	for _, w := range []string{"running", "the", "1999"} {
		if n := testing.AllocsPerRun(10, func() { Default().Term(w) }); n > 0 {
			t.Errorf("%g allocations for %q", n, w)
		}
	}
}
