// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// tokenKind is the kind of a token.
type tokenKind uint8

const (
	wordToken     tokenKind = iota
	numberToken             // a number such as 1,234.5 or 24th or 1939–45
	unspacedToken           // one character of a script that writes no blanks between words
	markToken               // punctuation and symbols
	noiseToken              // URLs, targets of links, e-mail addresses, handles, paths
)

// shape is a set of bits that say how a word or number is written.
type shape uint16

const (
	upperFirst shape = 1 << iota // the first letter is a capital
	upperOnly                    // at least two letters, all of them capitals
	innerUpper                   // a capital after a small letter, as in eBay
	lowerTail                    // a small letter after the last hyphen, as in Berlin-based
	hyphened
	dotted   // ends with a full stop that is part of it: J.  U.S.  Inc.
	initials // one letter, or letters with a full stop after each
	suffixed // letters after the digits, as in 24th
	foreign  // contains letters outside the Latin script
)

// gap is the kind of white space between a token and the one before it.
type gap uint8

const (
	glued gap = iota
	blank
	newline
)

// Codes of the marks of a token; typographic variants of a mark have the same code.
const (
	markQuote      = '"'
	markApostrophe = '\''
	markPossessive = 's'
	markDash       = '-'
	markBullet     = '*' // begins list items and marks emphasis
	markOther      = '?' + 128
)

type token struct {
	start, end int32
	word       int32 // the word's number in the lexicon, 0 if it has none
	class      class
	shape      shape
	kind       tokenKind
	mark       byte // code of a markToken, else 0
	gap        gap
}

func (t *token) is(c class) bool { return t.class&c != 0 }

func (t *token) has(s shape) bool { return t.shape&s != 0 }

func (t *token) isMark(b byte) bool { return t.kind == markToken && t.mark == b }

func (t *token) isWord() bool { return t.kind == wordToken }

// lower reports whether the token is a word in small letters.
func (t *token) lower() bool { return t.kind == wordToken && t.shape&(upperFirst|innerUpper) == 0 }

// functional reports whether a capitalized word is a function word like "The" or "When". A word all in capitals
// is not, because it is probably an acronym: WHO, IT, US.
func (t *token) functional() bool {
	return t.is(function) && !t.has(upperOnly) && !t.is(given)
}

// plainWord reports whether a token is a word in small letters that is no verb, function word or adverb of the
// tables.
func plainWord(t *token) bool { return t.lower() && !t.is(function|anyVerb|adverb) }

// looksPast reports whether a word in small letters ends like the past tense of a regular verb.
func looksPast(s string, t *token) bool {
	return t.class == 0 && t.end-t.start > 4 && t.lower() && strings.HasSuffix(s[t.start:t.end], "ed")
}

// maxWordBytes is the longest word that is looked up, in bytes. No table or name has a longer one.
const maxWordBytes = 48

// tokenizer cuts text into tokens. Its buffers are reused from text to text.
type tokenizer struct {
	words  map[string]int32
	class  []class // classes of each word, by its number
	tokens []token
	lower  []byte
}

// run cuts s[from:to] into z.tokens.
func (z *tokenizer) run(s string, from, to int) {
	z.tokens = z.tokens[:0]
	s = s[:to]
	g, raw := newline, from // raw is the end of the last run of characters without blanks
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
		t := token{start: int32(i), gap: g}
		if i >= raw {
			var end int
			if raw, end = rawWord(s, i); end > i {
				t.kind, t.end = noiseToken, int32(end)
			}
		}
		if t.kind == noiseToken {
			i = int(t.end)
		} else if i = z.next(s, i, &t); t.end == 0 {
			continue // skip an invalid byte or white space
		}
		z.tokens = append(z.tokens, t)
		g = glued
	}
}

