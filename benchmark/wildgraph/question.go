// SPDX-License-Identifier: Apache-2.0

package wildgraph

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// question is one line of questions.jsonl.
type question struct {
	Question   string        `json:"question"`
	Type       journal.Texts `json:"question_type"`
	Answer     string        `json:"answer"`
	Statements []string      `json:"gold_statements"`
	URLs       []string      `json:"ref_urls"`
}

// The types of questions.
const (
	SingleFact = "single-fact"
	MultiFact  = "multi-fact"
	Summary    = "summary"
)

// Types returns the types of questions with the top-k of the paper, section 4.1.
func Types() []benchmark.Type {
	return []benchmark.Type{
		{Key: SingleFact, Title: "Single-Fact", Short: "Single", Plural: "single-fact questions", Form: graphrag.Sentence, K: 5},
		{Key: MultiFact, Title: "Multi-Fact", Short: "Multi", Plural: "multi-fact questions", Form: graphrag.Sentence, K: 5},
		{Key: Summary, Title: "Summary", Short: "Summary", Plural: "summaries", Form: graphrag.Overview, K: 10, Statements: true, Swept: true},
	}
}

// parseType reads a question type in any spelling of the released files and tools ("single-fact",
// "multi_fact", "type3", …).
func parseType(s string) (string, error) {
	switch strings.ToLower(strings.TrimSpace(s)) {
	case "single-fact", "single_fact", "single", "type1":
		return SingleFact, nil
	case "multi-fact", "multi_fact", "multi", "type2":
		return MultiFact, nil
	case "summary", "summ", "type3":
		return Summary, nil
	}
	return "", fmt.Errorf("unknown question type %q; want single-fact, multi_fact or summary", s)
}

// questions reads the questions of a domain and finds their gold pages.
func (t *topic) questions(domain string, n *notes) ([]benchmark.Item, error) {
	name := path.Join("QA", domain, "questions.jsonl")
	var items []benchmark.Item
	var dropped []string // gold statements
	seen := make(map[string]int)
	err := journal.EachLine(t.fsys, name, journal.DefaultMaxLine, func(line int, q question) error {
		text := strings.TrimSpace(q.Question)
		it, err := t.item(q)
		id := fmt.Sprintf("%s/%d", domain, line)
		if lost := len(q.Statements) - len(it.Statements); lost > 0 && err == nil {
			dropped = append(dropped, fmt.Sprintf("%d of %s", lost, id))
		}
		if first, dup := seen[text]; dup && err == nil {
			err = fmt.Errorf("the question of line %d again", first)
		}
		if err != nil {
			return err
		}
		seen[text] = line
		it.Question.ID = id
		items = append(items, it)
		return nil
	})
	n.add(domain, "gold statements left out, being null, blank or repeated", dropped)
	if len(items) == 0 && err == nil {
		err = fmt.Errorf("%s holds no question", name)
	}
	return items, err
}

// item checks one question and joins it to its pages.
func (t *topic) item(q question) (benchmark.Item, error) {
	if len(q.Type) != 1 {
		return benchmark.Item{}, fmt.Errorf("question_type holds %d types, want one", len(q.Type))
	}
	kind, err := parseType(q.Type[0])
	if err != nil {
		return benchmark.Item{}, err
	}
	it := benchmark.Item{
		Type:       kind,
		Question:   graphrag.Question{Text: strings.TrimSpace(q.Question)},
		Reference:  q.Answer,
		Statements: distinct(q.Statements),
	}
	switch {
	case it.Question.Text == "":
		return it, errors.New("the question is empty")
	case kind == Summary && len(it.Statements) == 0:
		return it, errors.New("a summary question without gold_statements that say something")
	case kind != Summary && strings.TrimSpace(q.Answer) == "":
		return it, errors.New("a fact question without answer")
	case len(q.URLs) == 0:
		return it, errors.New("no ref_urls")
	}
	for _, url := range q.URLs {
		if strings.TrimSpace(url) == "" {
			return it, errors.New("an empty URL in ref_urls")
		}
		pages := t.join.Pages(url)
		if len(pages) == 0 {
			return it, fmt.Errorf("no page for %s in %s; the download is incomplete", url, path.Join(t.dir, "reference_pages"))
		}
		unit := benchmark.Unit(pages)
		if !slices.ContainsFunc(it.Gold, func(u benchmark.Unit) bool { return slices.Equal(u, unit) }) {
			it.Gold = append(it.Gold, unit)
		}
	}
	return it, nil
}

// distinct returns the statements that are not blank, each once; null is read as "".
func distinct(statements []string) []string {
	var out []string
	seen := make(map[string]bool)
	for _, s := range statements {
		if key := strings.Join(strings.Fields(s), " "); key != "" && !seen[key] {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// notes describe irregularities and how they were handled.
type notes []string

// add records an irregularity in a domain, and its places.
func (n *notes) add(domain, what string, places []string) {
	if len(places) > 0 {
		*n = append(*n, fmt.Sprintf("%s: %s (%d): %s", domain, what, len(places), some(places)))
	}
}

// some returns the first few of a list.
func some(all []string) string {
	const most = 5
	if n := len(all); n > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), n-most)
	}
	return strings.Join(all, ", ")
}
