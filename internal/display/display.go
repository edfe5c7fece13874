// SPDX-License-Identifier: Apache-2.0

// Package display formats texts and numbers for terminals, tables and JSON output.
package display

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Printable makes a text from outside safe to show: it removes the characters that control a terminal, that
// change the direction of writing, or that are invisible. Line breaks and tabs stay; other control characters,
// and Unicode's separators of lines and paragraphs, become blanks.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case !hidden(r):
			return r
		case unicode.In(r, unicode.Cf):
			return -1
		}
		return ' '
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// OneLine returns a printable text on one line, for a table or a line of progress.
func OneLine(s string) string { return blankLines.Replace(Printable(s)) }

var blankLines = strings.NewReplacer("\n", " ", "\t", " ")

// JSON returns an encoder that writes no HTML escapes, and writes the characters that Printable removes as \u
// escapes, so that a terminal can show the output.
func JSON(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(escaper{w})
	enc.SetEscapeHTML(false)
	return enc
}

// escaper escapes hidden characters in the output of a json.Encoder, which writes whole values.
type escaper struct{ w io.Writer }

func (e escaper) Write(p []byte) (int, error) {
	if _, err := e.w.Write(escape(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// escape writes hidden characters as \u escapes, which mean the same inside strings. Outside strings valid JSON
// has no hidden characters except line breaks and tabs.
func escape(data []byte) []byte {
	if !strings.ContainsFunc(string(data), hidden) {
		return data
	}
	out := make([]byte, 0, len(data)+64)
	for _, r := range string(data) {
		if hidden(r) {
			for _, unit := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, unit)
			}
			continue
		}
		out = utf8.AppendRune(out, r)
	}
	return out
}

// hidden reports whether Printable removes a character. The two joiners, which some scripts need, are kept.
func hidden(r rune) bool {
	switch {
	case ' ' <= r && r <= '~', r == '\n', r == '\t', r == '\u200c', r == '\u200d':
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// Head returns the first words of a text, in at most the given number of bytes; "" if the first word is longer.
func Head(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	return strings.TrimSpace(s[:max(strings.LastIndexFunc(s[:bytes+1], unicode.IsSpace), 0)])
}

// Digits returns a number with commas between groups of three digits.
func Digits(n int) string {
	s := strconv.Itoa(n)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Counted returns a number and a noun in the singular or plural: "1 page", "2 pages".
func Counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Digits(n) + " " + one + "s"
}

// Beginning returns at most the first 80 bytes of a text, followed by an ellipsis if it is longer.
func Beginning(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

// Single returns a text on one line, without control characters.
func Single(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

// romans are Roman numerals with their values.
var romans = []struct {
	value int
	sign  string
}{{1000, "m"}, {900, "cm"}, {500, "d"}, {400, "cd"}, {100, "c"}, {90, "xc"}, {50, "l"}, {40, "xl"}, {10, "x"}, {9, "ix"}, {5, "v"}, {4, "iv"}, {1, "i"}}

// Numeral returns a number in a format of DOCX (ECMA-376 part 1, 17.18.59), ODT, PPTX or HTML, by default
// decimal.
func Numeral(of string, n int) string {
	decimal := strconv.Itoa(n)
	switch of {
	case "none", "bullet":
		return ""
	case "upperLetter", "A", "alphaUc", "upper-alpha", "upper-latin":
		return strings.ToUpper(Numeral("a", n))
	case "upperRoman", "I", "romanUc", "upper-roman":
		return strings.ToUpper(Numeral("i", n))
	case "lowerLetter", "a", "alphaLc", "lower-alpha", "lower-latin":
		if n > 0 && n <= 26*32 { // after z follow aa, bb and so on
			return strings.Repeat(string(rune('a'+(n-1)%26)), 1+(n-1)/26)
		}
	case "lowerRoman", "i", "romanLc", "lower-roman":
		s := ""
		for _, r := range romans {
			for n > 0 && n < 1<<12 && n >= r.value {
				s, n = s+r.sign, n-r.value
			}
		}
		return cmp.Or(s, decimal)
	case "decimalZero":
		return strings.Repeat("0", max(0, 2-len(decimal))) + decimal
	}
	return decimal
}
