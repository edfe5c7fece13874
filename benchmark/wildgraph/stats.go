// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// Stats describes one loaded domain (WildGraphBench, Tables 1 and 5).
type Stats struct {
	Domain string `json:"domain"`
	Topic  string `json:"topic"`
	// Questions by type.
	SingleFact int `json:"single_fact"`
	MultiFact  int `json:"multi_fact"`
	Summary    int `json:"summary"`
	// Pages is the number of page files, Bytes and Words (separated by white
	// space) their size, LargestPage the bytes of the largest.
	Pages       int   `json:"pages"`
	Bytes       int64 `json:"bytes"`
	Words       int64 `json:"words"`
	LargestPage int   `json:"largest_page"`
	// References counts the lines of references.jsonl.
	References int `json:"references"`
	// QuestionURLs counts the reference URLs of all questions, each joined to
	// at least one page.
	QuestionURLs int `json:"question_urls"`
	// GoldStatements counts the gold statements of the summary questions.
	GoldStatements int `json:"gold_statements"`
	// Sections counts the summary questions that map to exactly one section
	// of the article; the others have no section text.
	Sections int `json:"sections"`

	// Notes say what was odd and how it was taken.
	Notes []string `json:"notes,omitempty"`
}

// note says what is odd, and where.
func (s *Stats) note(what string, places []string) {
	if len(places) > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s: %s (%d): %s", s.Domain, what, len(places), some(places)))
	}
}

// some are the first few of a list.
func some(all []string) string {
	const most = 5
	if n := len(all); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), n-most)
	}
	return strings.Join(all, ", ")
}

// Questions is the number of questions of all types.
func (s Stats) Questions() int { return s.SingleFact + s.MultiFact + s.Summary }

func (s *Stats) addPage(text string) {
	s.Pages++
	s.Bytes += int64(len(text))
	s.LargestPage = max(s.LargestPage, len(text))
	for range strings.FieldsSeq(text) {
		s.Words++
	}
}

func (s *Stats) addQuestion(it benchmark.Item, urls []string) {
	switch it.Type {
	case SingleFact:
		s.SingleFact++
	case MultiFact:
		s.MultiFact++
	case Summary:
		s.Summary++
		s.GoldStatements += len(it.Statements)
	}
	s.QuestionURLs += len(urls)
}

func (s *Stats) addSummary(sections int) {
	if sections == 1 {
		s.Sections++
	}
}
