// SPDX-License-Identifier: Apache-2.0

package short

import (
	"unicode"
	"unicode/utf8"
)

// Normalize brings an answer to the form that is compared: lower case, without
// the 32 ASCII punctuation characters, without the words a, an and the, and
// with one space between words.
//
// It gives what the Python scripts of the data sets give, character by
// character. Where Go's own functions differ, Python wins: word boundaries and
// letters are Unicode, lower case is the full mapping ("İ" becomes two code
// points, a final "Σ" becomes "ς"), U+001C to U+001F are spaces, and dashes or
// quotation marks outside ASCII stay. Punctuation goes without leaving a gap:
// "Eiffel-Tower" is one word.
//
// A byte that is not valid UTF-8 is read as U+FFFD.
func Normalize(s string) string {
	return string(appendNormalized(make([]byte, 0, len(s)), s))
}

// appendNormalized appends the normalized s to an empty buf.
func appendNormalized(buf []byte, s string) []byte {
	buf = appendLower(buf, s)
	// What is kept moves left over what was dropped, within buf: a gap is one
	// byte and stands for at least one.
	n, gap := 0, false
	keep := func(from, to int) {
		if gap && n > 0 {
			buf[n] = ' '
			n++
		}
		gap = false
		n += copy(buf[n:], buf[from:to])
	}
	for i := 0; i < len(buf); {
		r, size := utf8.DecodeRune(buf[i:])
		switch {
		case isSpace(r):
			gap = true
			i += size
		case isWord(r):
			j := i + size
			for j < len(buf) {
				r, size := utf8.DecodeRune(buf[j:])
				if !isWord(r) {
					break
				}
				j += size
			}
			switch string(buf[i:j]) {
			case "a", "an", "the":
				gap = true
			default:
				keep(i, j)
			}
			i = j
		default:
			keep(i, i+size)
			i += size
		}
	}
	return buf[:n]
}

// appendLower appends the lower-case form of s without ASCII punctuation.
func appendLower(buf []byte, s string) []byte {
	for i, r := range s {
		switch {
		case r >= 'a' && r <= 'z' || r == ' ':
			buf = append(buf, byte(r))
		case isPunct(r):
		case r < utf8.RuneSelf:
			buf = append(buf, byte(unicode.ToLower(r)))
		case r == 'İ':
			buf = append(buf, "i\u0307"...)
		case r == 'Σ' && isFinal(s, i, len("Σ")):
			buf = append(buf, "ς"...)
		default:
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
		}
	}
	return buf
}

// isFinal is the condition Final_Sigma of the Unicode Standard, section 3.13,
// for the letter of the given size at byte i: a cased letter before it, none
// after it, case-ignorable characters apart.
func isFinal(s string, i, size int) bool {
	before, after := s[:i], s[i+size:]
	for {
		r, n := utf8.DecodeLastRuneInString(before)
		if n == 0 {
			return false
		}
		if !isCaseIgnorable(r) {
			if !isCased(r) {
				return false
			}
			break
		}
		before = before[:len(before)-n]
	}
	for _, r := range after {
		if !isCaseIgnorable(r) {
			return !isCased(r)
		}
	}
	return true
}

// isWord is \w of Python's re module.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r == '_'
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r)
}

// isSpace is str.isspace of Python.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }

// isPunct is membership in string.punctuation of Python.
func isPunct(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// isCased is the property Cased of the Unicode Standard.
func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is the property Case_Ignorable: the categories below and the
// characters that break words as MidLetter, MidNumLet or Single_Quote.
func isCaseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027,
		0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
