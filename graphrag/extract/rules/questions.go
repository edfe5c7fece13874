// SPDX-License-Identifier: Apache-2.0

package rules

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// QuestionNames finds the named entities of a question. It chooses among the names
// that the question writes in capitals or quotes, those that the rules find in it,
// and those that known knows (see [Extractor.Entities]): the longest of what
// overlaps, so that a known word does not break up an unknown name. A known name in
// lower case counts only if it has several words.
func (o *Extractor) QuestionNames(question string, knows func(folded string) bool) []string {
	found, known := o.Entities(question, nil), o.Entities(question, knows)
	all := append(capitalRuns(question), found...)
	for _, m := range known {
		if strings.ContainsFunc(question[m.Span.Start:m.Span.End], func(r rune) bool {
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

// connectors may stand between two capitalized words of one name.
var connectors = strings.Fields("of the and for de la le del der di du von van al el &")

// openers begin a sentence in capitals without being part of a name.
var openers = strings.Fields("a an and are at besides by did do does for from has have how if in is of on the there to was were what when where which who whom whose why with")

var quoted = regexp.MustCompile(`"([^"]+)"|“([^”]+)”`)

// capitalRuns are the quoted texts of a question and its runs of capitalized
// words, with small words between them.
func capitalRuns(question string) []kg.Mention {
	var out []kg.Mention
	for _, at := range quoted.FindAllStringSubmatchIndex(question, -1) {
		start, end := max(at[2], at[4]), max(at[3], at[5])
		out = append(out, mentionAt(question, start, end))
	}
	run := kg.Span{Start: -1}
	flush := func() {
		if run.Start >= 0 {
			out = append(out, mentionAt(question, run.Start, run.End))
		}
		run.Start = -1
	}
	opening := true
	skip := func(at int) int { return len(question) - len(strings.TrimLeftFunc(question[at:], unicode.IsSpace)) }
	for at := skip(0); at < len(question); {
		n := strings.IndexFunc(question[at:], unicode.IsSpace)
		if n < 0 {
			n = len(question) - at
		}
		word, start := trimWord(question[at : at+n])
		start += at
		r, _ := utf8.DecodeRuneInString(word)
		capital := unicode.IsUpper(r) || run.Start >= 0 && unicode.IsDigit(r)
		if opening && slices.Contains(openers, strings.ToLower(word)) {
			capital = false
		}
		switch {
		case capital:
			if run.Start < 0 {
				run.Start = start
			}
			run.End = start + len(word)
		case !slices.Contains(connectors, word):
			flush()
		}
		// A mark behind the word ends the run, but for the full stop of an
		// initial or a short title.
		behind := question[start+len(word) : at+n]
		opening = strings.ContainsAny(behind, "?!") || strings.Contains(behind, ".") && len(word) > 3
		if opening || strings.ContainsAny(behind, ",;:)\"”’'") {
			flush()
		}
		at = skip(at + n)
	}
	flush()
	return out
}

// trimWord cuts marks and the possessive off a word and tells where it begins.
func trimWord(w string) (string, int) {
	inner := strings.TrimLeftFunc(w, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '&' })
	start := len(w) - len(inner)
	inner = strings.TrimRightFunc(inner, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '&' && r != '+' })
	for _, end := range []string{"'s", "’s"} {
		inner = strings.TrimSuffix(inner, end)
	}
	return inner, start
}

func mentionAt(of string, start, end int) kg.Mention {
	return kg.Mention{Name: of[start:end], Span: kg.Span{Start: start, End: end}}
}

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

// MayBeNoun reports whether a word, in lower case, may be a noun or a name: English
// words of a closed class, adverbs, and forms of verbs and of adjectives that the tables
// know are none, nor what ends like an adverb or the past of a verb. It stands in for
// a tagger of parts of speech and does not look at the words around.
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
