// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// heaps is the exponent at which distinct words grow with the words of the pages of
// WildGraphBench.
const heaps = 0.72

// What becomes another word, in bytes: shorter ones are of the grammar, and years.
const (
	leastLetters = 4
	leastDigits  = 3
	kept         = 3 // of the ending of a word, by which its kind is told
)

// A name on two pages or more, but on less than one of so many, is on a new page another
// one as frequent, one time in two: known names meet in new ways.
const (
	rareName = 5
	near     = 32 // places in the order of frequency
)

// pages stream a corpus in a fixed order.
type pages = func() iter.Seq2[graphrag.Document, error]

// enlarged is a corpus of real pages and of new ones, which are the real ones with other
// words. A word that is on d of the real pages is on those of the n-th copy a new one with
// the probability (n+1)^(heaps-d), which is how likely it is that a word of so many pages
// was not on n times as many others, where words have the frequencies of Zipf's law; and
// else what it was on one of the copies before. So the vocabulary of a part grows with its
// size as that of the real pages does.
type enlarged struct {
	real pages
	seed uint64
	// bytes is how large the whole is, share which part of its pages is there.
	bytes int64
	share float64

	on    map[string]int32 // on how many pages a word is
	place map[string]int32 // of a name, in the order of frequency
	names []string
}

// enlarge reads the real pages once.
func enlarge(real pages, bytes int64, share float64, seed uint64) (*enlarged, error) {
	e := &enlarged{real: real, seed: seed, bytes: bytes, share: share, on: make(map[string]int32), place: make(map[string]int32)}
	last, capital, all := make(map[string]int), make(map[string]int), make(map[string]int)
	n := 0
	for doc, err := range real() {
		if err != nil {
			return nil, err
		}
		n++
		for word := range words(doc.Text) {
			if !word.changes {
				continue
			}
			key := strings.ToLower(word.text)
			if last[key] != n {
				last[strings.Clone(key)] = n
				e.on[key]++
			}
			all[key]++
			if word.text[0] >= 'A' && word.text[0] <= 'Z' {
				capital[key]++
			}
		}
	}
	for w, on := range e.on {
		if on >= 2 && int(on) <= n/rareName && capital[w] >= all[w]*9/10 {
			e.names = append(e.names, w)
		}
	}
	slices.SortFunc(e.names, func(a, b string) int { return cmp.Or(cmp.Compare(e.on[a], e.on[b]), cmp.Compare(a, b)) })
	for i, w := range e.names {
		e.place[w] = int32(i)
	}
	return e, nil
}

// documents are the pages of the share.
func (e *enlarged) documents() iter.Seq2[graphrag.Document, error] {
	return func(yield func(graphrag.Document, error) bool) {
		size := int64(0)
		for copied := 0; size < e.bytes; copied++ {
			before := size
			for doc, err := range e.real() {
				if err != nil {
					yield(doc, err)
					return
				}
				if size += int64(len(doc.Text)); size > e.bytes {
					break
				}
				random := e.random(doc.ID, copied)
				if random.Float64() < e.share && !yield(e.page(doc, copied, random), nil) {
					return
				}
			}
			if size == before {
				return
			}
		}
	}
}

// page is a page on a copy of the corpus; the 0th has the pages as they are.
func (e *enlarged) page(doc graphrag.Document, copied int, random *rand.Rand) graphrag.Document {
	if copied == 0 {
		return doc
	}
	another := make(map[string]string) // of this page
	rewrite := func(s string) string {
		var b strings.Builder
		b.Grow(len(s))
		for word := range words(s) {
			if !word.changes {
				b.WriteString(word.text)
				continue
			}
			key := strings.ToLower(word.text)
			to, ok := another[key]
			if !ok {
				to = key
				if at, ok := e.place[key]; ok {
					to = e.names[min(max(int(at)+random.IntN(2*near+1)-near, 0), len(e.names)-1)]
				}
				to = e.word(to, copied)
				another[key] = to
			}
			b.WriteString(cased(to, word.text))
		}
		return b.String()
	}
	return graphrag.Document{ID: fmt.Sprintf("%d/%s", copied, doc.ID), Title: rewrite(doc.Title), Text: rewrite(doc.Text)}
}

// word is what a word is on a copy.
func (e *enlarged) word(w string, copied int) string {
	for n := copied; n > 0; {
		random := e.random(w, n)
		if random.Float64() < math.Pow(float64(n+1), heaps-float64(e.on[w])) {
			return spelt(w, random)
		}
		n = random.IntN(n)
	}
	return w
}

// random is a source for a text and a copy.
func (e *enlarged) random(s string, copied int) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(s))
	return rand.New(rand.NewPCG(e.seed^h.Sum64(), uint64(copied)))
}

// spelt is a new word of the kind of another: vowels stand for vowels, consonants for
// consonants and digits for digits.
func spelt(w string, random *rand.Rand) string {
	const vowels, consonants = "aeiou", "bcdfghjklmnprstvwz"
	b := []byte(w)
	for i := range b[:len(b)-max(0, min(kept, len(b)-leastLetters))] {
		switch c := b[i]; {
		case c >= '0' && c <= '9':
			b[i] = '1' + byte(random.IntN(9))
		case c >= 0x80:
		case strings.IndexByte(vowels, c) >= 0:
			b[i] = vowels[random.IntN(len(vowels))]
		default:
			b[i] = consonants[random.IntN(len(consonants))]
		}
	}
	return string(b)
}

// cased writes a word in lower case as another is written.
func cased(w, as string) string {
	first, second := as[0] >= 'A' && as[0] <= 'Z', len(as) > 1 && as[1] >= 'A' && as[1] <= 'Z'
	switch {
	case first && second:
		return strings.ToUpper(w)
	case first:
		return strings.ToUpper(w[:1]) + w[1:]
	}
	return w
}

// piece is a run of letters or of digits, or what is between such.
type piece struct {
	text    string
	changes bool // it is long enough to be another word
}

// words cut a text into pieces.
func words(s string) iter.Seq[piece] {
	return func(yield func(piece) bool) {
		for from := 0; from < len(s); {
			to := from + 1
			kind := kinds[s[from]]
			for to < len(s) && kinds[s[to]] == kind {
				to++
			}
			changes := kind == letter && to-from >= leastLetters && s[from] < 0x80 || kind == digit && to-from >= leastDigits
			if !yield(piece{s[from:to], changes}) {
				return
			}
			from = to
		}
	}
}

const (
	letter = iota + 1
	digit
)

// kinds of bytes; those of letters beyond ASCII are letters.
var kinds = func() (of [256]uint8) {
	for c := range of {
		switch {
		case c >= '0' && c <= '9':
			of[c] = digit
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= 0x80:
			of[c] = letter
		}
	}
	return of
}()
