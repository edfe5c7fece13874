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

// kinds has the types that question words ask for.
var kinds = map[string][]string{
	"who": {rules.Person, rules.Organization}, "whom": {rules.Person}, "whose": {rules.Person}, "where": {rules.Place}, "when": {rules.Date},
}

// byRules plans without a model: it keeps the question whole. Its types are the types of its question words,
// and the names of the schema whose words it contains.
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
		asked := text.Default().Terms(question)
		for _, it := range slices.Concat(schema.EntityTypes, schema.Relations, schema.Attributes) {
			terms := text.Default().Terms(it.Name)
			if len(terms) > 0 && !slices.ContainsFunc(terms, func(t string) bool { return !slices.Contains(asked, t) }) {
				add(it.Name)
			}
		}
		return []agent.SubQuery{sub}, nil
	}
}

// fillGaps reflects without a model: a question is answered if the evidence has all of its words that the
// corpus has. Otherwise the next query is the missing words and the best fact.
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
		if w := m.Question.Text[start:end]; ok && wanted[term] && !slices.Contains(missing, w) {
			missing = append(missing, w)
		}
	})
	if len(missing) == 0 {
		return agent.Move{Thought: "every word of the question is in what was found", Answered: true}
	}
	gap := strings.Join(missing, " ")
	return agent.Move{Thought: "nothing says: " + gap, Query: gap + " " + best}
}
