// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// rawWord returns the end of the run without blanks at i, and the end of the
// noise it begins with, i if there is none.
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
				return raw, i // a link: its text first
			}
		}
	}
	word := s[i:raw]
	switch {
	case strings.HasPrefix(word, "]("), slash, at >= 0, strings.HasPrefix(word, "www."),
		word[0] == '/' && len(word) > 1 && word[1] > '9', strings.HasPrefix(word, "data:"):
	case strings.Contains(word, ".com"), strings.Contains(word, ".org/"), strings.Contains(word, ".html"):
	case word[0] == '#' && len(word) > 1 && word[1] != '#':
	default:
		return raw, i
	}
	end := raw
	if strings.HasPrefix(word, "](") {
		if j := strings.IndexByte(word, ')'); j >= 0 {
			return i + j + 1, i + j + 1
		}
	}
	for end > i+1 && strings.IndexByte(".,;:!?)\"'*_]", s[end-1]) >= 0 {
		end--
	}
	return raw, end
}

// numberAt reads digits, the marks between them, and letters glued to them.
func (z *tokenizer) numberAt(s string, i int, t *token) int {
	t.kind = numberToken
	z.lower = z.lower[:0]
	for start := i; i < len(s); {
		c, size := s[i], 1
		switch {
		case '0' <= c && c <= '9':
			if t.has(suffixed) { // a code such as 3D5
				t.kind = noiseToken
			}
		case strings.IndexByte(".,:/-", c) >= 0 && digitAt(s, i+1) && i > start:
		case 'A' <= c && c <= 'Z' && i-start == 4 && isYear(s[start:i]): // a word glued to a year
			size = 0
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			t.shape |= suffixed
		case c < utf8.RuneSelf:
			size = 0
		default:
			size = wideInNumber(s, i, t)
		}
		if size == 0 {
			break
		}
		i += size
	}
	t.end = int32(i)
	return i
}

// wideInNumber returns the size of the rune at s[i] beyond ASCII if it is a part of
// a number, 0 if the number ends there.
func wideInNumber(s string, i int, t *token) int {
	r, size := utf8.DecodeRuneInString(s[i:])
	switch {
	case (r == '–' || r == '−' || r == '‑') && digitAt(s, i+size):
	case unicode.IsNumber(r):
	case unicode.IsLetter(r) && !text.Unspaced(r):
		t.shape |= suffixed
	default:
		return 0
	}
	return size
}

// markAt reads a mark. The possessive 's and the apostrophe after a final s are
// one mark; a run of the same mark is one token.
func (z *tokenizer) markAt(s string, i int, r rune, size int, t *token) int {
	t.kind, t.mark = markToken, markOther
	end := i + size
	switch r {
	case '“', '”', '„', '«', '»', '″', '「', '」', '『', '』', '《', '》':
		t.mark = markQuote
	case '\'', '’', '‘', 'ʼ', '`':
		t.mark = markApostrophe
		if t.gap == glued && len(z.tokens) > 0 && (r == '\'' || r == '’' || r == 'ʼ') {
			last := z.tokens[len(z.tokens)-1]
			switch {
			case last.kind > numberToken:
			case end < len(s) && isPossessive(s, end):
				t.mark, end = markPossessive, end+1
			case s[last.end-1]|0x20 == 's' && end < len(s) && s[end] == ' ':
				t.mark = markPossessive
			}
		}
	case '–', '—', '―', '−', '-':
		t.mark = markDash
	case '*', '_', '•', '·', '|':
		t.mark = markBullet
	case '，', '、':
		t.mark = ','
	case '（':
		t.mark = '('
	case '）':
		t.mark = ')'
	case '。', '…':
		t.mark = '.'
	case '€', '£', '¥', '$':
		t.mark = '$'
	default:
		if r < utf8.RuneSelf {
			t.mark = byte(r)
		}
	}
	for t.mark != markPossessive && strings.HasPrefix(s[end:], s[i:i+size]) {
		end += size
	}
	t.end = int32(end)
	return end
}
