// SPDX-License-Identifier: Apache-2.0

package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldName returns the key under which the spellings of one entity's name
// meet: NFC, lower case, runs of white space and control characters as one blank,
// typographic quotes and dashes as their ASCII forms, and nothing at the ends
// that is not part of a name (blanks, quotes, commas, full stops, markdown
// marks, a pair of brackets around the whole). Accents, inner punctuation and
// symbols such as the + of "C++" stay; full-width forms are their narrow ones. Invalid UTF-8 and invisible joiners
// are dropped. FoldName is idempotent; a name of nothing but punctuation
// folds to "".
func FoldName(s string) string {
	s = norm.NFC.String(s)
	b := make([]byte, 0, len(s))
	blank := false
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		i += size
		switch r = foldRune(r); {
		case r == drop || r == utf8.RuneError && size == 1:
		case r == ' ':
			blank = true
		default:
			if blank && len(b) > 0 {
				b = append(b, ' ')
			}
			blank = false
			b = appendFolded(b, r)
		}
	}
	return trimName(norm.NFC.String(string(b))) // lower case may compose where upper case does not
}

// drop stands for runes that vanish.
const drop = -1

func foldRune(r rune) rune {
	switch r = narrow(r); r {
	case softHyphen, '\u200B', zeroWidthNon, zeroWidthJoin, '\u2060', '\uFEFF':
		return drop
	case '‘', '’', '‚', '‛', '′', '`', '´', 'ʼ':
		return '\''
	case '“', '”', '„', '‟', '″', '«', '»':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return '-'
	}
	if unicode.IsSpace(r) || unicode.IsControl(r) {
		return ' '
	}
	return unicode.ToLower(r)
}

// narrow returns the ASCII character of a full-width form. Other characters that
// Unicode calls compatible (½, ﬁ, ²) say something else and stay.
func narrow(r rune) rune {
	if '！' <= r && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

// appendFolded appends a rune in lower case such that spellings meet which differ
// in the place within a word (ς) or in upper case only (ß).
func appendFolded(b []byte, r rune) []byte {
	switch r {
	case 'ς':
		r = 'σ'
	case 'ß':
		return append(b, "ss"...)
	}
	return utf8.AppendRune(b, narrow(r))
}

// loose are the characters that are trimmed from the ends of a name.
const loose = " '\".,;:!?…*_-|•·¿¡。、，；：！？「」『』《》"

// brackets are the pairs that are taken off when they enclose a whole name.
var brackets = [...][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"（", "）"}, {"【", "】"}}

func trimName(s string) string {
	for {
		s = strings.Trim(s, loose)
		inner, ok := unwrap(s)
		if !ok {
			return s
		}
		s = inner
	}
}

// unwrap takes off one pair of brackets around all of s.
func unwrap(s string) (string, bool) {
	for _, p := range brackets {
		inner, begins := strings.CutPrefix(s, p[0])
		inner, ends := strings.CutSuffix(inner, p[1])
		if begins && ends && !strings.Contains(inner, p[0]) && !strings.Contains(inner, p[1]) {
			return inner, true
		}
	}
	return s, false
}
