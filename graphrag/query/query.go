// SPDX-License-Identifier: Apache-2.0

package query

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxWords is how many words of a question are read: what is longer is a page and no
// question, and its beginning says what it is about.
const maxWords = 256

// Query is what the wording of a question says.
type Query struct {
	// Words are those that say what the question is about, without stop words and
	// words of asking such as "describe" or "specific", as often as they stand there,
	// with blanks between. A question of such words alone keeps them.
	Words string
	// Names are the words written with a capital, but for the first, and those with a
	// digit; each once.
	Names string
	// Overview tells that a whole subject is asked for, and not a fact about it.
	Overview bool
}

// Read reads a question.
func Read(question string) Query {
	var about, all, names []string
	seen := make(map[string]bool)
	words, standard := 0, text.Default()
	standard.Spans(question, func(word []byte, start, end int) {
		words++
		w := string(word)
		if _, ok := standard.Term(w); !ok || words > maxWords {
			return
		}
		all = append(all, w)
		if !asking[w] {
			about = append(about, w)
		}
		first, _ := utf8.DecodeRuneInString(question[start:])
		if name := words > 1 && unicode.IsUpper(first) || strings.ContainsFunc(w, unicode.IsDigit); name && !seen[w] {
			seen[w] = true
			names = append(names, w)
		}
	})
	if len(about) == 0 {
		about = all
	}
	return Query{strings.Join(about, " "), strings.Join(names, " "), Overview(question)}
}

// asking are words of asking: they say how to answer, and stand in any page.
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

// What asks for an overview: to be told about something as a whole, or which of the
// things that every subject has, such as causes and events, it has.
var overviews = []*regexp.Regexp{
	regexp.MustCompile(`(?i)^\W*(please )?(summari[sz]e|describe|outline|characteri[sz]e|recount|analy[sz]e|explain|trace|discuss|compare|list|give|provide|review|survey|sketch|tell)\b`),
	regexp.MustCompile(`(?i)\b(summari[sz]e|outline|summary of|overview of)\b`),
	regexp.MustCompile(`(?i)\bwhat (was|were|is|are) (some of )?the (main|key|major|overall|primary|principal|most|defining|significant|core|notable|general)\b`),
	regexp.MustCompile(`(?i)^\W*what (were|are) (some of )?the ([\w-]+ ){0,3}?(characteristics|features|consequences|controversies|circumstances|events|results|outcomes|principles|tenets|criticisms|aspects|effects|causes|reasons|factors|developments|impacts|moments|themes|achievements|challenges|differences|reactions|arguments|issues|views|positions)\b`),
	regexp.MustCompile(`(?i)^\W*what characteri[sz]e[sd]\b`),
}

// Overview tells whether the wording of a question asks for an overview.
func Overview(question string) bool {
	question = strings.TrimSpace(text.Head(question, maxBytes))
	for _, asks := range overviews {
		if asks.MatchString(question) {
			return true
		}
	}
	return false
}

// maxBytes is how much of a question is looked at for how it asks.
const maxBytes = 4096
