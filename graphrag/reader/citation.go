// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxMark bounds the numbers in citation marks. Larger ones are text: [1945].
const maxMark = 999

// cite takes the citation marks [1], [2, 3] and [4-6] out of a reply and
// returns the text without them, and one citation for each sentence and
// passage that a mark connects. Marks of passages that do not exist (there are
// n) go without leaving a citation. Brackets with anything else inside stay.
func cite(reply string, n int) (string, []graphrag.Citation) {
	type mark struct{ at, passage int } // at: offset in the text without marks
	var b strings.Builder
	var marks []mark
	for i := 0; i < len(reply); {
		open := strings.IndexByte(reply[i:], '[')
		if open < 0 {
			b.WriteString(reply[i:])
			break
		}
		open += i
		passages, end := parseMark(reply, open, n)
		if end == 0 {
			b.WriteString(reply[i : open+1])
			i = open + 1
			continue
		}
		// The blank before a mark goes with it: "so [1]." becomes "so.".
		b.WriteString(strings.TrimRight(reply[i:open], " \t"))
		for _, p := range passages {
			marks = append(marks, mark{b.Len(), p})
		}
		i = end
	}
	answer := strings.TrimRight(b.String(), " \t\r\n")
	lead := len(answer) - len(strings.TrimLeft(answer, " \t\r\n"))
	answer = answer[lead:]

	var citations []graphrag.Citation
	sentences := text.Sentences(answer)
	seen := make(map[[2]int]bool) // sentence and passage
	s := 0
	for _, m := range marks {
		// The sentence of a mark is the last that begins before it.
		for s+1 < len(sentences) && sentences[s+1].Start < m.at-lead {
			s++
		}
		if s >= len(sentences) || seen[[2]int{s, m.passage}] {
			continue
		}
		seen[[2]int{s, m.passage}] = true
		citations = append(citations, graphrag.Citation{Start: sentences[s].Start, End: sentences[s].End, Evidence: m.passage})
	}
	return answer, citations
}

// parseMark reads a citation mark at s[open] and returns the passages it names
// that exist, counted from 0, and the offset after it; 0 if it is no mark.
func parseMark(s string, open, n int) (passages []int, end int) {
	i := open + 1
	number := func() int {
		start := i
		for i < len(s) && i-start < 4 && '0' <= s[i] && s[i] <= '9' {
			i++
		}
		v, err := strconv.Atoi(s[start:i])
		if err != nil || v > maxMark {
			return -1
		}
		return v
	}
	blanks := func() {
		for i < len(s) && s[i] == ' ' {
			i++
		}
	}
	for {
		blanks()
		first := number()
		if first < 0 {
			return nil, 0
		}
		last := first
		if blanks(); strings.HasPrefix(s[i:], "-") || strings.HasPrefix(s[i:], "–") {
			i += len("-")
			if s[i-1] != '-' {
				i += len("–") - len("-")
			}
			blanks()
			if last = number(); last < first {
				return nil, 0
			}
			blanks()
		}
		for p := max(first, 1); p <= min(last, n) && len(passages) < n; p++ {
			passages = append(passages, p-1)
		}
		if i >= len(s) {
			return nil, 0
		}
		switch s[i] {
		case ']':
			return passages, i + 1
		case ',', ';':
			i++
		default:
			return nil, 0
		}
	}
}

// isSourceSpan tells whether the text of a chunk is its source span, byte for
// byte, and was not cleaned. Cleaning only ever takes bytes away.
func isSourceSpan(c graphrag.Chunk) bool { return len(c.Text) == c.End-c.Start }
