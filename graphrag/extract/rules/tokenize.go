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
				z.add(token{start: int32(i), end: int32(end), kind: debrisToken, gap: g})
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
	case unicode.IsLetter(r):
		return z.wordAt(s, i, t)
	case unicode.IsNumber(r):
		return z.numberAt(s, i, t)
	}
	return z.markAt(s, i, r, size, t)
}

// wordAt reads a word: letters with marks and digits, and between letters the
// apostrophe and the hyphen; a lone capital and an abbreviation keep their full
// stop.
func (z *tokenizer) wordAt(s string, i int, t *token) int {
	start, letters, uppers, lowers := i, 0, 0, 0
	lead, head := 0, 0 // capitals and small letters the word begins with
	afterHyphen, joined := false, false
	z.lower = z.lower[:0]
	tail := shape(0)
scan:
	for i < len(s) {
		c := s[i]
		switch {
		case 'a' <= c && c <= 'z':
			if head == letters {
				head++
			}
			lowers++
			letters++
			if afterHyphen {
				tail = lowerTail
			}
			afterHyphen = false
			z.put(c)
			i++
		case 'A' <= c && c <= 'Z':
			t.upper(letters == 0, lowers > 0 && !afterHyphen && !joined)
			if lead == letters {
				lead++
			}
			uppers++
			letters++
			tail, afterHyphen = 0, false
			z.put(c + 'a' - 'A')
			i++
		case '0' <= c && c <= '9':
			if lowers > 2 && !t.has(hyphened) { // a footnote glued to the word
				break scan
			}
			tail, afterHyphen = 0, false
			z.put(c)
			i++
		case c == '-':
			if !letterAt(s, i+1) && !digitAt(s, i+1) {
				break scan
			}
			t.shape |= hyphened
			afterHyphen = true
			z.put('-')
			i++
		case c == '\'':
			if i+1 >= len(s) || !letterAt(s, i+1) || isPossessive(s, i+1) {
				break scan
			}
			joined = true
			z.put('\'')
			i++
		case c < utf8.RuneSelf:
			break scan
		default:
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == '’' || r == 'ʼ' || r == '‘':
				if !letterAt(s, i+size) || isPossessive(s, i+size) || r == '‘' && letters > 1 {
					break scan
				}
				joined = true
				z.put('\'')
			case r == '‐' || r == '‑' || r == '–':
				if !letterAt(s, i+size) {
					break scan
				}
				t.shape |= hyphened
				afterHyphen = true
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
					t.upper(letters == 0, lowers > 0 && !afterHyphen && !joined)
					uppers++
					tail = 0
				case unicode.IsLower(r):
					lowers++
					if afterHyphen {
						tail = lowerTail
					}
				}
				letters++
				afterHyphen = false
				z.putRune(unicode.ToLower(r))
			default:
				break scan
			}
			i += size
		}
		if letters == 1 && uppers == 1 && i < len(s) && s[i] == '.' {
			i = z.initialsAt(s, i, t)
			break
		}
	}
	t.shape |= tail
	if uppers > 1 && lowers == 0 {
		t.shape |= upperOnly
	}
	if t.shape&hyphened == 0 && (lead > 1 && lowers > 2 && lead+lowers == letters || lead == 0 && t.has(innerUpper) && head > 2) {
		t.shape |= patched
	}
	if letters == 1 && uppers == 1 {
		t.shape |= initials
	}
	t.end = int32(i)
	z.lookup(t)
	if i < len(s) && s[i] == '.' && i-start <= 4 && t.has(upperFirst) && t.is(honorific|abbreviated) {
		t.shape |= dotted
		t.end++
		i++
	}
	return i
}

// abbreviated are the classes some members of which are written with a full
// stop: months, and the heads Inc. and Co.
const abbreviated = organizationHead

func (t *token) upper(first, inner bool) {
	if first {
		t.shape |= upperFirst
	}
	if inner {
		t.shape |= innerUpper
	}
}

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
		t.kind = debrisToken
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

// isPossessive tells whether an s that ends a word is at i.
func isPossessive(s string, i int) bool {
	return (s[i] == 's' || s[i] == 'S') && !letterAt(s, i+1) && !digitAt(s, i+1)
}
