// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
)

// The budgets of the three tables in tokens. The code takes four characters for one.
const (
	EntityBudget = 4000
	FactBudget   = 3000
	ChunkBudget  = 9000
)

// context is what is read: K chunks, the entities and the facts, each as far as
// the budgets go.
func (s *searcher) context(q graphrag.Question, entities, facts []scored, ranked []graphrag.Hit) graphrag.Found {
	described := make([]graphrag.Derived, len(entities))
	for i, e := range entities {
		d := &s.described[e.ID]
		described[i] = graphrag.Row("entity", s.g.Entities[e.ID].Name, d.Text, s.corpus.Provenance(d.Passages))
	}
	stated := make([]graphrag.Derived, len(facts))
	for i, f := range facts {
		e := &s.edges[f.ID]
		stated[i] = graphrag.Row("relation", s.g.Entities[e.from].Name+" – "+s.g.Entities[e.to].Name, e.text, s.corpus.Provenance(e.passages))
	}
	evidence := ranked[:min(q.Reads(), len(ranked))]
	said := func(d graphrag.Derived) string { return d.Text }
	n := fit([3][]int{lengths(s.count, described, said), lengths(s.count, stated, said),
		lengths(s.count, evidence, func(h graphrag.Hit) string { return h.Chunk.Text })}, [3]int{EntityBudget, FactBudget, ChunkBudget})
	return graphrag.Found{Ranked: ranked, Evidence: append([]graphrag.Hit{}, evidence[:n[2]]...), Derived: slices.Concat(described[:n[0]], stated[:n[1]])}
}

// lengths are those of texts in tokens.
func lengths[T any](count func(string) int, of []T, text func(T) string) []int {
	out := make([]int, len(of))
	for i, x := range of {
		out[i] = count(text(x))
	}
	return out
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
