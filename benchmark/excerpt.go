// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"cmp"
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The texts that a record keeps of what was read, so that a person sees why an answer
// is what it is: 3 KB an answer at most.
const (
	excerptBytes = 320 // of one text
	excerpts     = 6   // texts of the sources: cited ones, those of gold documents, then the first
	madeExcerpts = 2   // texts made of sources
)

// excerpt keeps with an answer the parts of its prompt that matter: the words that it
// quotes, or else where the words of the gold answer, or of the question, are densest.
func excerpt(out *record.Answer, a graphrag.Answer, it Item) {
	a.Citations = slices.DeleteFunc(slices.Clone(a.Citations), func(c graphrag.Citation) bool {
		return c.Start < 0 || c.Start >= c.End || c.End > len(a.Text) || c.Of == "" && (c.Evidence < 0 || c.Evidence >= len(a.Evidence))
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
	for i, d := range a.Derived[:min(madeExcerpts, len(a.Derived))] {
		out.Derived[i].Excerpt, _ = window(d.Text, nil, want)
	}
}

// chosen are the places of the evidence of which a part is kept, those that matter
// most first.
func chosen(a graphrag.Answer, it Item) []int {
	rank := make([]int, len(a.Evidence))
	for i, h := range a.Evidence {
		switch {
		case slices.ContainsFunc(a.Citations, func(c graphrag.Citation) bool { return c.Of == "" && c.Evidence == i }):
		case slices.ContainsFunc(it.Gold, func(u Unit) bool { return slices.Contains(u, h.Chunk.Doc) }):
			rank[i] = 1
		default:
			rank[i] = 2
		}
	}
	order := make([]int, len(rank))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(rank[x], rank[y]) })
	return order[:min(excerpts, len(order))]
}

// quoted are the bytes of a passage that a citation quotes, and false if it means the
// whole of it, or what it quotes is not found. Offsets are the system's word and may be
// wrong.
func quoted(a graphrag.Answer, c graphrag.Citation) ([2]int, bool) {
	chunk := a.Evidence[c.Evidence].Chunk
	from, to := c.SourceStart-chunk.Start, c.SourceEnd-chunk.Start
	if chunk.End-chunk.Start == len(chunk.Text) && 0 <= from && from < to && to <= len(chunk.Text) && to-from < len(chunk.Text) {
		return [2]int{from, to}, true
	}
	return sequence(chunk.Text, a.Text[c.Start:c.End])
}

// sequence finds where a text has the words of a quote in their order, whatever stands
// between them.
func sequence(text, quote string) (place [2]int, ok bool) {
	var want []string
	for _, w := range words(quote, 1) {
		want = append(want, w)
	}
	if len(want) == 0 {
		return place, false
	}
	var places [][2]int
	var have []string
	for at, w := range words(text, 1) {
		places, have = append(places, at), append(have, w)
		if n := len(have) - len(want); n >= 0 && slices.Equal(have[n:], want) {
			return [2]int{places[n][0], at[1]}, true
		}
	}
	return place, false
}

// window is the part of a text around its first quote, or where words that are sought
// are densest, and the places of the quotes in it. Where something is left out stands
// an ellipsis.
func window(s string, quotes [][2]int, seek *text.Vocabulary) (string, [][2]int) {
	from, to := 0, len(s)
	if len(s) > excerptBytes {
		var at int
		if len(quotes) > 0 {
			at = quotes[0][0] - excerptBytes/4
		} else {
			at = densest(s, seek)
		}
		from = wordStart(s, max(min(at, len(s)-excerptBytes), 0))
		to = wordEnd(s, min(from+excerptBytes, len(s)))
	}
	head, tail := "", ""
	if from > 0 {
		head = "… "
	}
	if to < len(s) {
		tail = " …"
	}
	var lit [][2]int
	for _, q := range quotes {
		if q[0] < to && q[1] > from {
			lit = append(lit, [2]int{max(q[0], from) - from + len(head), min(q[1], to) - from + len(head)})
		}
	}
	return head + s[from:to] + tail, lit
}

// densest is where a window begins that holds the most of some words; 0 without any.
func densest(s string, seek *text.Vocabulary) int {
	type hit struct{ at, word int }
	var hits []hit
	for at, word := range words(s, telling) {
		if n := seek.Find([]byte(word)); n >= 0 {
			hits = append(hits, hit{at[0], n})
		}
	}
	best, most, first, distinct := 0, 0, 0, 0
	held := make([]int, seek.Len())
	for _, h := range hits {
		if held[h.word]++; held[h.word] == 1 {
			distinct++
		}
		for ; h.at-hits[first].at > excerptBytes*3/4; first++ {
			if held[hits[first].word]--; held[hits[first].word] == 0 {
				distinct--
			}
		}
		if distinct > most {
			best, most = hits[first].at, distinct
		}
	}
	return best - excerptBytes/8
}

// telling is the least length of a word, in bytes, that says something by itself.
const telling = 4

// words are the lower-cased words of a text with their places: numbers, and those of at
// least so many bytes.
func words(s string, least int) iter.Seq2[[2]int, string] {
	return func(yield func([2]int, string) bool) {
		for start := 0; start < len(s); {
			from := strings.IndexFunc(s[start:], inWord)
			if from < 0 {
				return
			}
			start += from
			end := len(s)
			if n := strings.IndexFunc(s[start:], func(r rune) bool { return !inWord(r) }); n >= 0 {
				end = start + n
			}
			if (end-start >= least || s[start] <= '9') && !yield([2]int{start, end}, strings.ToLower(s[start:end])) {
				return
			}
			start = end
		}
	}
}

func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func wordsOf(texts ...string) *text.Vocabulary {
	out := text.NewVocabulary()
	for _, s := range texts {
		for _, word := range words(s, telling) {
			out.Add([]byte(word))
		}
	}
	return out
}

// wordStart and wordEnd move a place to the end or the start of the word it is in,
// or at least of the character, without going far.
func wordStart(text string, at int) int {
	for i := at; i > 0 && i < min(at+24, len(text)); i++ {
		if text[i-1] == ' ' || text[i-1] == '\n' {
			return i
		}
	}
	for at > 0 && at < len(text) && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}

func wordEnd(text string, at int) int {
	for i := at; i < len(text) && i > max(at-24, 0); i-- {
		if text[i] == ' ' || text[i] == '\n' {
			return i
		}
	}
	for at < len(text) && at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	return at
}
