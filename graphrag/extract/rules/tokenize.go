// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxWordBytes bounds the words that are looked up. Longer ones are in no table
// and no name.
const maxWordBytes = 48

// tokenizer cuts text into tokens. It keeps its buffers from text to text.
type tokenizer struct {
	words  map[string]int32
	class  []class // by number of word
	tokens []token
	lower  []byte
}

// run cuts s[from:to] into z.tokens.
func (z *tokenizer) run(s string, from, to int) {
	z.tokens = z.tokens[:0]
	s = s[:to]
	g, raw := newline, from // raw is the end of the run without blanks that was looked at
	for i := from; i < to; {
		c := s[i]
		if c <= ' ' || c == 0x7f {
			if c == '\n' {
				g = newline
			} else {
				g = max(g, blank)
			}
			i++
			continue
		}
		if i >= raw {
			var end int
			if raw, end = rawWord(s, i); end > i {
				z.add(token{start: int32(i), end: int32(end), kind: noiseToken, gap: g})
				i, g = end, glued
				continue
			}
		}
		t := token{start: int32(i), gap: g}
		i = z.next(s, i, &t)
		if t.end == 0 {
			continue // nothing that counts: an invalid byte, white space
		}
		z.add(t)
		g = glued
	}
}

func (z *tokenizer) add(t token) { z.tokens = append(z.tokens, t) }

// next reads the token at s[i], which is no white space, and returns where it
// ends.
func (z *tokenizer) next(s string, i int, t *token) int {
	c := s[i]
	switch {
	case 'a' <= c|0x20 && c|0x20 <= 'z':
		return z.wordAt(s, i, t)
	case '0' <= c && c <= '9':
		return z.numberAt(s, i, t)
	case c < utf8.RuneSelf:
		return z.markAt(s, i, rune(c), 1, t)
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && size == 1, unicode.IsSpace(r), r == '\u200B', r == '\uFEFF', r == '\u2060':
		return i + size
	case text.Unspaced(r):
		t.kind, t.end, t.shape = unspacedToken, int32(i+size), foreign
		z.lower = append(z.lower[:0], s[i:i+size]...)
		z.lookup(t)
		return i + size
	case unicode.IsLetter(r) && r != 'ʼ': // a letter to Unicode, an apostrophe to writers
		return z.wordAt(s, i, t)
	case unicode.IsNumber(r):
		return z.numberAt(s, i, t)
	}
	return z.markAt(s, i, r, size, t)
}

// wordScan is what wordAt counts of a word.
type wordScan struct {
	letters, capitals, smalls int
	leadCapitals, leadSmalls  int // those that the word begins with
	afterHyphen, joined       bool
	tail                      shape // lowerTail if that is so up to now
}

func (w *wordScan) capital(t *token) {
	if w.letters == 0 {
		t.shape |= upperFirst
	}
	if w.smalls > 0 && !w.afterHyphen && !w.joined {
		t.shape |= innerUpper
	}
	w.capitals++
	w.letters++
	w.tail, w.afterHyphen = 0, false
}

func (w *wordScan) lower() {
	if w.afterHyphen {
		w.tail = lowerTail
	}
	w.smalls++
	w.letters++
	w.afterHyphen = false
}

// shape is that of a whole word, but for what was noted on the way.
func (w *wordScan) shape(of shape) shape {
	of |= w.tail
	if w.capitals > 1 && w.smalls == 0 {
		of |= upperOnly
	}
	if of&hyphened == 0 && (w.leadCapitals > 1 && w.smalls > 2 && w.leadCapitals+w.smalls == w.letters ||
		w.leadCapitals == 0 && of&innerUpper != 0 && w.leadSmalls > 2) {
		of |= merged
	}
	if w.letters == 1 && w.capitals == 1 {
		of |= initials
	}
	return of
}

// wordAt reads a word: letters with marks and digits, and between letters the
// apostrophe and the hyphen; a lone capital and an abbreviation keep their full
// stop.
func (z *tokenizer) wordAt(s string, i int, t *token) int {
	var w wordScan
	start := i
	z.lower = z.lower[:0]
	for i < len(s) {
		c, size := s[i], 1
		switch {
		case 'a' <= c && c <= 'z':
			if w.leadSmalls == w.letters {
				w.leadSmalls++
			}
			w.lower()
			z.put(c)
		case 'A' <= c && c <= 'Z':
			if w.leadCapitals == w.letters {
				w.leadCapitals++
			}
			w.capital(t)
			z.put(c + 'a' - 'A')
		case c < utf8.RuneSelf:
			size = z.insideWord(s, i, t, &w)
		default:
			size = z.wideInWord(s, i, t, &w)
		}
		if size == 0 {
			break
		}
		i += size
		if w.letters == 1 && w.capitals == 1 && i < len(s) && s[i] == '.' {
			i = z.initialsAt(s, i, t)
			break
		}
	}
	t.shape = w.shape(t.shape)
	t.end = int32(i)
	z.lookup(t)
	if i < len(s) && s[i] == '.' && i-start <= 4 && t.has(upperFirst) && t.is(honorific|abbreviated) {
		t.shape |= dotted
		t.end++
		i++
	}
	return i
}

