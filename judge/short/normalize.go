// SPDX-License-Identifier: Apache-2.0

package short

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Normalize returns the form of an answer that is compared: lower case, without the 32 ASCII punctuation
// characters, without the words a, an and the, and with one space between words.
//
// It equals the Python scripts of the data sets, character by character. Where Go's own functions differ,
// Python's rules apply: word boundaries and letters are Unicode, lower case is the full mapping ("İ" becomes
// two code points, a final "Σ" becomes "ς"), U+001C to U+001F are spaces, and dashes or quotation marks
// outside ASCII stay. Punctuation is removed without a gap: "Eiffel-Tower" is one word.
//
// A byte that is not valid UTF-8 is read as U+FFFD.
func Normalize(s string) string {
	var lower strings.Builder
	for i, r := range s {
		switch {
		case isPunct(r):
		case r == 'İ':
			lower.WriteString("i\u0307")
		case r == 'Σ' && isFinal(s[:i], s[i+len("Σ"):]):
			lower.WriteRune('ς')
		default:
			lower.WriteRune(unicode.ToLower(r))
		}
	}
	s = wordRun.ReplaceAllStringFunc(lower.String(), func(word string) string {
		if word == "a" || word == "an" || word == "the" {
			return " "
		}
		return word
	})
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x1c && r <= 0x1f }), " ")
}

// wordRun equals \w+ of Python's re module.
var wordRun = regexp.MustCompile(`[\p{L}\p{N}_]+`)

// isPunct reports membership in Python's string.punctuation.
func isPunct(r rune) bool {
	return r >= '!' && r <= '/' || r >= ':' && r <= '@' || r >= '[' && r <= '`' || r >= '{' && r <= '~'
}

// isFinal is the condition Final_Sigma of the Unicode Standard, section 3.13, for the letter between two
// texts: a cased letter before it, none after it, ignoring case-ignorable characters.
func isFinal(before, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(before, isCaseIgnorable))
	next, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(after, isCaseIgnorable))
	return isCased(last) && !isCased(next)
}

// isCased is the property Cased of the Unicode Standard.
func isCased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.In(r, unicode.Other_Lowercase, unicode.Other_Uppercase)
}

// isCaseIgnorable is the property Case_Ignorable: the categories below and the
// characters that break words as MidLetter, MidNumLet or Single_Quote.
func isCaseIgnorable(r rune) bool {
	return strings.ContainsRune("'.:\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a", r) ||
		unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}
