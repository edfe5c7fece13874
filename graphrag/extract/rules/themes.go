// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Themes are what a question is about beside the names in it: its runs of
// content words, as they are written, in order and each once. It stands in for
// the keywords that a model would find.
func Themes(question string, names []string) []string {
	rest := question
	for _, n := range names {
		rest = strings.ReplaceAll(rest, n, "\n")
	}
	var out []string
	start, end := -1, 0
	flush := func() {
		if start >= 0 && !slices.ContainsFunc(out, func(x string) bool { return strings.EqualFold(x, rest[start:end]) }) {
			out = append(out, rest[start:end])
		}
		start = -1
	}
	words := text.Default()
	words.Spans(rest, func(word []byte, lo, hi int) {
		_, content := words.Term(string(word))
		if start >= 0 && (!content || lo > end && strings.Trim(rest[end:lo], " -’'") != "") {
			flush()
		}
		if content {
			if start < 0 {
				start = lo
			}
			end = hi
		}
	})
	flush()
	return out
}
