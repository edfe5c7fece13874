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

// context returns K chunks, the entities and the edges, each within its budget.
func (s *searcher) context(q graphrag.Question, entities, edges []scored, ranked []graphrag.Hit) graphrag.Found {
	var lengths [3][]int
	var derived [2][]graphrag.Derived
	add := func(table int, d graphrag.Derived) {
		derived[table] = append(derived[table], d)
		lengths[table] = append(lengths[table], s.count(d.Text))
	}
	for _, x := range entities {
		d := &s.described[x.ID]
		add(0, graphrag.Row("entity", s.g.Entities[x.ID].Name, d.Text, s.corpus.Provenance(d.Passages)))
	}
	for _, x := range edges {
		e := &s.edges[x.ID]
		add(1, graphrag.Row("relation", s.g.Entities[e.from].Name+" – "+s.g.Entities[e.to].Name, e.text, s.corpus.Provenance(e.passages)))
	}
	evidence := ranked[:min(q.Reads(), len(ranked))]
	for _, h := range evidence {
		lengths[2] = append(lengths[2], s.count(h.Chunk.Text))
	}
	n := fit(lengths, [3]int{EntityBudget, FactBudget, ChunkBudget})
	return graphrag.Found{Ranked: ranked, Evidence: append([]graphrag.Hit{}, evidence[:n[2]]...), Derived: slices.Concat(derived[0][:n[0]], derived[1][:n[1]])}
}

// fit returns the number of rows of each table that fit. Unused tokens of a table go to the next
// tables, and in further rounds to the first ones.
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
