// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"slices"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag"
)

// The budgets of the three tables in tokens, and the characters of one.
const (
	EntityBudget  = 4000
	FactBudget    = 3000
	ChunkBudget   = 9000
	tokenLength   = 4
	entitiesTable = 0
	factsTable    = 1
	chunksTable   = 2
)

// context is what is read: K chunks, the entities and the facts, each as far as
// the budgets go.
func (s *searcher) context(q graphrag.Question, entities, facts []scored, ranked []graphrag.Hit) graphrag.Found {
	described := make([]graphrag.Derived, len(entities))
	for i, e := range entities {
		d := &s.described[e.ID]
		described[i] = graphrag.Derived{Kind: "entity", Text: s.g.Entities[e.ID].Name, Docs: s.corpus.Docs(d.Passages)}
		if d.Text != "" {
			described[i].Text += ": " + d.Text
		}
	}
	stated := make([]graphrag.Derived, len(facts))
	for i, f := range facts {
		e := &s.edges[f.ID]
		stated[i] = graphrag.Derived{Kind: "relation", Text: s.g.Entities[e.from].Name + " – " + s.g.Entities[e.to].Name + ": " + e.text, Docs: s.corpus.Docs(e.passages)}
	}
	evidence := ranked[:min(max(q.K, 0), len(ranked))]
	lengths := [3][]int{}
	for _, d := range described {
		lengths[entitiesTable] = append(lengths[entitiesTable], utf8.RuneCountInString(d.Text))
	}
	for _, d := range stated {
		lengths[factsTable] = append(lengths[factsTable], utf8.RuneCountInString(d.Text))
	}
	for _, h := range evidence {
		lengths[chunksTable] = append(lengths[chunksTable], utf8.RuneCountInString(h.Chunk.Text))
	}
	n := fit(lengths, [3]int{EntityBudget * tokenLength, FactBudget * tokenLength, ChunkBudget * tokenLength})
	return graphrag.Found{
		Ranked:   ranked,
		Evidence: append([]graphrag.Hit{}, evidence[:n[chunksTable]]...),
		Derived:  slices.Concat(described[:n[entitiesTable]], stated[:n[factsTable]]),
	}
}

// fit tells how many rows of each table fit. What a table leaves over goes to the
// next ones, and in further rounds to the first ones again.
func fit(lengths [3][]int, budgets [3]int) (rows [3]int) {
	left := 0
	for again := true; again; {
		again = false
		for t, of := range lengths {
			left += budgets[t]
			budgets[t] = 0
			for rows[t] < len(of) && of[rows[t]] <= left {
				left -= of[rows[t]]
				rows[t]++
				again = true
			}
		}
	}
	return rows
}
