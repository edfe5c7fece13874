// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Limits of what is shown of a text, in bytes, and of a list, in pieces. They are
// far above what a person reads; judgments.jsonl beside the page holds everything.
const (
	longText  = 20_000 // an answer, a question, a reason
	longName  = 300    // of a document, a system, a domain
	longQuote = 1_000  // a part of a passage, a statement
	manyTexts = 200    // statements, matches
	manyRanks = 20     // places of a ranking, steps, what a step found, documents
	manyReads = 60     // passages
)

// clean is a text of somebody else's as it can be shown, on several lines.
func clean(s string, limit int) string { return text.Printable(cut(s, limit)) }

// name is such a text on one line.
func name(s string) string { return text.OneLine(cut(s, longName)) }

// cut shortens a text at the start of a character and says by how much.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	end := limit
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + fmt.Sprintf(" … (%d more bytes)", len(s)-end)
}

func names(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = name(s)
	}
	return out
}

func texts(list []string) []string {
	var out []string
	for _, s := range first(list, manyTexts) {
		out = append(out, clean(s, longQuote))
	}
	return out
}

// first are at most n of a list.
func first[T any](list []T, n int) []T { return list[:min(n, len(list))] }
