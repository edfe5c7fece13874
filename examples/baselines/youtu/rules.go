// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// kinds are the types that the rules give to what a question word asks for.
var kinds = map[string][]string{
	"who": {rules.Person, rules.Organization}, "whom": {rules.Person}, "whose": {rules.Person}, "where": {rules.Place}, "when": {rules.Date},
}

// byRules plans without a model: a question stays as it is and is after the types that
// its question words ask for and the names of the schema whose words it has.
func byRules(schema *extract.Schema) agent.Decomposer {
	return func(_ context.Context, question string) ([]agent.SubQuery, error) {
		sub := agent.SubQuery{ID: "q1", Text: question}
		if schema == nil {
			return []agent.SubQuery{sub}, nil
		}
		add := func(name string) {
			if known, ok := schema.Name(name); ok && !slices.Contains(sub.Types, known) {
				sub.Types = append(sub.Types, known)
			}
		}
		for _, word := range text.Plain().Terms(question) {
			for _, kind := range kinds[word] {
				add(kind)
			}
		}
		words := text.Default().Terms(question)
		for _, items := range [][]extract.SchemaItem{schema.EntityTypes, schema.Relations, schema.Attributes} {
			for _, it := range items {
				terms := text.Default().Terms(it.Name)
				if len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(words, t) }) {
					add(it.Name)
				}
			}
		}
		return []agent.SubQuery{sub}, nil
	}
}

// fillGaps reflects without a model: a question is answered when what there is to
// read has all of its words that the corpus knows. Else it looks for those that are
// missing, beside the best fact.
func fillGaps(m *agent.Memory, known func(term string) bool) agent.Move {
	wanted := make(map[string]bool)
	for _, term := range text.Default().Terms(m.Question.Text) {
		if known(term) {
			wanted[term] = true
		}
	}
	note := func(of string) {
		if len(wanted) > 0 {
			for _, term := range text.Default().Terms(of) {
				delete(wanted, term)
			}
		}
	}
	best := ""
	for _, d := range m.Found.Derived {
		note(d.Text)
		if best == "" && d.Kind == kindFact {
			best = d.Text
		}
	}
	for _, h := range m.Found.Read(m.Question) {
		note(retrieve.Titled(h.Chunk))
	}
	var missing []string
	text.Default().Spans(m.Question.Text, func(word []byte, start, end int) {
		term, ok := text.Default().Term(string(word))
		if said := m.Question.Text[start:end]; ok && wanted[term] && !slices.Contains(missing, said) {
			missing = append(missing, said)
		}
	})
	if len(missing) == 0 {
		return agent.Move{Thought: "every word of the question is in what was found", Answered: true}
	}
	words := strings.Join(missing, " ")
	return agent.Move{Thought: "nothing says: " + words, Query: words + " " + best}
}
