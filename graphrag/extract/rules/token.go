// SPDX-License-Identifier: Apache-2.0

package rules

import "strings"

// kind is the kind of a token.
type kind uint8

const (
	wordToken     kind = iota
	numberToken        // 1,234.5  24th  1939–45
	unspacedToken      // one character of a script without blanks
	markToken          // punctuation and symbols
	noiseToken         // URLs, targets of links, e-mail addresses, handles, paths
)

// shape is how a word or number is written: a set of bits.
type shape uint16

const (
	upperFirst shape = 1 << iota // begins with a capital
	upperOnly                    // two letters or more, all capitals
	innerUpper                   // a capital after a small letter: eBay
	lowerTail                    // small letter after the last hyphen: Berlin-based
	hyphened
	dotted   // ends with a full stop that belongs to it: J.  U.S.  Inc.
	initials // one letter, or letters each with its full stop
	suffixed // letters after the digits: 24th
	foreign  // letters outside the Latin script
	merged   // capitals and small letters as where two words lost their blank: FDAannounced, agoAsia
)

// gap is what stands between a token and the one before it.
type gap uint8

const (
	glued gap = iota
	blank
	newline
)

// The marks that rules look at, typographic ones brought to ASCII.
const (
	markQuote      = '"'
	markApostrophe = '\''
	markPossessive = 's'
	markDash       = '-'
	markBullet     = '*' // list items, and emphasis
	markOther      = '?' + 128
)

type token struct {
	start, end int32
	word       int32 // number in the lexicon, 0 if unknown
	class      class
	shape      shape
	kind       kind
	mark       byte // of a markToken
	gap        gap
}

func (t *token) is(c class) bool { return t.class&c != 0 }

func (t *token) has(s shape) bool { return t.shape&s != 0 }

func (t *token) isMark(b byte) bool { return t.kind == markToken && t.mark == b }

func (t *token) isWord() bool { return t.kind == wordToken }

// lower reports whether the token is a word in small letters.
func (t *token) lower() bool { return t.kind == wordToken && t.shape&(upperFirst|innerUpper) == 0 }

// functional reports whether a capitalized word is a word like "The" or "When";
// in capitals only it is rather an acronym: WHO, IT, US.
func (t *token) functional() bool {
	return t.is(function) && !t.has(upperOnly) && !t.is(given)
}

// plainWord reports whether a token is a word in small letters that is no verb and
// no word of the closed classes, as far as the tables know.
func plainWord(t *token) bool { return t.lower() && !t.is(function|anyVerb|adverb) }

// looksPast reports whether a word in small letters ends like the past of a
// regular verb.
func looksPast(s string, t *token) bool {
	return t.kind == wordToken && t.class == 0 && t.end-t.start > 4 && t.lower() && strings.HasSuffix(s[t.start:t.end], "ed")
}

func romanNumeral(s string) bool { return s != "" && strings.Trim(s, "IVX") == "" }

// isYear reports whether s is a year from 1000 to 2099.
func isYear(s string) bool {
	return len(s) == 4 && allDigits(s) && (s[0] == '1' || s[0] == '2' && s[1] == '0')
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isDay reports whether a token is a day of a month: 24, 24th.
func isDay(s string, t *token) bool {
	if t.kind != numberToken {
		return false
	}
	w := s[t.start:t.end]
	digits := strings.TrimRight(w, "thsndr")
	if len(digits) == 0 || len(digits) > 2 || !allDigits(digits) {
		return false
	}
	n := int(digits[0] - '0')
	if len(digits) == 2 {
		n = 10*n + int(digits[1]-'0')
	}
	return n >= 1 && n <= 31
}

func money(z []token, i int) bool {
	return i > 0 && z[i].gap == glued && z[i-1].isMark('$')
}