// rawWord returns the end of the run of characters without blanks at offset i, and the end of the noise (a URL,
// path or handle) that begins the run, i if there is none.
func rawWord(s string, i int) (raw, noise int) {
	at, slash := -1, false
	for raw = i; raw < len(s) && s[raw] > ' '; raw++ {
		switch s[raw] {
		case '@':
			at = raw
		case ':':
			slash = slash || strings.HasPrefix(s[raw:], "://")
		case ']':
			if strings.HasPrefix(s[raw:], "](") && raw > i {
				return raw, i // the text of a Markdown link is read as words
			}
		}
	}
	word := s[i:raw]
	switch {
	case strings.HasPrefix(word, "]("):
		if j := strings.IndexByte(word, ')'); j >= 0 {
			return i + j + 1, i + j + 1
		}
	case slash, at >= 0, hasPrefix(word, "www.", "data:"), word[0] == '/' && len(word) > 1 && word[1] > '9',
		strings.Contains(word, ".com"), strings.Contains(word, ".org/"), strings.Contains(word, ".html"),
		word[0] == '#' && len(word) > 1 && word[1] != '#':
	default:
		return raw, i
	}
	end := raw
	for end > i+1 && strings.IndexByte(".,;:!?)\"'*_]", s[end-1]) >= 0 {
		end--
	}
	return raw, end
}

// next reads the token at s[i] and returns its end. For white space and invalid bytes it leaves t.end at 0.
func (z *tokenizer) next(s string, i int, t *token) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case r == utf8.RuneError && size == 1, unicode.IsSpace(r), r == '\u200B', r == '\uFEFF', r == '\u2060':
		return i + size
	case text.Unspaced(r):
		t.kind, t.end, t.shape = unspacedToken, int32(i+size), foreign
		z.lower = append(z.lower[:0], s[i:i+size]...)
		z.lookup(t)
		return i + size
	case unicode.IsLetter(r) && r != 'ʼ': // except U+02BC, an apostrophe that Unicode calls a letter
		return z.wordAt(s, i, t)
	case unicode.IsNumber(r):
		return z.numberAt(s, i, t)
	}
	return z.markAt(s, i, r, size, t)
}

// wordAt reads a word at offset i and returns its end: letters, combining marks and digits, with apostrophes
// and hyphens between letters. A lone capital and an abbreviation include their full stop.
func (z *tokenizer) wordAt(s string, i int, t *token) int {
	start := i
	letters, capitals, smalls := 0, 0, 0
	afterHyphen, joined := false, false // joined: an apostrophe was read
	z.lower = z.lower[:0]
scan:
	for i < len(s) {
		r, size := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
		}
		put := unicode.ToLower(r)
		letter := unicode.IsLetter(r) && r != 'ʼ' && !text.Unspaced(r)
		if letter && r > 0x24F {
			t.shape |= foreign
		}
		switch {
		case letter && r == put:
			if afterHyphen {
				t.shape |= lowerTail
			}
			letters, smalls, afterHyphen = letters+1, smalls+1, false
		case letter:
			if letters == 0 {
				t.shape |= upperFirst
			} else if smalls > 0 && !afterHyphen && !joined {
				t.shape |= innerUpper
			}
			t.shape &^= lowerTail
			letters, capitals, afterHyphen = letters+1, capitals+1, false
		case '0' <= r && r <= '9' && (smalls <= 2 || t.has(hyphened)): // after more small letters, a digit is a footnote glued to the word
			t.shape &^= lowerTail
			afterHyphen = false
		case (r == '-' || r == '‐' || r == '‑' || r == '–') && (letterAt(s, i+size) || r == '-' && digitAt(s, i+1)):
			t.shape |= hyphened
			afterHyphen, put = true, '-'
		case (r == '\'' || r == '’' || r == 'ʼ' || r == '‘' && letters == 1) && letterAt(s, i+size) && !isPossessive(s, i+size):
			joined, put = true, '\''
		case r == '\u00AD' || r == '\u200D' || r == '\u200C':
			put = -1
		case r > 127 && unicode.IsMark(r):
		default:
			break scan
		}
		z.put(put)
		i += size
		if letters == 1 && capitals == 1 && i < len(s) && s[i] == '.' {
			i = z.initialsAt(s, i, t)
			break
		}
	}
	t.shape |= caseOf(letters, capitals, smalls)
	z.lookup(t)
	if i < len(s) && s[i] == '.' && i-start <= 4 && t.has(upperFirst) && t.is(honorific|organizationHead) { // as in "Dr." or "Inc."
		t.shape |= dotted
		i++
	}
	t.end = int32(i)
	return i
}

