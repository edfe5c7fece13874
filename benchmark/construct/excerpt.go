// SPDX-License-Identifier: Apache-2.0

package construct

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// window is how much of a page is looked at at once, in bytes: about three paragraphs.
const window = 1500

// windows are the pieces of a page, cut at line ends where there are some.
func windows(page string) []string {
	var out []string
	for page != "" {
		end := len(page)
		if end > window {
			if end = strings.LastIndexByte(page[:window], '\n') + 1; end < window/2 {
				end = len(text.Head(page, window))
			}
		}
		out, page = append(out, page[:end]), page[end:]
	}
	return out
}

// terms are the distinct content words of a text, sorted.
func terms(s string) []string {
	all := text.Default().Terms(s)
	slices.Sort(all)
	return slices.Compact(all)
}

// held tells which of the terms each window has.
func held(windows, terms []string) [][]bool {
	out := make([][]bool, len(windows))
	for i, w := range windows {
		have := make(map[string]bool)
		for _, t := range text.Default().Terms(w) {
			have[t] = true
		}
		out[i] = make([]bool, len(terms))
		for j, t := range terms {
			out[i][j] = have[t]
		}
	}
	return out
}

// Excerpt is what of a page has most to do with a statement, in the order of the page,
// in at most the given bytes: the windows with its words, the rare ones first.
func Excerpt(page, statement string, bytes int) string {
	if len(page) <= bytes {
		return page
	}
	all, words := windows(page), terms(statement)
	have := held(all, words)
	rare := make([]float64, len(words))
	for j := range words {
		for i := range have {
			if have[i][j] {
				rare[j]++
			}
		}
	}
	score := make([]float64, len(all))
	order := make([]int, len(all))
	for i := range all {
		order[i] = i
		for j := range words {
			if have[i][j] {
				score[i] += 1 / rare[j]
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	order = order[:min(len(order), max(1, bytes/window))]
	slices.Sort(order)
	var out strings.Builder
	for n, i := range order {
		if n > 0 && order[n-1] != i-1 {
			out.WriteString("\n…\n")
		}
		out.WriteString(all[i])
	}
	return text.Head(out.String(), bytes)
}