// insideWord reads the digit, hyphen or apostrophe at s[i] as a part of a word and
// returns its size, 0 if the word ends there.
func (z *tokenizer) insideWord(s string, i int, t *token, w *wordScan) int {
	c := s[i]
	switch {
	case '0' <= c && c <= '9' && (w.smalls <= 2 || t.has(hyphened)): // otherwise a footnote glued to the word
		w.tail, w.afterHyphen = 0, false
	case c == '-' && (letterAt(s, i+1) || digitAt(s, i+1)):
		t.shape |= hyphened
		w.afterHyphen = true
	case c == '\'' && letterAt(s, i+1) && !isPossessive(s, i+1):
		w.joined = true
	default:
		return 0
	}
	z.put(c)
	return 1
}

// wideInWord reads the rune at s[i] beyond ASCII as a part of a word and returns
// its size, 0 if the word ends there.
func (z *tokenizer) wideInWord(s string, i int, t *token, w *wordScan) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == '’' || r == 'ʼ' || r == '‘':
		if !letterAt(s, i+size) || isPossessive(s, i+size) || r == '‘' && w.letters > 1 {
			return 0
		}
		w.joined = true
		z.put('\'')
	case r == '‐' || r == '‑' || r == '–':
		if !letterAt(s, i+size) {
			return 0
		}
		t.shape |= hyphened
		w.afterHyphen = true
		z.put('-')
	case r == '\u00AD' || r == '\u200D' || r == '\u200C':
	case unicode.IsMark(r):
		z.putRune(r)
	case unicode.IsLetter(r) && !text.Unspaced(r):
		if r > 0x24F {
			t.shape |= foreign
		}
		switch {
		case unicode.IsUpper(r) || unicode.IsTitle(r):
			w.capital(t)
		case unicode.IsLower(r):
			w.lower()
		default:
			w.letters++
			w.afterHyphen = false
		}
		z.putRune(unicode.ToLower(r))
	default:
		return 0
	}
	return size
}

// abbreviated are the classes some members of which are written with a full
// stop: months, and the heads Inc. and Co.
const abbreviated = organizationHead

// initialsAt reads on from the full stop after a lone capital: J.R.R.
func (z *tokenizer) initialsAt(s string, i int, t *token) int {
	t.shape |= initials | dotted
	i++
	for i+1 < len(s) && 'A' <= s[i] && s[i] <= 'Z' && s[i+1] == '.' {
		z.put('.')
		z.put(s[i] + 'a' - 'A')
		t.shape |= upperOnly
		i += 2
	}
	if t.has(upperOnly) {
		z.put('.')
	}
	return i
}

func (z *tokenizer) put(c byte) {
	if len(z.lower) <= maxWordBytes {
		z.lower = append(z.lower, c)
	}
}

func (z *tokenizer) putRune(r rune) {
	if len(z.lower) <= maxWordBytes {
		z.lower = utf8.AppendRune(z.lower, r)
	}
}

// lookup finds the word in z.lower.
func (z *tokenizer) lookup(t *token) {
	if len(z.lower) > maxWordBytes {
		t.kind = noiseToken
		return
	}
	if n, ok := z.words[string(z.lower)]; ok {
		t.word, t.class = n, z.class[n]
	}
}

func letterAt(s string, i int) bool {
	if i >= len(s) {
		return false
	}
	if c := s[i]; c < utf8.RuneSelf {
		return 'a' <= c|0x20 && c|0x20 <= 'z'
	}
	r, _ := utf8.DecodeRuneInString(s[i:])
	return unicode.IsLetter(r) && !text.Unspaced(r)
}

func digitAt(s string, i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }

// isPossessive reports whether an s that ends a word is at i.
func isPossessive(s string, i int) bool {
	return (s[i] == 's' || s[i] == 'S') && !letterAt(s, i+1) && !digitAt(s, i+1)
}