// caseOf returns the shape of a word that has these numbers of letters, capitals and small letters.
func caseOf(letters, capitals, smalls int) shape {
	switch {
	case letters == 1 && capitals == 1:
		return initials
	case capitals > 1 && smalls == 0:
		return upperOnly
	}
	return 0
}

// initialsAt reads more initials after the full stop of a lone capital, as in J.R.R., and returns their end.
func (z *tokenizer) initialsAt(s string, i int, t *token) int {
	t.shape |= initials | dotted
	i++
	for i+1 < len(s) && 'A' <= s[i] && s[i] <= 'Z' && s[i+1] == '.' {
		z.put('.')
		z.put(rune(s[i]) + 'a' - 'A')
		t.shape |= upperOnly
		i += 2
	}
	if t.has(upperOnly) {
		z.put('.')
	}
	return i
}

func (z *tokenizer) put(r rune) {
	if r >= 0 && len(z.lower) <= maxWordBytes {
		z.lower = utf8.AppendRune(z.lower, r)
	}
}

// lookup sets the number and the classes of the word in z.lower.
func (z *tokenizer) lookup(t *token) {
	if len(z.lower) > maxWordBytes {
		t.kind = noiseToken
	} else if n, ok := z.words[string(z.lower)]; ok {
		t.word, t.class = n, z.class[n]
	}
}

// numberAt reads a number at offset i: digits, marks between digits, and letters glued to the number.
func (z *tokenizer) numberAt(s string, i int, t *token) int {
	t.kind = numberToken
scan:
	for start := i; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case unicode.IsNumber(r):
			if t.has(suffixed) { // a code such as 3D5 is noise
				t.kind = noiseToken
			}
		case strings.ContainsRune(".,:/-–−‑", r) && digitAt(s, i+size):
		case 'A' <= r && r <= 'Z' && i-start == 4 && isYear(s[start:i]): // a word glued to a year begins a new token
			break scan
		case unicode.IsLetter(r) && !text.Unspaced(r):
			t.shape |= suffixed
		default:
			break scan
		}
		i += size
	}
	t.end = int32(i)
	return i
}

// marks maps the runes of marks to their codes.
var marks = func() map[rune]byte {
	m := map[rune]byte{}
	for mark, variants := range map[byte]string{markQuote: "“”„«»″「」『』《》", markApostrophe: "’‘ʼ`", markDash: "–—―−", markBullet: "_•·|",
		',': "，、", '(': "（", ')': "）", '.': "。…", '$': "€£¥"} {
		for _, r := range variants {
			m[r] = mark
		}
	}
	return m
}()

// markAt reads a mark at offset i. The possessive 's and the apostrophe after a final s are each one mark; a
// run of the same mark is one token.
func (z *tokenizer) markAt(s string, i int, r rune, size int, t *token) int {
	t.kind, t.mark = markToken, markOther
	if mark, ok := marks[r]; ok {
		t.mark = mark
	} else if r < utf8.RuneSelf {
		t.mark = byte(r)
	}
	end := i + size
	if (r == '\'' || r == '’' || r == 'ʼ') && t.gap == glued && len(z.tokens) > 0 {
		last := z.tokens[len(z.tokens)-1]
		switch {
		case last.kind > numberToken:
		case end < len(s) && isPossessive(s, end):
			t.mark, end = markPossessive, end+1
		case s[last.end-1]|0x20 == 's' && end < len(s) && s[end] == ' ':
			t.mark = markPossessive
		}
	}
	for t.mark != markPossessive && strings.HasPrefix(s[end:], s[i:i+size]) {
		end += size
	}
	t.end = int32(end)
	return end
}

func letterAt(s string, i int) bool {
	r, _ := utf8.DecodeRuneInString(s[min(i, len(s)):])
	return unicode.IsLetter(r) && !text.Unspaced(r)
}

func digitAt(s string, i int) bool { return i < len(s) && '0' <= s[i] && s[i] <= '9' }

// isPossessive reports whether the s at offset i is a possessive: a word does not continue after it.
func isPossessive(s string, i int) bool {
	return s[i]|0x20 == 's' && !letterAt(s, i+1) && !digitAt(s, i+1)
}
