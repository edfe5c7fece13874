// SPDX-License-Identifier: Apache-2.0

package text

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/internal/display"
)

// maxQuestionWords is the number of words of a question that are read: a longer one is a page with its subject first.
const maxQuestionWords = 256

// Wording is the content of a question. The rules for Words know English; Names have capitals (not in German) or digits.
type Wording struct {
	// Words of the subject, as often as they occur, without stop words and words of asking, unless there are no others.
	Words string
	// Names are the words written with a capital, but for the first, and those with a digit; each once.
	Names string
	// Overview reports that a whole subject is asked for, and not a fact about it.
	Overview bool
}

// ReadQuestion returns the wording of a question.
func ReadQuestion(question string) Wording {
	var about, all, names []string
	seen := make(map[string]bool)
	language := LanguageOf(question)
	words, analyzer := 0, each().In(language)
	analyzer.Spans(question, func(word []byte, start, end int) {
		words++
		w := string(word)
		if _, ok := analyzer.Term(w); !ok || words > maxQuestionWords {
			return
		}
		all = append(all, w)
		if !asking[w] {
			about = append(about, w)
		}
		first, _ := utf8.DecodeRuneInString(question[start:])
		if name := words > 1 && unicode.IsUpper(first) && language != German || strings.ContainsFunc(w, unicode.IsDigit); name && !seen[w] {
			seen[w] = true
			names = append(names, w)
		}
	})
	switch {
	case language != English && language != "":
		about = []string{display.Head(question, maxQuestionBytes)}
	case len(about) == 0:
		about = all
	}
	return Wording{strings.Join(about, " "), strings.Join(names, " "), asksOverview(question)}
}

// asking are words that say how to answer, and occur in any page.
var asking = set(`summarize summarise summary describe explain outline identify provide discuss give list
	include included including concerning regarding according based detail details detailed overview
	specific specifically key major main primary notable significant various respectively`)

func set(words string) map[string]bool {
	s := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		s[w] = true
	}
	return s
}

// Patterns of a request for an overview: of a whole, or of aspects that every subject has, such as causes.
var overviews = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*(please )?(summari[sz]e|describe|outline|characteri[sz]e|recount|analy[sz]e|explain|trace|discuss|compare|list|give|provide|review|survey|sketch|tell)\b`),
	regexp.MustCompile(`(?i)\b(summari[sz]e|outline|summary of|overview of)\b`),
	regexp.MustCompile(`(?i)\bwhat (was|were|is|are) (some of )?the (main|key|major|overall|primary|principal|most|defining|significant|core|notable|general)\b`),
	regexp.MustCompile(`(?i)^\W*what (were|are) (some of )?the ([\w-]+ ){0,3}?(characteristics|features|consequences|controversies|circumstances|events|results|outcomes|principles|tenets|criticisms|aspects|effects|causes|reasons|factors|developments|impacts|moments|themes|achievements|challenges|differences|reactions|arguments|issues|views|positions)\b`),
	regexp.MustCompile(`(?i)^\W*what characteri[sz]e[sd]\b`),
	// The same in other languages.
	regexp.MustCompile(`(?i)^\PL*(?:(?:bitte|por favor|alsjeblieft|пожалуйста) )?(?:` + either("request") + `)`),
	regexp.MustCompile(`(?i)(?:^|\PL|\p{Han}|\p{Hiragana})(?:` + either("overview") + `)`),
}

// either is a pattern of the words that lexicons have under a key.
func either(key string) string {
	var words []string
	for _, l := range lexicons {
		words = append(words, strings.Fields(l.words[key])...)
	}
	return strings.Join(words, "|")
}

// asksOverview reports whether the wording of a question asks for an overview.
func asksOverview(question string) bool {
	question = strings.TrimSpace(display.Head(question, maxQuestionBytes))
	return slices.ContainsFunc(overviews, func(asks *regexp.Regexp) bool { return asks.MatchString(question) })
}

// maxQuestionBytes bounds the part of a question whose wording is examined.
const maxQuestionBytes = 4096
