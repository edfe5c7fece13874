// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
)

// The excerpts of the prompt in a record, which show a reader why an answer is as it is: at most 3 KB an
// answer.
const (
	excerptBytes    = 320 // of one text
	excerpts        = 6   // texts of the sources: cited ones, gold documents, then the first
	derivedExcerpts = 2   // facts and summaries
)

// excerpt stores the relevant parts of the prompt with an answer: its quotes, or else the place with most
// words of the gold answer and the question.
func excerpt(out *record.Answer, a graphrag.Answer, it Item) {
	a.Citations = slices.DeleteFunc(slices.Clone(a.Citations), func(c graphrag.Citation) bool {
		return c.Start < 0 || c.Start >= c.End || c.End > len(a.Text) || c.Of == graphrag.OfSource || c.Of == "" && (c.Evidence < 0 || c.Evidence >= len(a.Evidence))
	})
	out.Citations = a.Citations
	want := wordsOf(append(it.GoldStatements(), it.Question.Text)...)
	for _, i := range chosen(a, it) {
		seek := want
		var quotes [][2]int
		for _, c := range a.Citations {
			if c.Of != "" || c.Evidence != i {
				continue
			}
			if q, ok := quoted(a, c); ok {
				quotes = append(quotes, q)
			} else {
				seek = wordsOf(a.Text[c.Start:c.End])
			}
		}
		slices.SortFunc(quotes, func(x, y [2]int) int { return cmp.Compare(x[0], y[0]) })
		out.Evidence[i].Excerpt, out.Evidence[i].Quotes = window(a.Evidence[i].Chunk.Text, quotes, seek)
	}
	for i, d := range a.Derived[:min(derivedExcerpts, len(a.Derived))] {
		out.Derived[i].Excerpt, _ = window(d.Text, nil, want)
	}
}

// chosen lists the evidence of which a part is stored, the most important first: cited texts, gold documents,
// the others.
func chosen(a graphrag.Answer, it Item) []int {
	order, class := make([]int, len(a.Evidence)), make([]int, len(a.Evidence))
	for i, h := range a.Evidence {
		order[i], class[i] = i, 2
		if it.isGold(h.Chunk.Doc) {
			class[i] = 1
		}
	}
	for _, c := range a.Citations {
		if c.Of == "" {
			class[c.Evidence] = 0
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(class[x], class[y]) })
	return order[:min(excerpts, len(order))]
}

// quoted returns the bytes of a chunk that a citation quotes: by the citation's offsets, which may be wrong,
// if the chunk is a span of its document, or where the chunk contains the cited words. It is false if the
// whole chunk is cited.
func quoted(a graphrag.Answer, c graphrag.Citation) ([2]int, bool) {
	chunk := a.Evidence[c.Evidence].Chunk
	from, to := c.SourceStart-chunk.Start, c.SourceEnd-chunk.Start
	if chunk.End-chunk.Start == len(chunk.Text) && 0 <= from && from < to && to <= len(chunk.Text) && to-from < len(chunk.Text) {
		return [2]int{from, to}, true
	}
	quote := strings.TrimSpace(a.Text[c.Start:c.End])
	from = strings.Index(chunk.Text, quote)
	return [2]int{from, from + len(quote)}, from >= 0 && quote != ""
}

// window returns the part of a text around its first quote, or with most of some words, and the places of the
// quotes in it. An ellipsis marks each omission.
func window(s string, quotes [][2]int, seek map[string]bool) (string, [][2]int) {
	from, to := 0, len(s)
	if len(s) > excerptBytes {
		if len(quotes) > 0 {
			from = quotes[0][0] - excerptBytes/4
		} else {
			from = densest(s, seek)
		}
		from = wordAt(s, max(min(from, len(s)-excerptBytes), 0))
		to = wordAt(s, min(from+excerptBytes, len(s)))
	}
	head, tail := "", ""
	if from > 0 {
		head = "… "
	}
	if to < len(s) {
		tail = " …"
	}
	var shown [][2]int
	for _, q := range quotes {
		if q[0] < to && q[1] > from {
			shown = append(shown, [2]int{max(q[0], from) - from + len(head), min(q[1], to) - from + len(head)})
		}
	}
	return head + s[from:to] + tail, shown
}

// densest returns the start of the window with the most different words of a set; 0 without any.
func densest(s string, seek map[string]bool) int {
	type hit struct {
		at   int
		word string
	}
	var hits []hit
	eachWord(s, func(at int, word string) {
		if seek[word] {
			hits = append(hits, hit{at, word})
		}
	})
	best, most, first := 0, 0, 0
	inside := make(map[string]int)
	for _, h := range hits {
		inside[h.word]++
		for ; h.at-hits[first].at > excerptBytes*3/4; first++ {
			if w := hits[first].word; inside[w] == 1 {
				delete(inside, w)
			} else {
				inside[w]--
			}
		}
		if len(inside) > most {
			best, most = hits[first].at, len(inside)
		}
	}
	return best - excerptBytes/8
}

// eachWord calls each with the lower-cased content words of a text: numbers, and words of four bytes or more.
func eachWord(s string, each func(at int, word string)) {
	start := -1
	for i, r := range s + " " {
		switch inWord := unicode.IsLetter(r) || unicode.IsDigit(r); {
		case inWord && start < 0:
			start = i
		case !inWord && start >= 0:
			if i-start >= 4 || s[start] <= '9' {
				each(start, strings.ToLower(s[start:i]))
			}
			start = -1
		}
	}
}

func wordsOf(texts ...string) map[string]bool {
	out := make(map[string]bool)
	for _, s := range texts {
		eachWord(s, func(_ int, word string) { out[word] = true })
	}
	return out
}

// wordAt moves an offset to the next start of a word if that is near, else to the start of its character.
func wordAt(s string, at int) int {
	for i := at; i > 0 && i < min(at+24, len(s)); i++ {
		if s[i-1] == ' ' || s[i-1] == '\n' {
			return i
		}
	}
	for at > 0 && at < len(s) && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}
