// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

// agent returns the search with its agent.
func (s *searcher) agent(k kit.Kit) (graphrag.Retriever, error) {
	var schema *extract.Schema
	if !s.o.NoSchema {
		schema = vocabulary(s.corpus.Graph)
	}
	var problem error
	decompose := kit.Step(k.AnswerModel, func(m llm.Model) (d agent.Decomposer) {
		d, problem = agent.DecomposeByModel(m, schema, s.o.SubQueries)
		return d
	}, byRules(schema))
	if problem != nil {
		return nil, problem
	}
	once, err := agent.Decomposed(s.search, decompose, schema, s.o.SubQueries)
	if err != nil || s.o.NoAgent {
		return s.trimmed(once), err
	}
	o := agent.Options{Steps: s.o.Steps, Tokens: s.o.Tokens}
	reflect := kit.Step(k.AnswerModel, func(m llm.Model) (r agent.Next) {
		o.Draft = drafts(k)
		r, problem = agent.ReflectByModel(m, k.Count)
		return r
	}, func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		return fillGaps(m, func(term string) bool { return s.words.chunks[term] > 0 }), nil
	})
	if problem != nil {
		return nil, problem
	}
	// The query of a reflection is decomposed again (section 3.3: "schema-guided query
	// decomposition and retrieval").
	r, err := agent.Reflecting(s.trimmed(once), s.trimmed(once), reflect, o)
	return capped(r, s.o.MaxPerDoc), err
}

// trimmed applies the limits of facts, communities and chunks of a document to the merged results of
// sub-queries.
func (s *searcher) trimmed(r graphrag.Retriever) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := capped(r, s.o.MaxPerDoc).Retrieve(ctx, q)
		left := map[string]int{kindFact: s.o.facts(q), kindCommunity: routeCommunities}
		found.Derived = slices.DeleteFunc(found.Derived, func(d graphrag.Derived) bool {
			left[d.Kind]--
			return left[d.Kind] < 0
		})
		return found, err
	})
}

// capped applies the limit of chunks per document to merged results.
func capped(r graphrag.Retriever, perDoc int) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		found, err := r.Retrieve(ctx, q)
		found.Ranked = retrieve.Ranking{PerDoc: perDoc}.Capped(found.Ranked)
		return found, err
	})
}

// drafts has the kit's reader answer from the first results.
func drafts(k kit.Kit) func(context.Context, graphrag.Question, graphrag.Found) (graphrag.Answer, error) {
	return func(ctx context.Context, q graphrag.Question, f graphrag.Found) (graphrag.Answer, error) {
		hits, derived := f.Read(q), f.Derived
		if q.Tokens > 0 {
			hits, derived = retrieve.Fit(hits, derived, q.Tokens, k.Count)
		}
		return k.Read.Read(ctx, q, hits, derived)
	}
}

// vocabulary returns the schema of the graph: the types, relations and attributes that occur in it, the
// most frequent first.
func vocabulary(g *kg.Graph) *extract.Schema {
	const vocabularySize = 60 // names of each kind in the prompt that decomposes a question
	types, relations, attributes := make(map[string]int), make(map[string]int), make(map[string]int)
	for e := range g.Entities {
		types[g.Entities[e].Type]++
		for _, a := range g.Entities[e].Attributes {
			attributes[a.Key]++
		}
	}
	for r := range g.Relations {
		relations[g.Relations[r].Label] += g.Relations[r].Count
	}
	frequent := func(counts map[string]int) []extract.SchemaItem {
		delete(counts, "")
		var all []rank.Scored[string]
		for name, n := range counts {
			all = append(all, rank.Scored[string]{ID: name, Score: float64(n)})
		}
		return items(ids(rank.Best(all, vocabularySize))...)
	}
	return &extract.Schema{EntityTypes: frequent(types), Relations: frequent(relations), Attributes: frequent(attributes)}
}

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
		note(h.Chunk.Titled())
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
