// SPDX-License-Identifier: Apache-2.0

package text

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// FoldName returns the key under which the spellings of one entity's name meet: NFC, lower case, runs of white
// space and control characters as one blank, typographic quotes and dashes as their ASCII forms, and nothing at
// the ends that is not part of a name (blanks, commas, full stops, markdown marks, quotes without a partner
// inside, a pair of quotes or brackets around the whole). Accents, inner punctuation and symbols such as the + of
// "C++" stay; full-width letters are narrow and narrow kana full ones. Invalid UTF-8 and invisible joiners are
// dropped. FoldName is idempotent; a name of nothing but punctuation folds to "".
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

// drop marks runes that vanish.
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

// narrow returns the ASCII character of a full-width form. Other compatible characters (½, ²) mean something else.
func narrow(r rune) rune {
	if '！' <= r && r <= '～' {
		return r - '！' + '!'
	}
	return r
}

// appendFolded appends a rune in lower case, such that spellings with ς and ß meet the others.
func appendFolded(b []byte, r rune) []byte {
	switch r {
	case 'ς':
		r = 'σ'
	case 'ß':
		return append(b, "ss"...)
	}
	if '･' <= r && r <= halfSoundMark || 'ﬀ' <= r && r <= 'ﬆ' { // narrow kana, ligatures of print
		return norm.NFKC.AppendString(b, string(r))
	}
	return utf8.AppendRune(b, narrow(r))
}

// loose are the characters that are trimmed from the ends of a name.
const loose = " '.,;:!?…*_-|•·¿¡。、，；：！？"

// pairs are taken off around a whole name; of the quotes, the last ones, also one without the other.
var pairs = [...][2]string{{"(", ")"}, {"[", "]"}, {"{", "}"}, {"（", "）"}, {"【", "】"},
	{`"`, `"`}, {"「", "」"}, {"『", "』"}, {"《", "》"}}

const firstQuote = 5 // in pairs

func trimName(s string) string {
	for inner, ok := s, true; ok; inner, ok = unwrap(s) {
		s = strings.Trim(inner, loose)
	}
	return s
}

// unwrap takes off a pair around all of s, or a quote at an end that has no partner in s.
func unwrap(s string) (string, bool) {
	for i, p := range pairs {
		inner, begins := strings.CutPrefix(s, p[0])
		body, ends := strings.CutSuffix(inner, p[1])
		switch {
		case begins && ends && !strings.Contains(body, p[0]) && !strings.Contains(body, p[1]):
			return body, true
		case i < firstQuote:
			continue
		case begins && !strings.Contains(inner, p[1]):
			return inner, true
		case begins: // its partner stands inside
		case ends && !strings.Contains(body, p[0]):
			return body, true
		}
		if other, ok := strings.CutPrefix(s, p[1]); ok && p[0] != p[1] { // the wrong way round
			return other, true
		}
		if other, ok := strings.CutSuffix(s, p[0]); ok && p[0] != p[1] {
			return other, true
		}
	}
	return s, false
}

// List is a list of texts, each made when it is read, without a copy in memory. It is safe for concurrent use.
type List struct {
	n  int
	at func(i int) string
}

// NewList is the list of n texts that at returns, the same ones each time, and to several goroutines at once.
func NewList(n int, at func(i int) string) List { return List{n, at} }

// Strings is the list of texts that are there.
func Strings(texts []string) List { return List{len(texts), func(i int) string { return texts[i] }} }

// Len is the number of texts.
func (l List) Len() int { return l.n }

// At is a text.
func (l List) At(i int) string { return l.at(i) }

// All are the texts in their order.
func (l List) All() iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range l.n {
			if !yield(l.at(i)) {
				return
			}
		}
	}
}
