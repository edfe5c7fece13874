// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// quotable returns a sentence as it would be quoted; false for what is no prose.
func quotable(raw string) (string, bool) {
	clean := load.Plain(raw)
	if mostlyLinks(raw, clean) {
		return clean, false
	}
	clean = strings.TrimLeft(clean, "#*->+|=•_~` ")
	if caption, ok := strings.CutPrefix(clean, "Image "); ok && caption != "" && unicode.IsNumber(rune(caption[0])) {
		return clean, false // what scrapers make of an image without a caption
	}
	if strings.IndexByte(clean, '|') >= 0 {
		return clean, false // a menu in one line
	}
	letters, all := 0, 0
	for _, r := range clean {
		switch {
		case 'a' <= r|0x20 && r|0x20 <= 'z', r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)):
			letters++
			all++
		case r != ' ':
			all++
		}
	}
	return clean, clean != "" && (float64(letters) >= minLetters*float64(all) || all < minLine && letters > 0)
}

// countWords counts what stands between blanks.
func countWords(s string) (n int) {
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}

// mostlyLinks tells whether most of a text went when its links were taken out, or it is
// a cookie note, which stands beside them.
func mostlyLinks(raw, clean string) bool {
	return float64(len(raw)-len(clean)) > maxLinkPart*float64(len(raw)) ||
		len(clean) < maxNote && strings.Contains(strings.ToLower(clean), "cookies")
}

// isQuestion tells whether a sentence asks: it answers nothing.
func isQuestion(s string) bool { return strings.HasSuffix(s, "?") || strings.HasSuffix(s, "？") }

// ends tells whether a sentence has an end.
func ends(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsPunct(r)
}

// bibliographic tells whether a sentence looks like an entry of a bibliography.
func bibliographic(s string) bool {
	n := 0
	for _, mark := range []string{"ISBN", "doi", " pp. ", " ed.", "eds.", "Retrieved", "Vol. ", "Archived", "University Press", "et al."} {
		if strings.Contains(s, mark) {
			n++
		}
	}
	return n > 1
}
