// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// QuestionNames returns the named entities of a question: those that the rules find and
// those that knows reports (see [Extractor.Entities]), the longest where they overlap, so
// that a known word does not split an unknown name. A known name in lower case counts
// only if it has several words.
func (o *Extractor) QuestionNames(asked string, knows func(folded string) bool) []string {
	all := o.Entities(asked, nil)
	for _, m := range o.Entities(asked, knows) {
		if strings.ContainsFunc(asked[m.Span.Start:m.Span.End], func(r rune) bool {
			return unicode.IsUpper(r) || unicode.IsDigit(r) || unicode.IsLetter(r) && !unicode.IsLower(r)
		}) || strings.Contains(m.Name, " ") {
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b kg.Mention) int {
		return cmp.Or(cmp.Compare(b.Span.End-b.Span.Start, a.Span.End-a.Span.Start), cmp.Compare(a.Span.Start, b.Span.Start))
	})
	var chosen []kg.Mention
	for _, m := range all {
		if !slices.ContainsFunc(chosen, func(o kg.Mention) bool { return m.Span.Start < o.Span.End && o.Span.Start < m.Span.End }) {
			chosen = append(chosen, m)
		}
	}
	slices.SortFunc(chosen, func(a, b kg.Mention) int { return cmp.Compare(a.Span.Start, b.Span.Start) })
	names := make([]string, len(chosen))
	for i, m := range chosen {
		names[i] = m.Name
	}
	return names
}

// Themes returns the topics of a question beside its names: its runs of content words,
// in order and each once. They replace the keywords that a model would return.
func Themes(asked string, names []string) []string {
	rest := asked
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

// MayBeNoun reports whether a word, in lower case, may be a noun or a name. It is false
// for English words of closed classes, adverbs, verb forms and adjectives of the tables,
// and for words that end like an adverb or a past tense. It replaces a part-of-speech
// tagger and does not look at the context.
func MayBeNoun(word string) bool {
	l := tableLexicon()
	c := l.class[l.words[word]]
	switch {
	case c&(noun|thing|role|kin|place|given|unit) != 0:
		return true
	case c != 0:
		return c&(function|adverb|anyVerb|modifier) == 0
	}
	return !strings.HasSuffix(word, "ly") && !(len(word) > 4 && strings.HasSuffix(word, "ed"))
}
