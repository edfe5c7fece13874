// SPDX-License-Identifier: Apache-2.0

package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// name is a span of capitalised words.
type name struct {
	parts []namePart
	// initials is the hash of the first letters, as an acronym would be; 0
	// with fewer than two parts.
	initials uint64
	// acronym is the word of a name that is nothing but capitals, three or more.
	acronym string
	strong  bool // not only the capital at the start of a sentence
	negated bool
	given   bool // the question says it too
}

type namePart struct {
	hash    uint64
	first   rune
	initial bool // a single letter
}

// leastAcronym is how many letters an acronym of common words has at least: with
// fewer, any words would do.
const leastAcronym = 3

// shoutShare is the share of capitalised words from which capitals tell
// nothing: headings and shouting.
const shoutShare = 0.7

// names finds the names among the tokens that are no dates or amounts.
func (r *reader) names() {
	s := &r.scan
	words, capitals := 0, 0
	for _, t := range s.tokens {
		if !t.used {
			words++
			if t.upper {
				capitals++
			}
		}
	}
	loud := words > 3 && float64(capitals) > shoutShare*float64(words)
	for i := 0; i < len(s.tokens); i++ {
		if !r.nameWord(i) {
			continue
		}
		from, last := len(r.parts), i
		for k := i; k < len(s.tokens); k++ {
			if k > i && !nameGap(s.gap(k)) {
				break
			}
			if r.nameWord(k) {
				last = k
			} else if !nameJoints[s.word(k)] || k-last > 2 {
				break
			}
		}
		n := name{strong: !loud && (i > 0 || last > i)}
		if i == 0 && last == 0 && strings.HasSuffix(s.word(0), "ly") {
			continue // an adverb begins the sentence
		}
		var acronym []byte
		for k := i; k <= last; k++ {
			if !r.nameWord(k) {
				continue
			}
			first, size := utf8.DecodeRuneInString(s.word(k))
			r.parts = append(r.parts, namePart{hash: r.hash(&s.tokens[k]), first: first, initial: len(s.word(k)) == size})
			acronym = utf8.AppendRune(acronym, first)
			r.inName[k] = true
			n.negated = n.negated || r.denied[k]
		}
		n.parts = r.parts[from:len(r.parts):len(r.parts)]
		if len(n.parts) > 1 {
			n.initials = hashOf(string(acronym))
		} else if w := s.word(i); len(w) >= leastAcronym && s.text[s.tokens[i].start:s.tokens[i].end] == strings.ToUpper(w) {
			n.acronym = w
		}
		r.found = append(r.found, n)
		i = last
	}
}

// nameWord reports whether the token at i may be part of a name.
func (r *reader) nameWord(i int) bool {
	t := &r.scan.tokens[i]
	if t.named {
		return true
	}
	if !t.upper || t.used || weekdays[t.word] || pronouns[t.word] {
		return false
	}
	if t.end-t.start > 1 && r.scan.text[t.start:t.end] == strings.ToUpper(t.word) && len(t.word) <= 3 {
		return true // US, IT, WHO
	}
	return !t.stop
}

// nameGap is what may stand inside a name.
func nameGap(gap string) bool {
	switch gap {
	case " ", "-", ".", ". ", "'", "’", "\u00a0":
		return true
	}
	return false
}

// hash folds the forms of a word: stems, people to countries, plain letters
// for accented ones.
func (r *reader) hash(t *token) uint64 {
	if to, ok := demonymOf[t.word]; ok {
		return hashOf(r.lang.stem(to))
	}
	return hashOf(plainLetters(t.stem))
}

// latin are the commonest letters with marks that are written without them.
var latin = strings.NewReplacer("á", "a", "à", "a", "â", "a", "ä", "a", "ã", "a", "å", "a", "ā", "a", "ç", "c", "č", "c", "ć", "c",
	"é", "e", "è", "e", "ê", "e", "ë", "e", "ē", "e", "ě", "e", "í", "i", "ì", "i", "î", "i", "ï", "i", "ī", "i", "ñ", "n", "ń", "n",
	"ó", "o", "ò", "o", "ô", "o", "ö", "o", "õ", "o", "ø", "o", "ō", "o", "š", "s", "ś", "s", "ú", "u", "ù", "u", "û", "u", "ü", "u", "ū", "u",
	"ý", "y", "ž", "z", "ź", "z", "ż", "z", "ł", "l")

func plainLetters(word string) string {
	if strings.IndexFunc(word, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return word
	}
	return latin.Replace(word)
}
