// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
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

// followFacts reflects without a model: it searches again with the best fact that it
// did not search with yet.
func followFacts(_ context.Context, m agent.Memory) (agent.Verdict, error) {
	for _, d := range m.Found.Derived {
		if d.Kind == kindFact {
			query := m.Question.Text + " " + d.Text
			if !m.Asked(query) {
				return agent.Verdict{Query: query}, nil
			}
		}
	}
	return agent.Verdict{}, nil
}
