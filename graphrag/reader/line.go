// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxWrapped is the longest line, in bytes, that a break was put into to make it fit.
const maxWrapped = 120

// sentences are those of a paragraph. A line that was ended on purpose ends a sentence:
// pages that were cleaned have no blank lines, and a caption or a date, which have no full
// stop, would be one sentence with the line below.
func sentences(s string) []text.Span {
	most, end := width(s), 0
	if end = lineEnd(s, most); end == len(s) {
		return text.Sentences(s)
	}
	var out []text.Span
	for start := 0; start < len(s); start, end = end, end+lineEnd(s[end:], most) {
		for _, p := range text.Sentences(s[start:end]) {
			out = append(out, text.Span{Start: start + p.Start, End: start + p.End})
		}
	}
	return out
}

// lineEnd is where the first line of s ends that had room for the word below it, in
// lines of so many bytes. What begins in lower case goes on from the line above.
func lineEnd(s string, most int) int {
	for start := 0; ; {
		n := strings.IndexByte(s[start:], '\n')
		if n < 0 {
			return len(s)
		}
		next := start + n + 1
		word := strings.TrimLeft(s[next:], " \t\r")
		if i := strings.IndexAny(word, " \t\r\n"); i >= 0 {
			word = word[:i]
		}
		if !startsLow(word) && (most > maxWrapped || n+1+len(word) <= most) {
			return next
		}
		start = next
	}
}

// width is the length in bytes of the longest line of s.
func width(s string) (most int) {
	for line := range strings.SplitSeq(s, "\n") {
		most = max(most, len(line))
	}
	return most
}

func startsLow(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLower(r)
}
